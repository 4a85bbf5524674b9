/*
 * The parts of the lockbroker command that do no I/O: durations, addresses,
 * messages, requests, JSON, and the clock of `run`.  One row a case.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/now.h"
#include "base/xmalloc.h"
#include "cli/exit.h"
#include "cli/json_reply.h"
#include "cli/run_request.h"
#include "cli/timespan.h"
#include "cli/validity.h"
#include "client/addresses.h"
#include "client/message.h"
#include "suite.h"

/* Durations. */

static const struct {
	const char *text;
	int64_t ms; /* -1: refused */
} spans[] = {
	{ "0", 0 },
	{ "1", 1000 },
	{ "1.5", 1500 },
	{ "1.", 1000 },
	{ ".5", 500 },
	{ "0.0001", 1 },
	{ "0.0000000001", 0 },
	{ "500ms", 500 },
	{ "0.5ms", 1 },
	{ "30s", 30000 },
	{ "1.25m", 75000 },
	{ "2h", 7200000 },
	{ "365d", INT64_C(31536000000) },
	{ "365.5d", -1 },
	{ "366d", -1 },
	{ "31536000", INT64_C(31536000000) },
	{ "31536001", -1 },
	{ "99999999999999999999", -1 },
	{ "", -1 },
	{ ".", -1 },
	{ "s", -1 },
	{ "-1", -1 },
	{ "+1", -1 },
	{ " 1", -1 },
	{ "1 s", -1 },
	{ "1x", -1 },
	{ "1w", -1 },
	{ "1.5.5", -1 },
	{ "1e3", -1 },
};

START_TEST(timespan_row)
{
	int64_t ms = -2;
	const bool ok = timespan_parse(spans[_i].text, &ms);

	ck_assert_msg(ok == (spans[_i].ms >= 0), "'%s'", spans[_i].text);
	if (ok)
		ck_assert_int_eq(ms, spans[_i].ms);
}
END_TEST

START_TEST(timespan_words)
{
	static const struct {
		int64_t ms;
		const char *text, *cell;
	} rows[] = {
		{ 0, "0 s", "0s" },
		{ 99, "0.0 s", "0.0s" },
		{ 999, "0.9 s", "0.9s" },
		{ 1000, "1 s", "1s" },
		{ 12635, "12.6 s", "12.6s" },
		{ 13001, "13.0 s", "13.0s" },
		{ 20600, "20 s", "20s" },
		{ 59999, "59 s", "59s" },
		{ 60000, "1 min", "1m00s" },
		{ 192000, "3 min 12 s", "3m12s" },
		{ 7500000, "2 h 5 min", "2h05m" },
		{ INT64_C(273600000), "3 d 4 h", "3d04h" },
	};
	char text[TIMESPAN_TEXT_MAX];
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		ck_assert_str_eq(timespan_text(rows[i].ms, text), rows[i].text);
		ck_assert_str_eq(timespan_cell(rows[i].ms, text), rows[i].cell);
	}
}
END_TEST

/* The broker's texts are for people, so milliseconds in them are rewritten; its
 * fields are not. */
START_TEST(timespan_in_text)
{
	static const struct {
		const char *from, *to;
	} rows[] = {
		{ "", "" },
		{ "grants begin again in 12635ms, when", "grants begin again "
							 "in 12.6 s, when" },
		{ "(+3000ms)", "(+3 s)" },
		{ "lease=10000ms", "lease=10000ms" },
		{ "a12ms 12msx 12m", "a12ms 12msx 12m" },
		{ "99999999999999999999ms", "99999999999999999999ms" },
	};
	char text[64];
	size_t i;

	for (i = 0; i < COUNT(rows); i++) {
		timespans_in_text(rows[i].from, text, sizeof(text));
		ck_assert_str_eq(text, rows[i].to);
	}
	timespans_in_text("abcdefgh", text, 4);
	ck_assert_str_eq(text, "abc");
	timespans_in_text("ab 12635ms", text, 6);
	ck_assert_str_eq(text, "ab 12");
}
END_TEST

