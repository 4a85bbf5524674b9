/*
 * Lines in, replies out: framing, order and tags (lockbroker-protocol(7),
 * "Framing", "Order and tags").
 */
#include "config.h"

#include <string.h>

#include "front_rig.h"
#include "suite.h"
#include "test_front.h"

#define X16 "xxxxxxxxxxxxxxxx"
#define OK "OK\r\n"

/* What a client sends in one piece, and everything that it gets. */
static const struct exchange {
	const char *in;
	const char *out;
} exchanges[] = {
	{ "PING\n", OK },
	{ "PING\r\n", OK },
	{ "ping\n", OK },
	{ "\n\r\nPING\n", OK },
	{ "PING\nPING\r\nPING\n", OK OK OK },
	{ "@a PING\n", "@a OK\r\n" },
	{ "@" X16 " PING\n", "@" X16 " OK\r\n" },
	{ "STATUS a\nSTATUS b\n@t STATUS c\nSTATUS d\n",
	    "OK label=a\r\nOK label=b\r\n@t OK label=c\r\nOK label=d\r\n" },
	/* Replies stay in order around a refused line. */
	{ "@w LOCK a\n@w PING\nCANCEL w\n",
	    "@w ERR bad-request this tag is still in use\r\n"
	    "@w CANCELLED\r\n" OK },
	{ "CANCEL w\n", "ERR not-found no such request\r\n" },
	{ "@w LOCK a\nCANCEL w\n@w PING\n", "@w CANCELLED\r\n" OK "@w OK\r\n" },
	/* A connection that begins with a star speaks RESP, until its end. */
	{ "*2\r\n$6\r\nSTATUS\r\n$1\r\na\r\n*1\r\n$4\r\nPING\r\n",
	    "*2\r\n$5\r\nlabel\r\n$1\r\na\r\n$4\r\nPING\r\n" },
	{ "*0\r\n*2\r\n$1\r\nx\r\n$4\r\nquit\r\n", "$4\r\nquit\r\n" },
	/* Any other connection does not. */
	{ "\n*1\r\nPING\n",
	    "ERR unknown-command no command \"*1\"; HELP lists all\r\n" OK },
};

START_TEST(framing)
{
	const struct exchange *x = &exchanges[_i / TRANSPORTS];
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, (enum transport)(_i % TRANSPORTS));
	client_send(&cl, x->in);
	client_expect(&cl, x->out);
	client_expect_silence(&cl);
	client_close(&cl);
	rig_expect_trace(&rig, "open drain gone+");
	rig_fini(&rig);
}
END_TEST

START_TEST(byte_by_byte)
{
	const struct exchange *x = &exchanges[_i];
	struct client cl;
	struct rig rig;
	char one[2] = "";
	size_t i;

	rig_init(&rig);
	client_open(&cl, &rig, OVER_UNIX);
	for (i = 0; x->in[i] != '\0'; i++) {
		one[0] = x->in[i];
		client_send(&cl, one);
		rig_turn(&rig);
	}
	client_expect(&cl, x->out);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(bad_lines_are_answered_in_order)
{
	static const char in[] = "PING\nNOSUCH a\nPING\n\001\nPING\n@t LOCK\n"
				 "PING\n@!! PING\nPING\n";
	static const char *const codes[] = { "OK", "ERR unknown-command", "OK",
		"ERR bad-request", "OK", "@t ERR bad-request", "OK",
		"ERR bad-request", "OK" };
	struct client cl;
	struct rig rig;
	char *line, *end;
	size_t i;

	rig_init(&rig);
	client_open(&cl, &rig, OVER_UNIX);
	client_send(&cl, in);
	client_send(&cl, "QUIT\n");
	client_gather(&cl);
	rig_expect_trace(&rig, "open gone+");
	line = buf_data(&cl.got);
	for (i = 0; i < COUNT(codes); i++) {
		end = strstr(line, "\r\n");
		ck_assert_ptr_nonnull(end);
		ck_assert_msg(strncmp(line, codes[i], strlen(codes[i])) == 0,
		    "reply %zu is %.*s", i, (int)(end - line), line);
		line = end + 2;
	}
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(an_untagged_wait_keeps_back_the_lines_behind_it)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "LOCK a\nPING\nLOCK b\n@t PING\nSTATUS c\n");
	client_expect_silence(&cl);
	ck_assert_uint_eq(rig.requests, 1);
	rig_answer(&rig, STATUS_TIMEOUT);
	client_expect(&cl, "TIMEOUT\r\n" OK);
	client_expect_silence(&cl);
	ck_assert_uint_eq(rig.requests, 3);
	/* Lines that come later are answered later, too. */
	client_send(&cl, "STATUS d\n");
	client_expect_silence(&cl);
	rig_answer(&rig, STATUS_BUSY);
	client_expect(&cl, "BUSY\r\n@t OK\r\nOK label=c\r\nOK label=d\r\n");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(tagged_waits_keep_back_nothing)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "@1 LOCK a\n@2 LOCK b\nPING\n");
	client_expect(&cl, OK);
	client_expect_silence(&cl);
	rig.deferred[2] = rig.deferred[0];
	rig.deferred[0] = rig.deferred[1];
	rig.deferred[1] = rig.deferred[2];
	rig_answer(&rig, STATUS_OK);
	client_expect(&cl, "@2 OK\r\n");
	rig_answer(&rig, STATUS_OK);
	client_expect(&cl, "@1 OK\r\n");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(tags_are_of_one_connection)
{
	struct client a, b;
	struct rig rig;

	rig_init(&rig);
	client_open(&a, &rig, OVER_UNIX);
	client_open(&b, &rig, OVER_TCP);
	client_send(&a, "@t LOCK a\n");
	client_expect_silence(&a);
	client_send(&b, "CANCEL t\n@t LOCK a\nPING\n");
	client_expect(&b, "ERR not-found no such request\r\n" OK);
	client_send(&a, "CANCEL t\n");
	client_expect(&a, "@t CANCELLED\r\n" OK);
	client_expect_silence(&b);
	client_close(&a);
	client_close(&b);
	rig_fini(&rig);
}
END_TEST

