/*
 * How attempts to log in are settled: at once, by the thread, too late, or not
 * at all.  The broker is a real one without clients; attempts over HTTP come
 * from its monitor.
 */
#include "config.h"

#include <arpa/inet.h>
#include <check.h>
#include <crypt.h>
#include <errno.h>
#include <event2/event.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "auth/hasher.h"
#include "auth/users.h"
#include "base/now.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/broker.h"
#include "daemon/monitor/monitor_state.h"
#include "daemon/process/systemd.h"
#include "daemon/users/login.h"
#include "suite.h"

#define SALT "$6$rounds=50000$saltsalt$" /* some 20 ms each */

/* A second and more; no password has that hash. */
#define SLOWER "$6$rounds=3000000$saltsalt$"

static struct event_base *base;
static struct broker *broker;
static struct config config;
static struct logins *logins;

/* The answers so far, by the number of the attempt. */
#define TRIES (2 * HASHER_JOBS_MAX)
static struct {
	unsigned n;
	enum login_answer answer;
	char user[32];
} settled[TRIES];

static void
on_settled(void *arg, struct login_from from, const char *name,
    enum login_answer answer, const struct user *user)
{
	(void)arg;
	ck_assert_uint_lt(from.who, TRIES);
	ck_assert_int_eq(user != NULL, answer == LOGIN_RIGHT);
	if (user != NULL)
		ck_assert_str_eq(user_name(user), name);
	settled[from.who].n++;
	settled[from.who].answer = answer;
	(void)snprintf(
	    settled[from.who].user, sizeof(settled[0].user), "%s", name);
}

static void
load(struct config *c, const char *users)
{
	struct config_faults faults;
	char yaml[1024];

	(void)snprintf(yaml, sizeof(yaml),
	    "redis: {mode: standalone, nodes: [\"r:1\"]}\n"
	    "listen: [{http: \"127.0.0.1:0\"}]\nauth: {users: [%s]}\n",
	    users);
	config_faults_init(&faults);
	ck_assert(config_load_buffer(c, "t", yaml, strlen(yaml), &faults));
	config_faults_fini(&faults);
}

static void
setup(void)
{
	static struct systemd notify = { .fd = -1 };
	struct crypt_data data = { 0 };
	const char *hash = crypt_r("right", SALT, &data);
	char users[512];

	(void)snprintf(users, sizeof(users),
	    "{name: slow, hash: \"%s\"}, {name: slower, hash: \"" SLOWER
	    "%s\"}",
	    hash, strrchr(hash, '$') + 1);
	memset(settled, 0, sizeof(settled));
	base = event_base_new();
	load(&config, users);
	broker = broker_new(base, &config, &notify);
	ck_assert_ptr_nonnull(broker);
	logins = logins_new(broker, on_settled, NULL);
}

static void
teardown(void)
{
	logins_free(logins);
	broker_free(broker);
	event_base_free(base);
	config_free(&config);
}

static void
try(struct logins *l, unsigned number, const char *name, const char *password)
{
	logins_try(l, (struct login_from){ .who = number }, "127.0.0.1:5512",
	    (struct span){ name, strlen(name) },
	    (struct span){ password, strlen(password) });
}

/* Waits for the answer; the time-out of the suite is the bound. */
static enum login_answer
answer_of(unsigned number)
{
	while (settled[number].n == 0)
		(void)event_base_loop(base, EVLOOP_ONCE);
	ck_assert_uint_eq(settled[number].n, 1);
	return settled[number].answer;
}

START_TEST(a_right_password_is_known_the_next_time)
{
	try(logins, 0, "slow", "right");
	ck_assert_uint_eq(settled[0].n, 0);
	ck_assert_int_eq(answer_of(0), LOGIN_RIGHT);
	ck_assert_str_eq(settled[0].user, "slow");
	try(logins, 1, "slow", "right");
	ck_assert_uint_eq(settled[1].n, 1);
	ck_assert_int_eq(settled[1].answer, LOGIN_RIGHT);
}
END_TEST