/* Addresses. */

static const struct {
	const char *text;
	const char *parts; /* "path|host|port" of each, or NULL: refused */
} addresses[] = {
	{ "/run/x.sock", "/run/x.sock||;" },
	{ "unix:/run/x.sock", "/run/x.sock||;" },
	{ "localhost", "|localhost|5625;" },
	{ "localhost:1", "|localhost|1;" },
	{ "10.0.0.1:65535", "|10.0.0.1|65535;" },
	{ "[::1]:77", "|::1|77;" },
	{ "[::1]", "|::1|5625;" },
	{ "::1", "|::1|5625;" },
	{ "/a,b:2,[fe80::1%eth0]:3", "/a||;|b|2;|fe80::1%eth0|3;" },
	{ "", NULL },
	{ ",", NULL },
	{ "a,", NULL },
	{ "a:", NULL },
	{ "a:0", NULL },
	{ "a:65536", NULL },
	{ "a:x", NULL },
	{ ":1", NULL },
	{ "[::1", NULL },
	{ "[]:1", NULL },
	{ "[::1]1", NULL },
	{ "[::1]:", NULL },
	{ "a:b:c", NULL },
	{ "[host]:1", NULL },
	{ "a b", NULL },
};

START_TEST(address_row)
{
	struct address_list list;
	const char *why;
	char parts[256] = "";
	size_t i;

	if (!address_list_parse(&list, addresses[_i].text, &why)) {
		ck_assert_msg(addresses[_i].parts == NULL, "'%s' %s",
		    addresses[_i].text, why);
		ck_assert_ptr_nonnull(why);
		return;
	}
	for (i = 0; i < list.n; i++) {
		const struct address *a = &list.items[i].at;
		char port[8] = "";

		if (a->port > 0)
			snprintf(port, sizeof(port), "%u", a->port);
		snprintf(parts + strlen(parts), sizeof(parts) - strlen(parts),
		    "%s|%s|%s;", a->path != NULL ? a->path : "",
		    a->host != NULL ? a->host : "", port);
	}
	ck_assert_ptr_nonnull(addresses[_i].parts);
	ck_assert_str_eq(parts, addresses[_i].parts);
	address_list_fini(&list);
}
END_TEST

START_TEST(address_long_path)
{
	struct address_list list;
	const char *why;
	char path[200];

	memset(path, 'x', sizeof(path) - 1);
	path[0] = '/';
	path[sizeof(path) - 1] = '\0';
	ck_assert(!address_list_parse(&list, path, &why));
}
END_TEST

/* Messages. */

static const struct {
	const char *line;
	bool good, event;
	const char *tag;
	int status; /* STATUS_MAX: none */
	unsigned int lines;
} messages[] = {
	{ "OK", true, false, "", STATUS_OK, 0 },
	{ "OK lines=3", true, false, "", STATUS_OK, 3 },
	{ "@a.b OK lines=2 x=1", true, false, "a.b", STATUS_OK, 2 },
	{ "BUSY", true, false, "", STATUS_BUSY, 0 },
	{ "BUSY lines=2", true, false, "", STATUS_BUSY, 0 },
	{ "TIMEOUT", true, false, "", STATUS_TIMEOUT, 0 },
	{ "@1 CANCELLED", true, false, "1", STATUS_CANCELLED, 0 },
	{ "ERR bad-name x", true, false, "", STATUS_ERR, 0 },
	{ "OKAY", true, false, "", STATUS_MAX, 0 },
	{ "OK lines=99999999999", true, false, "", STATUS_OK, 0 },
	{ "!LOST a lines=3", true, true, "", STATUS_MAX, 0 },
	{ "", false, false, "", 0, 0 },
	{ "@1", false, false, "", 0, 0 },
	{ "@1 ", false, false, "", 0, 0 },
	{ "@ OK", false, false, "", 0, 0 },
	{ "@1 !LOST a", false, false, "", 0, 0 },
	{ "-ERR redis", false, false, "", 0, 0 },
	{ "220 smtp", false, false, "", 0, 0 },
	{ " OK", false, false, "", 0, 0 },
};

