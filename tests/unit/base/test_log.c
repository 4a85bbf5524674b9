/*
 * The log: the form of a line, that it stays one line, and that it costs no
 * time if stderr is full, closed or gone.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "suite.h"
#include "test_base.h"

#define TIME_LEN 24 /* 2026-11-21T05:13:29.123Z */

/* stderr goes to a file in memory while a test captures it. */
static int saved_stderr = -1;
static int captured = -1;
static char text[8 * PIPE_BUF];

static void
stderr_to(int fd)
{
	saved_stderr = dup(STDERR_FILENO);
	ck_assert_int_ge(saved_stderr, 0);
	ck_assert_int_eq(dup2(fd, STDERR_FILENO), STDERR_FILENO);
}

static void
stderr_back(void)
{
	ck_assert_int_eq(dup2(saved_stderr, STDERR_FILENO), STDERR_FILENO);
	close(saved_stderr);
}

static void
capture_begin(void)
{
	captured = memfd_create("log", MFD_CLOEXEC);
	ck_assert_int_ge(captured, 0);
	stderr_to(captured);
}

static void
capture_end(void)
{
	ssize_t n = pread(captured, text, sizeof(text) - 1, 0);

	stderr_back();
	close(captured);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
}

/* The text after the time.  The form of the time is checked: d is a digit. */
static const char *
behind_time(const char *line)
{
	const char *form = "dddd-dd-ddTdd:dd:dd.dddZ";
	int i;

	for (i = 0; i < TIME_LEN; i++) {
		if (form[i] == 'd')
			ck_assert(line[i] >= '0' && line[i] <= '9');
		else
			ck_assert_int_eq(line[i], form[i]);
	}
	return line + TIME_LEN;
}

static void
setup(enum log_level level, enum log_target to, enum log_format format)
{
	struct log_settings settings = {
		.level = level, .to = to, .format = format
	};

	log_setup(&settings);
}

