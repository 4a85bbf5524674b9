/*
 * The embedded server: it is started and restarted, and ends with us.
 */
#include "config.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "redis/data_dir.h"
#include "redis/info.h"
#include "redis_rig.h"
#include "suite.h"
#include "test_redis.h"

static struct rig rig;
static struct server server;

static void
find_path(char *path, size_t size)
{
	FILE *f = popen("ls -d ${TMPDIR:-/tmp}/lockbrokerd-*/redis.sock", "r");

	ck_assert_ptr_nonnull(fgets(path, (int)size, f));
	path[strcspn(path, "\n")] = '\0';
	pclose(f);
}

/* In a directory of its own, so that no other program is found. */
static void
begin_embedded(char dir[64])
{
	strcpy(dir, "/tmp/lockbroker-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	setenv("TMPDIR", dir, 1);
	unsetenv("STATE_DIRECTORY");
	unsetenv("RUNTIME_DIRECTORY");
	rig_config(&rig, NULL);
}

/* A new server of our own has no grace period. */
static void
own_ready(void)
{
	redis_start(rig.redis);
	rig_until(&rig, rig_is_up, "the link");
	rig_op(&rig, RIG_OPS - 1, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_assert_int_eq(rig.guard.state, GUARD_BLESSED);
}

START_TEST(a_server_of_our_own)
{
	char dir[64], path[128];
	struct stat st;
	pid_t pid;

	begin_embedded(dir);
	rig_open(&rig);
	own_ready();
	find_path(path, sizeof(path));
	*strrchr(path, '/') = '\0';
	ck_assert_int_eq(stat(path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0700);
	rig_op(&rig, 1, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_status(&rig, 1, GRANTED);

	strcpy(server.path, path);
	strcat(server.path, "/redis.sock");
	/* A signal that stops the whole service or terminal is meant for the
	 * broker. */
	pid = (pid_t)server_info(&server, "server", "process_id:");
	kill(pid, SIGTERM);
	kill(pid, SIGINT);
	rig_for(&rig, 300); /* it would take a tenth of a second */
	ck_assert_uint_eq(rig.downs, 0);
	kill(pid, SIGKILL);
	rig_until(&rig, rig_is_down, "the end of it");
	rig_until(&rig, rig_is_up, "the next one");
	rig_op(&rig, 2, OP_HEARTBEAT, NULL);
	rig_turn(&rig);
	ck_assert_int_eq(rig.guard.state, GUARD_BLESSED);
	rig_op(&rig, 3, OP_ACQUIRE, "a");
	rig_turn(&rig);
	ck_status(&rig, 3, BUSY);
	rig_close(&rig);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(a_server_of_our_own_dies_with_us)
{
	char dir[64], path[128], line[32];
	int fds[2];
	pid_t pid, own;
	ssize_t n;

	begin_embedded(dir);
	ck_assert_int_eq(pipe(fds), 0);
	pid = fork();
	if (pid == 0) {
		rig_open(&rig);
		own_ready();
		find_path(server.path, sizeof(server.path));
		own = (pid_t)server_info(&server, "server", "process_id:");
		n = write(fds[1], &own, sizeof(own));
		pause();
		_exit(n != 0);
	}
	ck_assert_int_eq(read(fds[0], &own, sizeof(own)), sizeof(own));
	ck_assert_int_eq(kill(own, 0), 0);
	find_path(path, sizeof(path));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	/* A zombie that init has not reaped counts as dead. */
	do {
		FILE *f;
		char state = 'X';

		(void)snprintf(line, sizeof(line), "/proc/%d/stat", (int)own);
		f = fopen(line, "r");
		if (f && fscanf(f, "%*d %*s %c", &state) != 1)
			state = 'X';
		if (f)
			fclose(f);
		if (state == 'X' || state == 'Z')
			break;
		usleep(1000);
	} while (1);
	data_dir_remove(dir);
	config_free(&rig.config);
}
END_TEST

static int
exists(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0;
}

START_TEST(what_a_killed_broker_has_left_is_removed)
{
	const struct timespec old[2] = { { 1, 0 }, { 1, 0 } };
	char dir[64], theirs[96], path[128];
	int fd;

	begin_embedded(dir);
	(void)snprintf(theirs, sizeof(theirs), "%s/lockbrokerd-abcdef", dir);
	(void)snprintf(path, sizeof(path), "%s/life", theirs);
	ck_assert_int_eq(mkdir(theirs, 0700), 0);
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	/* That is about to be opened. */
	rig_open(&rig);
	rig_close(&rig);
	ck_assert(exists(path));
	/* The broker is there, or only its server. */
	fd = open(path, O_RDONLY | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(utimensat(AT_FDCWD, path, old, 0), 0);
	rig_config(&rig, NULL);
	rig_open(&rig);
	rig_close(&rig);
	ck_assert(exists(path));
	close(fd);
	rig_config(&rig, NULL);
	rig_open(&rig);
	ck_assert(!exists(theirs));
	rig_close(&rig);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(without_the_program_it_says_what_to_do)
{
	char dir[64];

	begin_embedded(dir);
	free(rig.config.redis.server);
	rig.config.redis.server = strdup("no-such-redis-server");
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, rig_is_fatal, "the end");
	ck_assert_ptr_nonnull(strstr(rig.why, "install redis-server"));
	rig_close(&rig);
	ck_assert_int_eq(rmdir(dir), 0);
}
END_TEST

START_TEST(a_program_that_is_no_server_is_fatal)
{
	char dir[64];

	begin_embedded(dir);
	free(rig.config.redis.server);
	rig.config.redis.server = strdup("false");
	rig_open(&rig);
	redis_start(rig.redis);
	rig_until(&rig, rig_is_fatal, "the end");
	ck_assert_ptr_nonnull(strstr(rig.why, "status 1"));
	rig_close(&rig);
	rmdir(dir);
}
END_TEST

START_TEST(a_server_has_its_own_name)
{
	static const char redis[] = "# Server\r\nredis_version:8.0.2\r\n";
	static const char valkey[] = "# Server\r\nredis_version:7.2.4\r\n"
				     "server_name:valkey\r\n"
				     "valkey_version:8.1.1\r\n";
	char text[INFO_VERSION_SIZE];
	struct info info = { .loading = false };

	info_read(&info, redis, sizeof(redis) - 1);
	ck_assert_str_eq(info_version(&info, text), "8.0.2");
	info_read(&info, valkey, sizeof(valkey) - 1);
	ck_assert_str_eq(info_version(&info, text), "Valkey 8.1.1");
	ck_assert_uint_eq(info.version[0], 7);
}
END_TEST

TCase *
embedded_cases(void)
{
	TCase *tc = tcase_create("embedded");

	tcase_set_timeout(tc, 30);
	tcase_add_test(tc, a_server_of_our_own);
	tcase_add_test(tc, a_server_of_our_own_dies_with_us);
	tcase_add_test(tc, what_a_killed_broker_has_left_is_removed);
	tcase_add_test(tc, without_the_program_it_says_what_to_do);
	tcase_add_test(tc, a_program_that_is_no_server_is_fatal);
	tcase_add_test(tc, a_server_has_its_own_name);
	return tc;
}