START_TEST(message_row)
{
	const char *line = messages[_i].line;
	struct message m;
	bool good;

	good = message_parse(&m, line, strlen(line));
	ck_assert_msg(good == messages[_i].good, "'%s'", line);
	if (!good)
		return;
	ck_assert(m.event == messages[_i].event);
	ck_assert_str_eq(m.tag, messages[_i].tag);
	if (!m.event)
		ck_assert_int_eq(message_status(&m), messages[_i].status);
	ck_assert_uint_eq(message_lines_due(&m), messages[_i].lines);
	message_fini(&m);
}
END_TEST

START_TEST(message_words)
{
	struct message m;
	struct pair p;
	int64_t ms;

	ck_assert(message_parse(&m, "ERR lost it was", 15));
	ck_assert_str_eq(message_error(&m), "lost it was");
	ck_assert(message_error_is(&m, "lost"));
	ck_assert(!message_error_is(&m, "los"));
	ck_assert(!message_error_is(&m, "lost it wasn't"));
	message_fini(&m);
	ck_assert(pair_find("OK a=1  bb=22 b=3", "b", &p));
	ck_assert(p.value_len == 1 && p.value[0] == '3');
	ck_assert(!pair_find("OK valid", "valid", &p));
	ck_assert(pair_find_ms("OK valid=9898ms", "valid", &ms));
	ck_assert_int_eq(ms, 9898);
	ck_assert(!pair_find_ms("OK valid=9898", "valid", &ms));
}
END_TEST

/* Exit statuses. */

/* One row for each error of the protocol; the manual lists the statuses. */
static const struct {
	const char *reply;
	int status;
} replies[] = {
	{ "OK", 0 },
	{ "BUSY", 1 },
	{ "TIMEOUT", 1 },
	{ "CANCELLED", 1 },
	{ "ERR not-held x", 1 },
	{ "ERR not-found x", 1 },
	{ "ERR lost x", 1 },
	{ "ERR deadlock x", 1 },
	{ "ERR exists x", 1 },
	{ "ERR broken x", 1 },
	{ "ERR unknown-command x", 64 },
	{ "ERR bad-request x", 64 },
	{ "ERR bad-name x", 64 },
	{ "ERR bad-option x", 64 },
	{ "ERR too-long x", 64 },
	{ "ERR mismatch x", 64 },
	{ "ERR unsupported x", 64 },
	{ "ERR limit x", 69 },
	{ "ERR unavailable x", 69 },
	{ "ERR shutdown x", 69 },
	{ "ERR internal x", 70 },
	{ "HTTP/1.1 400 Bad Request", 76 },
	{ "ERR auth x", 77 },
	{ "ERR denied x", 77 },
	{ "ERR of-the-future x", 1 },
};

START_TEST(exit_row)
{
	struct message m;

	ck_assert(
	    message_parse(&m, replies[_i].reply, strlen(replies[_i].reply)));
	ck_assert_msg(exit_of(&m) == replies[_i].status, "'%s': %d",
	    replies[_i].reply, exit_of(&m));
	message_fini(&m);
}
END_TEST

START_TEST(exit_of_every_error)
{
	enum err_code code;
	size_t i, n;

	for (code = ERR_NONE + 1; code < ERR_MAX; code++) {
		n = strlen(err_word(code));
		for (i = 0; i < COUNT(replies); i++)
			if (strncmp(replies[i].reply, "ERR ", 4) == 0 &&
			    strncmp(replies[i].reply + 4, err_word(code), n) ==
				0 &&
			    replies[i].reply[4 + n] == ' ')
				break;
		ck_assert_msg(i < COUNT(replies), "%s", err_word(code));
	}
}
END_TEST

/* Requests. */

