/*
 * How connections end (lockbroker-protocol(7), "End of stream").
 */
#include "config.h"

#include <string.h>

#include "front_rig.h"
#include "suite.h"
#include "test_front.h"

#define OK "OK\r\n"

/* More than the front takes in while a client waits. */
#define FULL_BYTES (4096 + 65536 + 20000)

START_TEST(half_close_finishes_what_was_sent)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "STATUS a\nSTATUS b\nPIN");
	client_shut(&cl);
	client_expect(&cl, "OK label=a\r\nOK label=b\r\n");
	client_expect_eof(&cl);
	/* The unfinished line was not handled. */
	ck_assert_uint_eq(rig.requests, 2);
	rig_expect_trace(&rig, "open drain gone+");
	ck_assert_uint_eq(front_count(rig.front), 0);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(half_close_cancels_what_waits_and_goes_on)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "@t LOCK t\nLOCK a\nSTATUS b\n");
	client_expect_silence(&cl);
	client_shut(&cl);
	client_expect(&cl, "@t CANCELLED\r\nCANCELLED\r\nOK label=b\r\n");
	client_expect_eof(&cl);
	rig_expect_trace(&rig, "open drain gone+");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(half_close_waits_for_answers_under_way)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	rig.drain_cancels = false;
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "LOCK a\n@t LOCK b\nSTATUS c\n");
	client_shut(&cl);
	rig_expect_trace(&rig, "open drain");
	client_expect_silence(&cl);
	rig_expect_calm(&rig);
	rig_answer(&rig, STATUS_OK);
	client_expect(&cl, OK "OK label=c\r\n");
	client_expect_silence(&cl);
	rig_answer(&rig, STATUS_OK);
	client_expect(&cl, "@t OK\r\n");
	client_expect_eof(&cl);
	rig_expect_trace(&rig, "gone+");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(full_close_is_orderly)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "LOCK a\n");
	rig_expect_trace(&rig, "open");
	client_expect_silence(&cl);
	client_close(&cl);
	rig_expect_trace(&rig, "drain gone+");
	rig_fini(&rig);
}
END_TEST

START_TEST(reset_is_not)
{
	static const char *const lines[] = { "LOCK a\n", "@t LOCK a\n",
		"PING\n", "LOCK a\nPING\nPI" };
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, OVER_TCP);
	client_send(&cl, lines[_i]);
	rig_expect_trace(&rig, "open");
	rig_turn(&rig);
	client_reset(&cl);
	rig_expect_trace(&rig, "gone-");
	ck_assert_uint_eq(rig.ndeferred, 0);
	ck_assert_uint_eq(front_count(rig.front), 0);
	rig_fini(&rig);
}
END_TEST

/* A client that waits, and has sent more than the front will read. */
static void
open_full(struct client *cl, struct rig *rig, enum transport how, size_t *sent)
{
	client_open(cl, rig, how);
	client_send(cl, "LOCK a\n");
	rig_expect_trace(rig, "open");
	/*
	 * Some of it must stay unread in the socket; but not so much that TCP
	 * keeps bytes, and the end after them, at the client.
	 */
	*sent = client_pour(cl, "PING\n", FULL_BYTES, 100);
	ck_assert_uint_ge(*sent, FULL_BYTES);
	rig_expect_calm(rig);
	ck_assert_uint_eq(rig->requests, 1);
}

START_TEST(close_is_seen_behind_unread_bytes)
{
	struct client cl;
	struct rig rig;
	size_t sent;

	rig_init(&rig);
	open_full(&cl, &rig, (enum transport)_i, &sent);
	client_close(&cl);
	/* Every complete line is handled, although nobody wants the answers. */
	rig_expect_trace(&rig, "drain gone+");
	ck_assert_uint_eq(rig.requests, 1 + sent / 5);
	rig_fini(&rig);
}
END_TEST

START_TEST(what_is_under_way_is_finished_behind_unread_bytes)
{
	struct client cl;
	struct rig rig;
	size_t sent;

	rig_init(&rig);
	rig.drain_cancels = false;
	open_full(&cl, &rig, (enum transport)_i, &sent);
	client_close(&cl);
	rig_expect_trace(&rig, "drain");
	rig_expect_calm(&rig);
	ck_assert_uint_eq(rig.requests, 1);
	rig_answer(&rig, STATUS_OK);
	rig_expect_trace(&rig, "gone+");
	ck_assert_uint_eq(rig.requests, 1 + sent / 5);
	rig_fini(&rig);
}
END_TEST

