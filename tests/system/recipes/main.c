/*
 * Runs one of the recipes in C: main NAME ARGUMENT.  Their source, which the test takes
 * from the manual, is compiled beside it.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <lockbroker.h>

#include "work.h"

#define THREADS 3

const char *argument;

static void
note(const char *name, const char *line)
{
	FILE *file = fopen(name, "a");

	if (file == NULL || fprintf(file, "%s\n", line) < 0 ||
	    fclose(file) != 0)
		abort();
}

/* The result of lockbroker_process(), which ends the wait. */
static int
wait_for(const char *name, struct lockbroker *lb)
{
	int code = LOCKBROKER_OK;

	while (code == LOCKBROKER_OK && access(name, F_OK) != 0) {
		usleep(10000);
		code = lockbroker_process(lb);
	}
	return code;
}

int
report(const char *day, struct lockbroker *lb)
{
	note("did", day);
	return access("slow", F_OK) == 0 ? wait_for("go", lb) : LOCKBROKER_OK;
}

void
bill(uint64_t fence)
{
	char line[100];

	snprintf(line, sizeof(line), "%s/%" PRIu64, argument, fence);
	note("billed", line);
}

int
convert(const char *path, struct lockbroker *lb)
{
	int code;

	(void)path;
	note("did", "+");
	code = wait_for("go", lb);
	note("did", "-");
	return code;
}

static void *
thumbnail_thread(void *arg)
{
	struct lockbroker *lb;

	(void)arg;
	if (lockbroker_open(&lb, NULL, NULL) != LOCKBROKER_OK ||
	    thumbnail(lb, argument) != LOCKBROKER_OK)
		abort();
	lockbroker_close(lb);
	return NULL;
}

static int
thumbnails(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		if (pthread_create(&threads[i], NULL, thumbnail_thread, NULL) !=
		    0)
			abort();
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	return LOCKBROKER_OK;
}

static int
print_leader(struct lockbroker *lb)
{
	char *address = NULL;
	int code = leader(lb, &address);

	if (code == LOCKBROKER_OK)
		puts(address != NULL ? address : "none");
	free(address);
	return code;
}

int
main(int argc, char **argv)
{
	struct lockbroker *lb;
	int code = lockbroker_open(&lb, NULL, NULL);

	if (argc != 3)
		return 64;
	argument = argv[2];
	if (code == LOCKBROKER_OK && strcmp(argv[1], "once") == 0)
		code = nightly_report(lb, argument);
	else if (code == LOCKBROKER_OK && strcmp(argv[1], "lead") == 0)
		code = lead(lb, argument);
	else if (code == LOCKBROKER_OK && strcmp(argv[1], "leader") == 0)
		code = print_leader(lb);
	else if (code == LOCKBROKER_OK)
		code = thumbnails();
	if (code != LOCKBROKER_OK)
		fprintf(stderr, "%s\n", lockbroker_error(lb));
	lockbroker_close(lb);
	return code;
}