START_TEST(a_reference_is_good_once_and_at_its_connection)
{
	char mem[TAG_MAX_BYTES + 1];
	struct client a, b;
	struct wire_reply reply = { .status = STATUS_OK };
	struct conn *ca;
	struct rig rig;

	rig_init(&rig);
	client_open(&a, &rig, OVER_UNIX);
	client_send(&a, "@t LOCK a\n");
	client_expect_silence(&a);
	ca = front_find(rig.front, rig.last);
	client_open(&b, &rig, OVER_UNIX);
	client_send(&b, "PING\n");
	client_expect(&b, OK);
	ck_assert(!conn_answered(
	    front_find(rig.front, rig.last), rig.deferred[0].ref, mem, &reply));
	ck_assert(!conn_answered(ca, 0, mem, &reply));
	ck_assert(conn_answered(ca, rig.deferred[0].ref, mem, &reply));
	ck_assert_str_eq(mem, "t");
	ck_assert_uint_eq(reply.tag.n, 1);
	ck_assert_int_eq(reply.verb, VERB_LOCK);
	ck_assert(!conn_answered(ca, rig.deferred[0].ref, mem, &reply));
	rig.ndeferred = 0;
	ck_assert_ptr_null(front_find(rig.front, 12345));
	ck_assert_uint_eq(front_count(rig.front), 2);
	client_close(&a);
	client_close(&b);
	rig_fini(&rig);
}
END_TEST

#define LOCK_A "*2\r\n$4\r\nLOCK\r\n$1\r\na\r\n"

/* The handler hears of it once for each request that waits, and only in RESP. */
START_TEST(what_comes_behind_a_request)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, OVER_UNIX);
	client_send(&cl, LOCK_A);
	client_expect_silence(&cl);
	rig_expect_trace(&rig, "open");
	client_send(&cl, "*1\r\n$4");
	rig_expect_trace(&rig, "pressed");
	client_send(&cl, "\r\nPING\r\n" LOCK_A LOCK_A);
	client_expect_silence(&cl);
	rig_expect_trace(&rig, "");
	rig_answer(&rig, STATUS_OK);
	client_expect(&cl, "+OK\r\n$4\r\nPING\r\n");
	rig_expect_trace(&rig, "pressed");
	rig_answer(&rig, STATUS_OK);
	client_expect(&cl, "+OK\r\n");
	client_close(&cl);
	rig_expect_trace(&rig, "drain gone+");
	client_open(&cl, &rig, OVER_UNIX);
	client_send(&cl, "LOCK a\nPING\n");
	client_expect_silence(&cl);
	rig_expect_trace(&rig, "open");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(too_many_tagged_requests)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	rig.limits.requests = 2;
	rig_set_limits(&rig);
	client_open(&cl, &rig, OVER_UNIX);
	client_send(&cl, "@1 LOCK a\n@2 LOCK b\n@3 LOCK c\n@4 PING\n");
	client_expect(&cl,
	    "@3 ERR limit 2 requests of this connection are already waiting\r\n"
	    "@4 OK\r\n");
	client_send(&cl, "@5 CANCEL 1\n@3 LOCK c\nPING\n");
	client_expect(&cl, "@1 CANCELLED\r\n@5 OK\r\n" OK);
	client_expect_silence(&cl);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

TCase *
lines_cases(void)
{
	TCase *tc = tcase_create("lines");

	tcase_add_loop_test(tc, framing, 0, (int)COUNT(exchanges) * TRANSPORTS);
	tcase_add_loop_test(tc, byte_by_byte, 0, (int)COUNT(exchanges));
	tcase_add_test(tc, bad_lines_are_answered_in_order);
	tcase_add_loop_test(
	    tc, an_untagged_wait_keeps_back_the_lines_behind_it, 0, TRANSPORTS);
	tcase_add_loop_test(tc, tagged_waits_keep_back_nothing, 0, TRANSPORTS);
	tcase_add_test(tc, tags_are_of_one_connection);
	tcase_add_test(tc, a_reference_is_good_once_and_at_its_connection);
	tcase_add_test(tc, what_comes_behind_a_request);
	tcase_add_test(tc, too_many_tagged_requests);
	return tc;
}