START_TEST(request_lines)
{
	struct request r = { .names = { "a" },
		.names_n = 1,
		.wait_ms = REQUEST_FOREVER,
		.hold_ms = -1,
		.keep_ms = -1,
		.delay_ms = -1 };
	struct buf line;

	buf_init(&line);
	run_request_take(&r, r.wait_ms, &line);
	buf_addc(&line, '|');
	r.hold_ms = 1500;
	r.keep_ms = 0;
	r.delay_ms = 7;
	run_request_take(&r, 0, &line);
	buf_addc(&line, '|');
	run_request_give(&r, &line);
	buf_addc(&line, '\0');
	ck_assert_str_eq(buf_data(&line),
	    "LOCK a wait=forever|LOCK a wait=0ms hold=1500ms keep=0ms "
	    "delay=7ms|UNLOCK a");
	buf_fini(&line);
}
END_TEST

static const struct {
	const char *event;
	bool lost;
} events[] = {
	{ "!LOST a fence=1 reason=hold", true },
	{ "!LOST a", true },
	{ "!LOST ab fence=1", false },
	{ "!LOST b fence=1 x=a", false },
	{ "!LOST other fence=1", true },
	{ "!LOST a kind=semaphore permits=1", false },
	{ "!LOST", false },
	{ "!LOSTA a", false },
	{ "!ATRISK a left=1ms", false },
	{ "!SHUTDOWN", true },
};

START_TEST(request_of_several_and_of_permits)
{
	struct request r = { .names = { "a", "b" },
		.names_n = 2,
		.shared = true,
		.wait_ms = 0,
		.hold_ms = -1,
		.keep_ms = -1,
		.delay_ms = -1 };
	struct message m;
	struct buf line;
	char *all = run_request_names(&r);

	ck_assert_str_eq(all, "a b");
	free(all);
	buf_init(&line);
	run_request_take(&r, 0, &line);
	buf_addc(&line, '|');
	run_request_give(&r, &line);
	buf_addc(&line, '|');
	r.names_n = 1;
	r.shared = false;
	r.limit = 3;
	run_request_take(&r, 0, &line);
	buf_addc(&line, '|');
	run_request_give(&r, &line);
	buf_addc(&line, '\0');
	ck_assert_str_eq(buf_data(&line),
	    "LOCK a b mode=shared wait=0ms|UNLOCK a b|"
	    "ACQUIRE a limit=3 wait=0ms|RELEASE a");
	buf_fini(&line);
	ck_assert(message_parse(&m, "!LOST a fence=1", 15));
	ck_assert(!run_request_lost(&r, &m));
	message_fini(&m);
	ck_assert(message_parse(&m, "!LOST a kind=semaphore", 22));
	ck_assert(run_request_lost(&r, &m));
	message_fini(&m);
}
END_TEST

START_TEST(request_events)
{
	const struct request r = { .names = { "other", "a" }, .names_n = 2 };
	struct message m;

	ck_assert(
	    message_parse(&m, events[_i].event, strlen(events[_i].event)));
	ck_assert_msg(run_request_lost(&r, &m) == events[_i].lost, "'%s'",
	    events[_i].event);
	message_fini(&m);
}
END_TEST

/* JSON. */

START_TEST(json_line)
{
	char *rows[] = { NULL, NULL };
	struct json j;

	rows[0] = xstrdup("x\ty");
	rows[1] = xstrdup("");
	json_begin(&j);
	json_str(&j, "name", "\"\\\x01\x7f\xc3\xbc\xff", 7);
	json_pairs(&j,
	    "OK bare fence=17 ttl=9898ms label=17 waiters=x age=5 new=1 "
	    "fence=7,8");
	json_strs(&j, "body", rows, 2);
	buf_addc(&j.text, '\0');
	ck_assert_str_eq(buf_data(&j.text),
	    "{\"name\":\"\\\"\\\\\\u0001\\u007f\xc3\xbc\\\\xff\","
	    "\"fence\":17,\"ttl_ms\":9898,\"label\":\"17\","
	    "\"waiters\":\"x\",\"age\":\"5\",\"new\":\"1\","
	    "\"fence\":\"7,8\",\"body\":[\"x\\u0009y\",\"\"]");
	buf_fini(&j.text);
	free(rows[0]);
	free(rows[1]);
}
END_TEST