START_TEST(a_line_has_time_level_event_and_values)
{
	capture_begin();
	setup(LOG_LEVEL_DEBUG, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	LOG(WARNING, "redis-down", LOG_S("node", "127.0.0.1:6379"),
	    LOG_N("retry_ms", -250), LOG_B("name", "ab cd", 4));
	capture_end();
	ck_assert_str_eq(behind_time(text),
	    " warning redis-down node=127.0.0.1:6379 retry_ms=-250"
	    " name=\"ab c\"\n");
}
END_TEST

START_TEST(an_event_needs_no_value)
{
	capture_begin();
	setup(LOG_LEVEL_DEBUG, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	LOG(DEBUG, "started");
	capture_end();
	ck_assert_str_eq(behind_time(text), " debug started\n");
}
END_TEST

START_TEST(levels_below_are_silent)
{
	capture_begin();
	/* Before any setup: notices, warnings and errors. */
	LOG(INFO, "silent");
	LOG(NOTICE, "yes");
	setup(LOG_LEVEL_ERROR, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	LOG(WARNING, "silent");
	LOG(ERROR, "yes");
	capture_end();
	ck_assert(!strstr(text, "silent"));
	ck_assert_ptr_nonnull(strstr(text, " notice yes\n"));
	ck_assert_ptr_nonnull(strstr(text, " error yes\n"));
	ck_assert(!log_enabled(LOG_LEVEL_WARNING));
	ck_assert(log_enabled(LOG_LEVEL_ERROR));
}
END_TEST

struct quote_row {
	const char *value;
	size_t len;
	const char *plain, *json;
};

#define ROW(value, plain, json)                       \
	{                                             \
		value, sizeof(value) - 1, plain, json \
	}

static const struct quote_row quotes[] = {
	ROW("plain", "plain", "\"plain\""),
	ROW("aZ09_.,:/@+-", "aZ09_.,:/@+-", "\"aZ09_.,:/@+-\""),
	ROW("", "\"\"", "\"\""),
	ROW("a b", "\"a b\"", "\"a b\""),
	ROW("a=b", "\"a=b\"", "\"a=b\""),
	ROW("a\"b", "\"a\\\"b\"", "\"a\\\"b\""),
	ROW("a\\b", "\"a\\\\b\"", "\"a\\\\b\""),
	ROW("a\nerror forged x=1", "\"a\\x0aerror forged x=1\"",
	    "\"a\\u000aerror forged x=1\""),
	ROW("\0", "\"\\x00\"", "\"\\u0000\""),
	ROW("\x7f", "\"\\x7f\"", "\"\\u007f\""),
	ROW("\x1b[2J", "\"\\x1b[2J\"", "\"\\u001b[2J\""),
	ROW("\xc3\xa9", "\"\\xc3\\xa9\"", "\"\xc3\xa9\""),
	ROW("\xc2\x9b", "\"\\xc2\\x9b\"", "\"\\u009b\""),
	ROW("\xc2\xa0", "\"\\xc2\\xa0\"", "\"\xc2\xa0\""),
	ROW("\xff", "\"\\xff\"", "\"\\\\xff\""),
	ROW("\xc3", "\"\\xc3\"", "\"\\\\xc3\""),
	ROW("\xed\xa0\x80", "\"\\xed\\xa0\\x80\"", "\"\\\\xed\\\\xa0\\\\x80\""),
};

START_TEST(values_are_quoted)
{
	const struct quote_row *row = &quotes[_i];
	char want[200];

	capture_begin();
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	LOG(INFO, "e", LOG_B("k", row->value, row->len), LOG_N("n", 1));
	capture_end();
	(void)snprintf(want, sizeof(want), " info e k=%s n=1\n", row->plain);
	ck_assert_str_eq(behind_time(text), want);
}
END_TEST

START_TEST(values_are_quoted_as_json)
{
	const struct quote_row *row = &quotes[_i];
	const char *time_key = "{\"time\":\"";
	char want[200];

	capture_begin();
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_JSON);
	LOG(INFO, "e", LOG_B("k", row->value, row->len), LOG_N("n", -1));
	capture_end();
	(void)snprintf(want, sizeof(want),
	    "\",\"level\":\"info\",\"event\":\"e\",\"k\":%s,\"n\":-1}\n",
	    row->json);
	ck_assert_mem_eq(text, time_key, strlen(time_key));
	ck_assert_str_eq(behind_time(text + strlen(time_key)), want);
}
END_TEST

START_TEST(null_is_an_empty_text)
{
	const char *nothing = NULL;

	capture_begin();
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	LOG(INFO, "e", LOG_S("k", nothing));
	capture_end();
	ck_assert_str_eq(behind_time(text), " info e k=\"\"\n");
}
END_TEST

/* A line fits into what a pipe takes in one piece, and a line that was cut says
 * so. */
START_TEST(long_lines_are_cut)
{
	static char value[3 * PIPE_BUF];
	bool json = _i % 2 == 1;
	size_t len;

	memset(value, _i < 2 ? 'v' : '\n', sizeof(value));
	capture_begin();
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR,
	    json ? LOG_FORMAT_JSON : LOG_FORMAT_TEXT);
	LOG(INFO, "e", LOG_B("k", value, sizeof(value)), LOG_N("n", 1));
	LOG(INFO, "next");
	capture_end();
	len = strcspn(text, "\n") + 1;
	ck_assert_uint_le(len, PIPE_BUF);
	ck_assert_uint_gt(len, PIPE_BUF - 64);
	ck_assert_mem_eq(text + len - (json ? 6 : 5),
	    json ? "...\"}\n" : "...\"\n", json ? 6 : 5);
	ck_assert_ptr_nonnull(strstr(text + len, "next"));
}
END_TEST

START_TEST(too_many_values_are_left_out)
{
	struct log_value values[400];
	size_t i;

	for (i = 0; i < COUNT(values); i++)
		values[i] = (struct log_value)LOG_S("key", "some-value");
	capture_begin();
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_JSON);
	log_values(LOG_LEVEL_INFO, "e", values, COUNT(values));
	capture_end();
	ck_assert_uint_le(strlen(text), PIPE_BUF);
	ck_assert_ptr_nonnull(strstr(text, "\"some-value\"}\n"));
}
END_TEST

static void
pretend_journal(int fd, int off)
{
	char stream[64];
	struct stat st;

	ck_assert_int_eq(fstat(fd, &st), 0);
	(void)snprintf(stream, sizeof(stream), "%ju:%ju", (uintmax_t)st.st_dev,
	    (uintmax_t)st.st_ino + (uintmax_t)off);
	ck_assert_int_eq(setenv("JOURNAL_STREAM", stream, 1), 0);
}