START_TEST(half_close_is_seen_behind_unread_bytes)
{
	struct client cl;
	struct rig rig;
	size_t sent, i;

	rig_init(&rig);
	open_full(&cl, &rig, (enum transport)_i, &sent);
	client_shut(&cl);
	rig_expect_trace(&rig, "drain");
	client_gather(&cl);
	ck_assert_uint_eq(rig.requests, 1 + sent / 5);
	ck_assert_uint_eq(
	    buf_len(&cl.got), strlen("CANCELLED\r\n") + 4 * (sent / 5) + 1);
	for (i = 0; i < sent / 5; i++)
		ck_assert_mem_eq(buf_data(&cl.got) + 11 + 4 * i, OK, 4);
	rig_expect_trace(&rig, "gone+");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(reset_is_seen_behind_unread_bytes)
{
	struct client cl;
	struct rig rig;
	size_t sent;

	rig_init(&rig);
	open_full(&cl, &rig, OVER_TCP, &sent);
	client_reset(&cl);
	rig_expect_trace(&rig, "gone-");
	ck_assert_uint_eq(rig.requests, 1);
	rig_fini(&rig);
}
END_TEST

START_TEST(a_full_input_is_read_on_when_answered)
{
	struct client cl;
	struct rig rig;
	size_t sent, i;

	rig_init(&rig);
	open_full(&cl, &rig, (enum transport)_i, &sent);
	rig_answer(&rig, STATUS_OK);
	for (i = 0; i < 1 + sent / 5; i++)
		client_expect(&cl, OK);
	ck_assert_uint_eq(rig.requests, 1 + sent / 5);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(quit_ends_it)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "PING\nQUIT\nPING\nPING\n");
	client_expect(&cl, OK OK);
	client_expect_eof(&cl);
	ck_assert_uint_eq(rig.requests, 2);
	rig_expect_trace(&rig, "open gone+");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(quit_cancels_what_waits)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, OVER_UNIX);
	client_send(&cl, "@t LOCK a\nQUIT\n");
	client_expect(&cl, OK "@t CANCELLED\r\n");
	client_expect_eof(&cl);
	rig_expect_trace(&rig, "open drain gone+");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(killed)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "@t LOCK a\nLOCK b\nPING\n");
	rig_expect_trace(&rig, "open");
	while (rig.requests < 2)
		rig_turn(&rig);
	conn_kill(front_find(rig.front, rig.last));
	ck_assert_ptr_nonnull(front_find(rig.front, rig.last));
	rig_expect_trace(&rig, "gone-");
	ck_assert_ptr_null(front_find(rig.front, rig.last));
	ck_assert_uint_eq(rig.requests, 2);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(web_pages_are_not_answered)
{
	static const char *const lines[] = { "GET / HTTP/1.1\r\n",
		"POST /x HTTP/1.1\r\nHost: x\r\n\r\nLOCK a\n",
		"Host: localhost:5625\r\n", "OPTIONS * HTTP/1.1\n" };
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, OVER_TCP);
	client_send(&cl, lines[_i]);
	client_expect_eof(&cl);
	ck_assert_uint_eq(rig.requests, 0);
	rig_expect_trace(&rig, "open gone-");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(the_front_ends_with_clients_in_every_stage)
{
	struct client idle, waits, full, lingers, fresh;
	struct rig rig;
	size_t sent;

	rig_init(&rig);
	client_open(&idle, &rig, OVER_UNIX);
	client_open(&waits, &rig, OVER_TCP);
	client_send(&waits, "@t LOCK a\nLOCK b\n");
	client_expect_silence(&waits);
	buf_clear(&rig.trace);
	rig.requests = 0;
	open_full(&full, &rig, OVER_UNIX, &sent);
	client_open(&lingers, &rig, OVER_UNIX);
	client_send(&lingers, "QUIT\n");
	client_expect(&lingers, OK);
	client_open(&fresh, &rig, OVER_TCP);
	client_send(&fresh, "STATUS a\n");
	rig_fini(&rig);
	client_close(&idle);
	client_close(&waits);
	client_close(&full);
	client_close(&lingers);
	client_close(&fresh);
}
END_TEST

TCase *
ends_cases(void)
{
	TCase *tc = tcase_create("ends");

	tcase_set_timeout(tc, 20);
	tcase_add_loop_test(
	    tc, half_close_finishes_what_was_sent, 0, TRANSPORTS);
	tcase_add_loop_test(
	    tc, half_close_cancels_what_waits_and_goes_on, 0, TRANSPORTS);
	tcase_add_loop_test(
	    tc, half_close_waits_for_answers_under_way, 0, TRANSPORTS);
	tcase_add_loop_test(tc, full_close_is_orderly, 0, TRANSPORTS);
	tcase_add_loop_test(tc, reset_is_not, 0, 4);
	tcase_add_loop_test(
	    tc, close_is_seen_behind_unread_bytes, 0, TRANSPORTS);
	tcase_add_loop_test(tc,
	    what_is_under_way_is_finished_behind_unread_bytes, 0, TRANSPORTS);
	tcase_add_loop_test(
	    tc, half_close_is_seen_behind_unread_bytes, 0, TRANSPORTS);
	tcase_add_test(tc, reset_is_seen_behind_unread_bytes);
	tcase_add_loop_test(
	    tc, a_full_input_is_read_on_when_answered, 0, TRANSPORTS);
	tcase_add_loop_test(tc, quit_ends_it, 0, TRANSPORTS);
	tcase_add_test(tc, quit_cancels_what_waits);
	tcase_add_loop_test(tc, killed, 0, TRANSPORTS);
	tcase_add_loop_test(tc, web_pages_are_not_answered, 0, 4);
	tcase_add_test(tc, the_front_ends_with_clients_in_every_stage);
	return tc;
}