START_TEST(a_wrong_one_is_refused_after_a_second)
{
	static const char *const names[] = { "slow", "nobody" };
	int64_t start_ms = now_ms();

	try(logins, 0, names[_i], _i == 0 ? "wrong" : "right");
	ck_assert_int_eq(answer_of(0), LOGIN_WRONG);
	ck_assert_int_ge(now_ms() - start_ms, 980);
}
END_TEST

START_TEST(a_user_may_be_gone_by_then)
{
	struct users *users = config.users;

	try(logins, 0, "slow", "right");
	config.users = NULL;
	ck_assert_int_eq(answer_of(0), LOGIN_WRONG);
	config.users = users;
}
END_TEST

START_TEST(too_many_are_refused_at_once)
{
	unsigned i;

	for (i = 0; i <= HASHER_JOBS_MAX; i++)
		try(logins, i, i % 2 == 0 ? "slow" : "nobody", "wrong");
	for (i = 0; i < HASHER_JOBS_MAX; i++)
		ck_assert_uint_eq(settled[i].n, 0);
	ck_assert_uint_eq(settled[HASHER_JOBS_MAX].n, 1);
	ck_assert_int_eq(settled[HASHER_JOBS_MAX].answer, LOGIN_FULL);
}
END_TEST

/* HTTP. */

/* Finds the only listening socket of this process. */
static int
connect_http(void)
{
	struct sockaddr_in at = { 0 };
	socklen_t len = sizeof(at);
	int fd, listens = 0;

	for (fd = 3; fd < 256 && !listens; fd++) {
		len = sizeof(listens);
		if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &len) <
		    0)
			listens = 0;
	}
	ck_assert(listens);
	len = sizeof(at);
	ck_assert_int_eq(getsockname(fd - 1, (struct sockaddr *)&at, &len), 0);
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&at, len), 0);
	return fd;
}

static void
get(char answer[1024], const char *basic)
{
	char request[256];
	ssize_t n = -1;
	int fd = connect_http();

	n = snprintf(request, sizeof(request),
	    "GET /metrics HTTP/1.1\r\nHost: localhost\r\n"
	    "Authorization: Basic %s\r\n\r\n",
	    basic);
	ck_assert_int_eq(write(fd, request, (size_t)n), n);
	do {
		(void)event_base_loop(base, EVLOOP_ONCE);
		n = recv(fd, answer, 1023, MSG_DONTWAIT);
	} while (n < 0 && errno == EAGAIN);
	ck_assert_int_gt(n, 0);
	answer[n] = '\0';
	close(fd);
}

/* The first comparison takes longer than the request is on its way, so no room
 * comes free meanwhile. */
START_TEST(http_says_that_there_are_too_many)
{
	char answer[1024];
	struct buf why;
	unsigned i;

	buf_init(&why);
	ck_assert(monitor_listen(broker->monitor, &why));
	buf_fini(&why);
	for (i = 0; i < HASHER_JOBS_MAX; i++)
		try(broker->monitor->logins, i, i == 0 ? "slower" : "slow",
		    "wrong");
	get(answer, "c2xvdzp3cm9uZw=="); /* slow:wrong */
	ck_assert_ptr_nonnull(strstr(answer, "HTTP/1.1 503 "));
	ck_assert_ptr_nonnull(
	    strstr(answer, "too many logins are in progress; try again\n"));
}
END_TEST

static TCase *
login_cases(void)
{
	TCase *t = tcase_create("logins");

	tcase_set_timeout(t, 20);
	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, a_right_password_is_known_the_next_time);
	tcase_add_loop_test(t, a_wrong_one_is_refused_after_a_second, 0, 2);
	tcase_add_test(t, a_user_may_be_gone_by_then);
	tcase_add_test(t, too_many_are_refused_at_once);
	tcase_add_test(t, http_says_that_there_are_too_many);
	return t;
}

int
main(void)
{
	static const suite_case cases[] = { login_cases };

	return suite_run("logins", cases, COUNT(cases));
}
