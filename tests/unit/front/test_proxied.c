/*
 * Tests of the front: the PROXY protocol, where it is asked for and elsewhere.
 */
#include "config.h"

#include <check.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "front/front.h"
#include "front_rig.h"
#include "test_front.h"

#define OK "OK\r\n"
#define SIGNATURE "\r\n\r\n\0\r\nQUIT\n"
#define FOUR SIGNATURE "\x21\x11\0\x0c\x0a\0\0\x07\x7f\0\0\x01\x15\x88\x15\xf9"
#define LOCAL SIGNATURE "\x20\0\0\0"
#define LINE "PROXY TCP4 10.0.0.7 127.0.0.1 5512 5625\r\n"

static void
begin(struct rig *rig, enum proxied proxied)
{
	struct buf why;

	rig_init(rig);
	buf_init(&why);
	ck_assert(front_listen_tcp(
	    rig->front, "127.0.0.1", rig->port, proxied, &why));
	buf_fini(&why);
}

/* Sends it in pieces; all of it is taken before the next one comes. */
static void
send_by(struct client *cl, const char *data, size_t size, size_t piece)
{
	size_t i, n;

	for (i = 0; i < size; i += n) {
		n = size - i < piece ? size - i : piece;
		ck_assert_int_eq(
		    send(cl->fd, data + i, n, MSG_NOSIGNAL), (ssize_t)n);
		client_pump(cl);
	}
}

static const struct {
	const char *data;
	size_t size;
	const char *peer; /* "": that of the socket */
	const char *answer;
} told[] = {
#define TEXT(text) (text), sizeof(text) - 1
	{ TEXT(LINE "PING\n"), "10.0.0.7:5512", OK },
	{ TEXT(LINE "*1\r\n$4\r\nPING\r\n"), "10.0.0.7:5512",
	    "$4\r\nPING\r\n" },
	{ TEXT(FOUR "PING\n"), "10.0.0.7:5512", OK },
	{ TEXT(FOUR "*1\r\n$4\r\nPING\r\n"), "10.0.0.7:5512",
	    "$4\r\nPING\r\n" },
	{ TEXT("PROXY UNKNOWN\r\nPING\n"), "", OK },
	{ TEXT(LOCAL "PING\n"), "", OK },
};

START_TEST(whoever_it_is)
{
	const size_t pieces[] = { 1, 7, 1000 };
	struct client cl;
	struct rig rig;
	size_t i;

	begin(&rig, PROXIED_HEADER);
	for (i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		buf_clear(&rig.trace);
		client_open(&cl, &rig, OVER_TCP);
		ck_assert_uint_eq(buf_len(&rig.trace), 0);
		send_by(&cl, told[_i].data, told[_i].size, pieces[i]);
		client_expect(&cl, told[_i].answer);
		rig_expect_trace(&rig, "open");
		if (told[_i].peer[0] != '\0')
			ck_assert_str_eq(rig.peer, told[_i].peer);
		else
			ck_assert_int_eq(
			    strncmp(rig.peer, "127.0.0.1:", 10), 0);
		ck_assert(conn_is_proxied(front_find(rig.front, rig.last)));
		client_close(&cl);
		rig_expect_trace(&rig, "drain gone+");
	}
	rig_fini(&rig);
}
END_TEST

/* There is no client before the header, and no answer. */
START_TEST(no_header)
{
	static const char *const texts[] = { "PING\n", "*1\r\n$4\r\nPING\r\n",
		"PROXY TCP4 10.0.0.7 127.0.0.1 5512\r\nPING\n", "\r\nPING\n" };
	struct client cl;
	struct rig rig;
	size_t i;

	begin(&rig, PROXIED_HEADER);
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		client_open(&cl, &rig, OVER_TCP);
		client_send(&cl, texts[i]);
		client_expect_eof(&cl);
		client_close(&cl);
	}
	client_open(&cl, &rig, OVER_TCP);
	client_send(&cl, "PROXY TCP4 10.");
	client_close(&cl);
	client_open(&cl, &rig, OVER_TCP);
	client_reset(&cl);
	client_open(&cl, &rig, OVER_TCP);
	client_close(&cl);
	while (front_count(rig.front) > 0)
		rig_turn(&rig);
	ck_assert_uint_eq(buf_len(&rig.trace), 0);
	rig_expect_calm(&rig);
	rig_fini(&rig);
}
END_TEST

/* It has as long as a first line has, also after a reload. */
START_TEST(late)
{
	struct client cl, other;
	struct rig rig;

	begin(&rig, PROXIED_HEADER);
	client_open(&other, &rig, OVER_TCP);
	rig.limits.first_line_ms = 50;
	rig_set_limits(&rig);
	client_open(&cl, &rig, OVER_TCP);
	client_send(&cl, "PROXY TCP4 ");
	client_expect_eof(&cl);
	client_close(&cl);
	client_expect_eof(&other);
	client_close(&other);
	ck_assert_uint_eq(buf_len(&rig.trace), 0);
	rig_fini(&rig);
}
END_TEST

/* Whoever has not told who it is makes room. */
START_TEST(crowd)
{
	struct client silent[3], cl;
	struct rig rig;
	size_t i;

	begin(&rig, PROXIED_HEADER);
	rig.limits.clients = 3;
	rig_set_limits(&rig);
	for (i = 0; i < 3; i++)
		client_open(&silent[i], &rig, OVER_TCP);
	rig_expect_calm(&rig);
	client_open(&cl, &rig, OVER_TCP);
	send_by(&cl, TEXT(LINE "PING\n"), 1000);
	client_expect(&cl, OK);
	client_expect_eof(&silent[0]);
	client_expect_silence(&silent[1]);
	client_close(&cl);
	for (i = 0; i < 3; i++)
		client_close(&silent[i]);
	rig_fini(&rig);
}
END_TEST

/* Its requests would get the answers to others. */
START_TEST(not_asked_for)
{
	const enum proxied how[] = { PROXIED_NO, PROXIED_YES };
	const size_t pieces[] = { 1, 1000 };
	struct client cl;
	struct rig rig;
	size_t i, k;

	begin(&rig, how[_i]);
	for (i = 0; i < sizeof(told) / sizeof(told[0]); i++) {
		for (k = 0; k < sizeof(pieces) / sizeof(pieces[0]); k++) {
			client_open(&cl, &rig, OVER_TCP);
			send_by(&cl, told[i].data, 13, pieces[k]);
			client_expect_eof(&cl);
			client_close(&cl);
		}
	}
	ck_assert_uint_eq(rig.requests, 0);
	rig_fini(&rig);
}
END_TEST

/* Only the first bytes are no client's. */
START_TEST(as_ever)
{
	struct client cl;
	struct rig rig;

	begin(&rig, PROXIED_NO);
	client_open(&cl, &rig, OVER_TCP);
	client_send(&cl, "\r\n\r\n");
	client_pump(&cl);
	client_send(&cl, "P");
	client_pump(&cl);
	client_send(&cl, "ING\nPROXY TCP4 1\nPING\n");
	client_expect(&cl, OK
	    "ERR unknown-command no command \"PROXY\"; HELP lists all\r\n" OK);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

TCase *
proxied_cases(void)
{
	TCase *tc = tcase_create("proxied");

	tcase_add_loop_test(
	    tc, whoever_it_is, 0, sizeof(told) / sizeof(told[0]));
	tcase_add_test(tc, no_header);
	tcase_add_test(tc, late);
	tcase_add_test(tc, crowd);
	tcase_add_loop_test(tc, not_asked_for, 0, 2);
	tcase_add_test(tc, as_ever);
	return tc;
}
