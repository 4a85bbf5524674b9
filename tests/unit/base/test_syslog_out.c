/*
 * The connection to the system's log: a daemon that reads, one that does not,
 * one that is restarted, one that wants a stream, and none at all.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>
#include <unistd.h>

#include "base/syslog_out.h"
#include "suite.h"
#include "test_base.h"

static char dir[64];
static struct sockaddr_un at = { .sun_family = AF_UNIX };
static struct syslog_out out;
static char text[512];

static void
begin(void)
{
	strcpy(dir, "/tmp/lockbroker-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	(void)snprintf(at.sun_path, sizeof(at.sun_path), "%s/log", dir);
	out = (struct syslog_out){ .path = at.sun_path, .fd = -1 };
}

static void
end(void)
{
	syslog_out_close(&out);
	(void)unlink(at.sun_path);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* The daemon. */
static int
listen_as(int type)
{
	int fd = socket(AF_UNIX, type | SOCK_CLOEXEC, 0);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&at, sizeof(at)), 0);
	if (type == SOCK_STREAM)
		ck_assert_int_eq(listen(fd, 1), 0);
	return fd;
}

static bool
say(const char *line)
{
	return syslog_out_send(&out, LOG_NOTICE, line, strlen(line));
}

/* The next line that arrives is that one, with everything that goes before
 * it. */
static void
expect(int fd, const char *line, size_t behind)
{
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	char head[64];

	ck_assert_int_gt(n, 0);
	text[n] = '\0';
	(void)snprintf(
	    head, sizeof(head), " lockbrokerd[%ld]: %s", (long)getpid(), line);
	ck_assert_mem_eq(text, "<29>", 4);
	ck_assert_str_eq(text + 4 + strlen("Nov 21 15:20:53"), head);
	ck_assert_uint_eq((size_t)n, strlen(text) + behind);
}

START_TEST(a_line_is_a_datagram)
{
	int fd;

	begin();
	fd = listen_as(SOCK_DGRAM);
	ck_assert(say("a b=1"));
	ck_assert(say("c"));
	expect(fd, "a b=1", 0);
	expect(fd, "c", 0);
	close(fd);
	end();
}
END_TEST

START_TEST(a_stream_will_do)
{
	int fd, link;

	begin();
	fd = listen_as(SOCK_STREAM);
	ck_assert(say("a b=1"));
	link = accept(fd, NULL, NULL);
	ck_assert_int_ge(link, 0);
	expect(link, "a b=1", 1);
	close(link);
	close(fd);
	end();
}
END_TEST

START_TEST(who_does_not_read_costs_no_time)
{
	int types[] = { SOCK_DGRAM, SOCK_STREAM };
	int fd, i, lost = 0;

	begin();
	fd = listen_as(types[_i]);
	alarm(10);
	for (i = 0; i < 20000; i++)
		lost += !say("filling");
	alarm(0);
	ck_assert_int_gt(lost, 0);
	ck_assert_int_lt(lost, 20000);
	close(fd);
	end();
}
END_TEST

START_TEST(a_daemon_that_is_started_anew_is_found)
{
	int fd;

	begin();
	fd = listen_as(SOCK_DGRAM);
	ck_assert(say("one"));
	close(fd);
	ck_assert(!say("two"));
	ck_assert_int_eq(unlink(at.sun_path), 0);
	fd = listen_as(SOCK_DGRAM);
	ck_assert(say("three"));
	expect(fd, "three", 0);
	close(fd);
	ck_assert_int_eq(unlink(at.sun_path), 0);
	fd = listen_as(SOCK_DGRAM);
	ck_assert(say("four"));
	expect(fd, "four", 0);
	close(fd);
	end();
}
END_TEST

START_TEST(without_a_daemon_lines_are_lost)
{
	begin();
	ck_assert(!say("one"));
	ck_assert_int_eq(out.fd, -1);
	end();
}
END_TEST

TCase *
syslog_out_cases(void)
{
	TCase *tc = tcase_create("syslog_out");

	tcase_add_test(tc, a_line_is_a_datagram);
	tcase_add_test(tc, a_stream_will_do);
	tcase_add_loop_test(tc, who_does_not_read_costs_no_time, 0, 2);
	tcase_add_test(tc, a_daemon_that_is_started_anew_is_found);
	tcase_add_test(tc, without_a_daemon_lines_are_lost);
	return tc;
}