/* Validity. */

/* The answer `valid` to one PING, sent at 1000, after an answer `before`. */
static const struct {
	int64_t kill_after, before, valid;
	int64_t ask_at, term_at, kill_at;
} clocks[] = {
	/* A fresh lease of 10s: the grace is a quarter of it, the margin 100
	 * ms. */
	{ 5000, 0, 10000, 4333, 8400, 10900 },
	/* Two thirds are left: TERM is well after the next PING. */
	{ 5000, 10000, 6600, 3200, 5000, 7500 },
	/* A smaller -k is kept. */
	{ 1000, 10000, 10000, 4333, 9900, 10900 },
	{ 0, 10000, 10000, 4333, 10900, 10900 },
	/* A lease of 1s: parts of it count, and not fixed times. */
	{ 5000, 0, 1000, 1333, 1725, 1975 },
	/* Little time is left: PINGs stay 50 ms apart. */
	{ 5000, 1000, 90, 1050, 815, 1065 },
	{ 5000, 1000, 0, 1050, 725, 975 },
};

START_TEST(validity_row)
{
	struct validity v;

	validity_init(&v, clocks[_i].kill_after);
	if (clocks[_i].before > 0) {
		validity_ask(&v, 0);
		validity_told(&v, clocks[_i].before);
	}
	validity_ask(&v, 1000);
	ck_assert(validity_ask_at(&v) == NEVER_MS);
	validity_told(&v, clocks[_i].valid);
	ck_assert_int_eq(validity_ask_at(&v), clocks[_i].ask_at);
	ck_assert_int_eq(validity_term_at(&v), clocks[_i].term_at);
	ck_assert_int_eq(validity_kill_at(&v), clocks[_i].kill_at);
}
END_TEST

/* A PING on its way promises nothing: the last answer counts. */
START_TEST(validity_unanswered)
{
	struct validity v;
	int64_t kill_at;

	validity_init(&v, 5000);
	validity_ask(&v, 1000);
	validity_told(&v, 9000);
	kill_at = validity_kill_at(&v);
	validity_ask(&v, 4000);
	ck_assert_int_eq(validity_kill_at(&v), kill_at);
	ck_assert(validity_term_at(&v) < kill_at);
	validity_told(&v, 9000);
	ck_assert_int_eq(validity_kill_at(&v), kill_at + 3000);
}
END_TEST

static TCase *
cli_words(void)
{
	TCase *tc = tcase_create("words");

	tcase_add_loop_test(tc, timespan_row, 0, COUNT(spans));
	tcase_add_test(tc, timespan_words);
	tcase_add_test(tc, timespan_in_text);
	tcase_add_loop_test(tc, address_row, 0, COUNT(addresses));
	tcase_add_test(tc, address_long_path);
	tcase_add_loop_test(tc, message_row, 0, COUNT(messages));
	tcase_add_test(tc, message_words);
	tcase_add_loop_test(tc, exit_row, 0, COUNT(replies));
	tcase_add_test(tc, exit_of_every_error);
	return tc;
}

static TCase *
cli_run(void)
{
	TCase *tc = tcase_create("run");

	tcase_add_test(tc, request_lines);
	tcase_add_test(tc, request_of_several_and_of_permits);
	tcase_add_loop_test(tc, request_events, 0, COUNT(events));
	tcase_add_test(tc, json_line);
	tcase_add_loop_test(tc, validity_row, 0, COUNT(clocks));
	tcase_add_test(tc, validity_unanswered);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { cli_words, cli_run };

	return suite_run("cli", cases, COUNT(cases));
}