START_TEST(the_journal_gets_priorities_and_no_time)
{
	capture_begin();
	pretend_journal(captured, 0);
	setup(LOG_LEVEL_DEBUG, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	LOG(DEBUG, "a");
	LOG(INFO, "b");
	LOG(NOTICE, "c");
	LOG(WARNING, "d", LOG_N("n", 1));
	LOG(ERROR, "e");
	setup(LOG_LEVEL_DEBUG, LOG_TO_STDERR, LOG_FORMAT_JSON);
	LOG(ERROR, "f");
	capture_end();
	ck_assert_str_eq(text,
	    "<7>debug a\n<6>info b\n<5>notice c\n<4>warning d n=1\n"
	    "<3>error e\n<3>{\"level\":\"error\",\"event\":\"f\"}\n");
	unsetenv("JOURNAL_STREAM");
}
END_TEST

START_TEST(the_journal_of_another_is_not_ours)
{
	capture_begin();
	pretend_journal(captured, 1);
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	LOG(INFO, "a");
	capture_end();
	ck_assert_str_eq(behind_time(text), " info a\n");
	unsetenv("JOURNAL_STREAM");
}
END_TEST

START_TEST(syslog_leaves_stderr_alone)
{
	capture_begin();
	setup(LOG_LEVEL_INFO, LOG_TO_SYSLOG, LOG_FORMAT_TEXT);
	LOG(INFO, "a", LOG_S("percent", "%s%n"));
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	LOG(INFO, "b");
	capture_end();
	ck_assert_str_eq(behind_time(text), " info b\n");
}
END_TEST

START_TEST(errno_is_left_alone)
{
	int full = open("/dev/full", O_WRONLY);

	ck_assert_int_ge(full, 0);
	stderr_to(full);
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	errno = EDOM;
	LOG(INFO, "a");
	stderr_back();
	close(full);
	ck_assert_int_eq(errno, EDOM);
	ck_assert_uint_eq(log_dropped(), TIME_LEN + strlen(" info a\n"));
}
END_TEST

/* Reads the newest bytes of a descriptor that does not block. */
static void
drain(int fd)
{
	ssize_t n;

	text[0] = '\0';
	for (;;) {
		n = read(fd, text, sizeof(text) - 1);
		if (n <= 0)
			break;
		text[n] = '\0';
	}
}

/* A reader that has stopped reading, at a pipe and at a socket that block. */
START_TEST(a_full_stderr_costs_no_time)
{
	uint64_t dropped;
	int fds[2], i;

	if (_i == 0)
		ck_assert_int_eq(pipe(fds), 0);
	else
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	stderr_to(fds[1]);
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	alarm(10);
	for (i = 0; i < 20000; i++) {
		errno = EINTR; /* of whatever was called before */
		LOG(INFO, "filling", LOG_N("i", i));
	}
	alarm(0);
	dropped = log_dropped();
	ck_assert_uint_gt(dropped, 0);
	ck_assert_int_eq(fcntl(fds[0], F_SETFL, O_NONBLOCK), 0);
	drain(fds[0]);
	LOG(INFO, "again");
	drain(fds[0]);
	stderr_back();
	ck_assert_uint_eq(log_dropped(), dropped);
	ck_assert_ptr_nonnull(strstr(text, " info again\n"));
	close(fds[0]);
	close(fds[1]);
}
END_TEST

START_TEST(a_closed_stderr_drops)
{
	int fds[2];

	ck_assert(signal(SIGPIPE, SIG_IGN) != SIG_ERR);
	ck_assert_int_eq(pipe(fds), 0);
	close(fds[0]);
	stderr_to(fds[1]);
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	LOG(INFO, "a");
	close(STDERR_FILENO);
	LOG(INFO, "b");
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	LOG(INFO, "c");
	stderr_back();
	close(fds[1]);
	ck_assert_uint_eq(log_dropped(), 3 * (TIME_LEN + strlen(" info a\n")));
}
END_TEST

/* Part of a line was written: the next line does not continue it. */
START_TEST(a_torn_line_is_ended)
{
	struct rlimit limit, old;

	ck_assert(signal(SIGXFSZ, SIG_IGN) != SIG_ERR);
	ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &old), 0);
	limit = old;
	limit.rlim_cur = TIME_LEN + 5;
	capture_begin();
	setup(LOG_LEVEL_INFO, LOG_TO_STDERR, LOG_FORMAT_TEXT);
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
	LOG(INFO, "torn");
	LOG(INFO, "lost");
	ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &old), 0);
	LOG(INFO, "whole");
	LOG(INFO, "next");
	capture_end();
	ck_assert_mem_eq(behind_time(text), " info\n", 6);
	ck_assert_mem_eq(behind_time(text + TIME_LEN + 6), " info whole\n", 12);
	ck_assert_str_eq(behind_time(text + 2 * TIME_LEN + 18), " info next\n");
}
END_TEST

TCase *
log_cases(void)
{
	TCase *tc = tcase_create("log");

	tcase_add_test(tc, a_line_has_time_level_event_and_values);
	tcase_add_test(tc, an_event_needs_no_value);
	tcase_add_test(tc, levels_below_are_silent);
	tcase_add_loop_test(tc, values_are_quoted, 0, (int)COUNT(quotes));
	tcase_add_loop_test(
	    tc, values_are_quoted_as_json, 0, (int)COUNT(quotes));
	tcase_add_test(tc, null_is_an_empty_text);
	tcase_add_loop_test(tc, long_lines_are_cut, 0, 4);
	tcase_add_test(tc, too_many_values_are_left_out);
	tcase_add_test(tc, the_journal_gets_priorities_and_no_time);
	tcase_add_test(tc, the_journal_of_another_is_not_ours);
	tcase_add_test(tc, syslog_leaves_stderr_alone);
	tcase_add_test(tc, errno_is_left_alone);
	tcase_add_loop_test(tc, a_full_stderr_costs_no_time, 0, 2);
	tcase_add_test(tc, a_closed_stderr_drops);
	tcase_add_test(tc, a_torn_line_is_ended);
	return tc;
}
