/*
 * Does with liblockbroker what its standard input says, a line a call, and
 * prints what each returns; tests/system/test_client_c.py tells it.
 */
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <lockbroker.h>

static const char *addresses;

static int64_t
now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

static void
lost(void *arg, const char *name, const char *reason)
{
	(void)arg;
	printf("lost %s %s\n", name, reason);
}

/* An event loop, until something is lost or the time is up. */
static int
loop(struct lockbroker *lb, int64_t ms)
{
	const int64_t end = now_ms() + ms;
	int code = LOCKBROKER_OK;

	while (code == LOCKBROKER_OK && now_ms() < end) {
		struct pollfd fd = { .fd = lockbroker_fd(lb),
			.events = lockbroker_events(lb) };
		int left = (int)(end - now_ms()), due;

		due = lockbroker_timeout_ms(lb);
		(void)poll(&fd, 1, due >= 0 && due < left ? due : left);
		code = lockbroker_process(lb);
	}
	return code;
}

/* One that takes a lock and gives it back, again and again. */
static atomic_int inside, broken;
static int64_t stress_end;

static void *
stress_one(void *arg)
{
	struct lockbroker *lb;
	uint64_t *last = arg, fence;
	int code = lockbroker_open(&lb, addresses, NULL);

	while (now_ms() < stress_end) {
		code = lockbroker_lock(lb, "hot", NULL, 20000, &fence);
		if (code != LOCKBROKER_OK)
			continue;
		if (atomic_fetch_add(&inside, 1) != 0 || fence <= *last)
			atomic_fetch_add(&broken, 1);
		*last = fence;
		atomic_fetch_sub(&inside, 1);
		(void)lockbroker_unlock(lb, "hot");
	}
	lockbroker_close(lb);
	return NULL;
}

static void
stress(int64_t ms)
{
	pthread_t threads[20];
	uint64_t last = 0;
	int i;

	stress_end = now_ms() + ms;
	for (i = 0; i < 20; i++)
		if (pthread_create(&threads[i], NULL, stress_one, &last) != 0)
			abort();
	for (i = 0; i < 20; i++)
		pthread_join(threads[i], NULL);
	printf("broken %d last %" PRIu64 "\n", atomic_load(&broken), last);
}

static void
print(struct lockbroker *lb, int code)
{
	printf(
	    "%d %s\n", code, code == LOCKBROKER_OK ? "" : lockbroker_error(lb));
}

static void
obey(struct lockbroker *lb, const char *what, char *rest)
{
	char *name = rest, *options = strchr(rest, '|'), *reply;
	uint64_t fence = 0;
	unsigned slot = 0;
	int64_t wait_ms = -1;
	int code;

	if (options != NULL) {
		*options++ = '\0';
		wait_ms = strtoll(options, &options, 10);
	}
	if (strcmp(what, "lock") == 0) {
		code = lockbroker_lock(lb, name, options, wait_ms, &fence);
		printf("%d %" PRIu64 "\n", code, fence);
	} else if (strcmp(what, "unlock") == 0)
		print(lb, lockbroker_unlock(lb, name));
	else if (strcmp(what, "acquire") == 0)
		print(lb, lockbroker_acquire(lb, name, 2, 1, wait_ms));
	else if (strcmp(what, "both") == 0)
		print(lb, lockbroker_acquire(lb, name, 2, 2, wait_ms));
	else if (strcmp(what, "slot") == 0) {
		code = lockbroker_acquire_slot(lb, name, 2, wait_ms, &slot);
		printf("%d %u\n", code, slot);
	} else if (strcmp(what, "release") == 0)
		print(lb, lockbroker_release(lb, name, 1));
	else if (strcmp(what, "release-three") == 0)
		print(lb, lockbroker_release(lb, name, 3));
	else if (strcmp(what, "nothing") == 0)
		print(lb, lockbroker_lock(lb, NULL, NULL, 0, NULL));
	else if (strcmp(what, "valid") == 0)
		printf("%" PRId64 "\n",
		    lockbroker_valid_ms(lb, name[0] != '\0' ? name : NULL));
	else if (strcmp(what, "error") == 0)
		printf("%s\n", lockbroker_error(lb));
	else if (strcmp(what, "loop") == 0)
		print(lb, loop(lb, strtoll(rest, NULL, 10)));
	else if (strcmp(what, "stress") == 0)
		stress(strtoll(rest, NULL, 10));
	else if (strcmp(what, "fork") == 0) {
		if (fork() == 0) {
			code = lockbroker_lock(lb, name, NULL, 0, NULL);
			lockbroker_close(lb);
			_exit(code);
		}
		print(lb, LOCKBROKER_OK);
	} else if (strcmp(what, "request") == 0) {
		code = lockbroker_request(lb, rest, &reply);
		printf("%d %s\n", code, reply != NULL ? reply : "");
		free(reply);
	}
}

int
main(int argc, char **argv)
{
	struct lockbroker_options options = { .size = sizeof(options) };
	struct lockbroker *lb;
	char line[1024], *rest;

	addresses = argc > 1 ? argv[1] : NULL;
	options.ca = getenv("DRIVER_CA");
	options.cert = getenv("DRIVER_CERT");
	options.key = getenv("DRIVER_KEY");
	options.user = argc > 2 ? argv[2] : NULL;
	options.password = argc > 3 ? argv[3] : NULL;
	if (getenv("DRIVER_GRACE_MS") != NULL)
		options.grace_ms = atoi(getenv("DRIVER_GRACE_MS"));
	setvbuf(stdout, NULL, _IOLBF, 0);
	const int opened = lockbroker_open(&lb, addresses, &options);

	print(lb, opened);
	lockbroker_on_lost(lb, lost, NULL);
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		rest = strchr(line, ' ');
		if (rest != NULL)
			*rest++ = '\0';
		obey(lb, line, rest != NULL ? rest : line + strlen(line));
	}
	lockbroker_close(lb);
	return 0;
}
