/*
 * Bounds: long lines, slow readers, floods, silence, crowds.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "front/conn.h"
#include "front_rig.h"
#include "suite.h"
#include "test_front.h"

/* Longer than a client may take to read some of far too much. */
#define STILL_US 2100000

#define OK "OK\r\n"
#define TOO_LONG "ERR too-long a line may have at most 32 bytes\r\n"

/* A line of n bytes, then `end`; the caller frees it. */
static char *
long_line(size_t n, const char *end)
{
	char *line = malloc(n + strlen(end) + 1);

	ck_assert_ptr_nonnull(line);
	memset(line, 'x', n);
	memcpy(line, "STATUS ", 7);
	(void)strcpy(line + n, end);
	return line;
}

static const struct length {
	size_t n;
	const char *end;
	bool fits;
} lengths[] = {
	{ 31, "\n", true },
	{ 32, "\n", true },
	{ 32, "\r\n", true },
	{ 33, "\n", false },
	{ 33, "\r\n", false },
	{ 33, "", false },
	{ 32, "\r\r\n", false },
	{ 2000, "\nPING\n", false },
	{ 200000, "\nPING\n", false },
};

START_TEST(long_lines)
{
	const struct length *l = &lengths[_i / TRANSPORTS];
	char *line = long_line(l->n, l->end);
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	rig.limits.line = 32;
	rig_set_limits(&rig);
	client_open(&cl, &rig, (enum transport)(_i % TRANSPORTS));
	client_send(&cl, "PING\n");
	client_expect(&cl, OK);
	client_send(&cl, line);
	if (l->fits) {
		client_expect(&cl, "OK label=xxx");
		line[l->n] = '\0';
		client_expect(&cl, line + 10);
		client_expect(&cl, "\r\n");
	} else {
		client_expect(&cl, TOO_LONG);
		client_expect_eof(&cl);
		rig_expect_trace(&rig, "open gone-");
		ck_assert_uint_eq(rig.requests, 1);
	}
	client_close(&cl);
	rig_fini(&rig);
	free(line);
}
END_TEST

START_TEST(a_long_line_waits_for_its_turn)
{
	char *line = long_line(100, "\n");
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	rig.limits.line = 32;
	rig_set_limits(&rig);
	client_open(&cl, &rig, OVER_UNIX);
	client_send(&cl, "LOCK a\n");
	client_send(&cl, line);
	client_expect_silence(&cl);
	rig_answer(&rig, STATUS_OK);
	client_expect(&cl, OK TOO_LONG);
	client_expect_eof(&cl);
	client_close(&cl);
	rig_fini(&rig);
	free(line);
}
END_TEST

static void
turns(struct rig *rig, int n)
{
	while (n-- > 0)
		rig_turn(rig);
}

START_TEST(replies_that_nobody_reads)
{
	struct client cl;
	struct rig rig;
	struct conn *c;
	unsigned asked;
	size_t sent, i = 0;

	rig_init(&rig);
	rig.limits.output = 8192;
	rig_set_limits(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	sent = client_pour(&cl, "STATUS a\n", SIZE_MAX, 100);
	c = front_find(rig.front, rig.last);
	ck_assert_ptr_nonnull(c);
	while (buf_len(conn_output(c)) <= 4096 && rig.requests < sent / 9)
		rig_turn(&rig);
	ck_assert_uint_lt(buf_len(conn_output(c)), 8192);
	ck_assert_uint_lt(rig.requests, sent / 9);
	/* The kernel may find room for a little more, but not for ever. */
	do {
		asked = rig.requests;
		rig_expect_calm(&rig);
	} while (rig.requests != asked && ++i < 20);
	ck_assert_uint_eq(rig.requests, asked);
	ck_assert_uint_lt(buf_len(conn_output(c)), 8192);
	/* The client was only slow: as soon as it reads, it is served. */
	for (i = 0; i < sent / 9; i++)
		client_expect(&cl, "OK label=a\r\n");
	ck_assert_uint_eq(rig.requests, sent / 9);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

static void
tell(struct rig *rig, size_t bytes)
{
	struct conn *c = front_find(rig->front, rig->last);
	size_t i;

	if (!c)
		return;
	for (i = 0; i < bytes / 10; i++)
		buf_adds(conn_output(c), "!FREE 678\n");
	rig_turn(rig);
}

/* The same at the client, which reads fast, however slow this test is. */
static void
expect_told(struct client *cl, size_t bytes)
{
	char lines[100 * 10 + 1];
	size_t i, n;

	for (i = 0; i < 100; i++)
		memcpy(lines + 10 * i, "!FREE 678\n", 10);
	for (n = bytes / 10; n > 0; n -= i) {
		i = n < 100 ? n : 100;
		lines[10 * i] = '\0';
		client_expect(cl, lines);
	}
}

START_TEST(events_that_nobody_reads)
{
	struct client cl;
	struct rig rig;
	size_t told = 0;

	rig_init(&rig);
	rig.limits.output = 8192;
	rig_set_limits(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "@t LOCK a\n");
	rig_expect_trace(&rig, "open");
	while (buf_len(&rig.trace) == 0 && told < (16 << 20)) {
		tell(&rig, 1000);
		told += 1000;
	}
	/* At once, and not only when the front finds that the client reads
	 * nothing. */
	ck_assert_uint_lt(told, 16 << 20);
	rig_expect_trace(&rig, "gone-");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(one_huge_reply_is_no_fault_where_it_is_read)
{
	const size_t bytes = 4 << 20;
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	rig.limits.output = 8192;
	rig_set_limits(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "PING\n");
	client_expect(&cl, OK);
	tell(&rig, bytes);
	expect_told(&cl, bytes);
	client_send(&cl, "PING\n");
	client_expect(&cl, OK);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

/* Its timer is due before it has written to those who read meanwhile. */
START_TEST(who_reads_is_kept_by_a_front_that_stood_still)
{
	const size_t bytes = 4 << 20;
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	rig.limits.output = 8192;
	rig_set_limits(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "PING\n");
	client_expect(&cl, OK);
	tell(&rig, bytes);
	client_pump(&cl);
	ck_assert_int_eq(usleep(STILL_US), 0);
	expect_told(&cl, bytes);
	ck_assert_uint_eq(front_stats(rig.front)->too_slow, 0);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(one_huge_reply_must_be_read)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	rig.limits.output = 8192;
	rig_set_limits(&rig);
	client_open(&cl, &rig, OVER_UNIX);
	client_send(&cl, "PING\n");
	client_expect(&cl, OK);
	tell(&rig, 4 << 20);
	rig_expect_trace(&rig, "open gone-");
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(a_flood_gets_its_share)
{
	struct client flood, quiet;
	struct rig rig;
	unsigned before;
	int i;

	rig_init(&rig);
	client_open(&flood, &rig, OVER_UNIX);
	client_open(&quiet, &rig, OVER_TCP);
	client_send(&flood, "LOCK a\n");
	turns(&rig, 2);
	(void)client_pour(&flood, "STATUS a\n", SIZE_MAX, 3);
	rig_answer(&rig, STATUS_OK);
	for (i = 0; i < 20; i++) {
		before = rig.requests;
		client_send(&quiet, "PING\n");
		client_expect(&quiet, OK);
		ck_assert_uint_gt(rig.requests, before + 1);
		ck_assert_uint_le(rig.requests, before + 1 + 3 * 64);
	}
	client_close(&flood);
	client_close(&quiet);
	rig_fini(&rig);
}
END_TEST

START_TEST(silent_clients)
{
	struct client mute, partial, speaker;
	struct rig rig;

	rig_init(&rig);
	rig.limits.first_line_ms = 100;
	rig_set_limits(&rig);
	client_open(&mute, &rig, OVER_UNIX);
	client_open(&partial, &rig, OVER_TCP);
	client_open(&speaker, &rig, OVER_TCP);
	client_send(&partial, "PIN");
	client_send(&speaker, "\n");
	client_expect_eof(&mute);
	rig_expect_trace(&rig, "open open open gone- gone-");
	client_send(&speaker, "PING\n");
	client_expect(&speaker, OK);
	client_close(&mute);
	client_close(&partial);
	client_close(&speaker);
	rig_fini(&rig);
}
END_TEST

START_TEST(silence_can_be_forbidden_later)
{
	struct client mute;
	struct rig rig;

	rig_init(&rig);
	client_open(&mute, &rig, OVER_UNIX);
	rig.limits.first_line_ms = 20;
	rig_set_limits(&rig);
	rig_expect_trace(&rig, "open gone-");
	client_close(&mute);
	rig_fini(&rig);
}
END_TEST

START_TEST(too_many_clients)
{
	struct client in[2], out, late;
	struct rig rig;
	size_t i;

	rig_init(&rig);
	rig.limits.clients = 2;
	rig_set_limits(&rig);
	for (i = 0; i < COUNT(in); i++)
		client_open(&in[i], &rig, (enum transport)_i);
	client_open(&out, &rig, (enum transport)_i);
	client_expect(&out,
	    "ERR limit all 2 client connections are in use (limits.clients)\r\n");
	client_expect_eof(&out);
	rig_expect_trace(&rig, "open open");
	ck_assert_uint_eq(front_count(rig.front), 2);
	client_send(&in[0], "PING\n");
	client_expect(&in[0], OK);
	client_close(&in[1]);
	rig_expect_trace(&rig, "drain gone+");
	client_open(&late, &rig, (enum transport)_i);
	client_send(&late, "PING\n");
	client_expect(&late, OK);
	client_close(&in[0]);
	client_close(&out);
	client_close(&late);
	rig_fini(&rig);
}
END_TEST

START_TEST(no_descriptors_left)
{
	struct client first, second, third;
	struct rlimit full, rl;
	struct rig rig;

	rig_init(&rig);
	client_open(&first, &rig, OVER_UNIX);
	client_dial(&second, &rig, OVER_UNIX);
	client_dial(&third, &rig, OVER_UNIX);
	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &full), 0);
	rl = full;
	rl.rlim_cur = (rlim_t)third.fd + 1;
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &rl), 0);
	client_expect(
	    &second, "ERR limit the broker has no file descriptors left\r\n");
	client_expect_eof(&second);
	client_send(&first, "PING\n");
	client_expect(&first, OK);
	/* Nobody is accepted for a while, and the loop does not spin. */
	rig_expect_calm(&rig);
	rig_expect_trace(&rig, "open");
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &full), 0);
	client_send(&third, "PING\n");
	client_expect(&third, OK);
	client_close(&first);
	client_close(&second);
	client_close(&third);
	rig_fini(&rig);
}
END_TEST

/* Lines that a client sends into a connection that has ended. */
START_TEST(strangers_send_little)
{
	struct client cl;
	struct rig rig;
	struct conn *c;
	unsigned i;

	rig_init(&rig);
	rig.limits.line = 100;
	rig.strangers = true;
	rig_set_limits(&rig);
	client_open(&cl, &rig, (enum transport)_i);
	(void)client_pour(&cl, "PING\n", 100000, 20);
	c = front_find(rig.front, rig.last);
	ck_assert_ptr_nonnull(c);
	for (i = rig.requests; i < 100; i++) {
		rig_turn(&rig);
		ck_assert_uint_le(rig.requests, i + 1);
		ck_assert_uint_le(buf_len(&c->in), 200);
	}
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

#define FIVE_PINGS "PING\nPING\nPING\nPING\nPING\n"
#define FORTY_PINGS                                                       \
	FIVE_PINGS FIVE_PINGS FIVE_PINGS FIVE_PINGS FIVE_PINGS FIVE_PINGS \
	    FIVE_PINGS FIVE_PINGS

/* The client sends all in one piece: the network may keep a second one back
 * for longer than the turns that are counted. */
START_TEST(a_stranger_that_is_known_is_served_as_all)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	rig.strangers = true;
	client_open(&cl, &rig, (enum transport)_i);
	client_send(&cl, "PING\nAUTH a b\n" FORTY_PINGS);
	while (rig.requests < 2)
		rig_turn(&rig);
	turns(&rig, 2);
	ck_assert_uint_eq(rig.requests, 42);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(strangers_make_room)
{
	struct client one, two, three;
	struct rig rig;

	rig_init(&rig);
	rig.limits.clients = 2;
	rig.strangers = true;
	rig_set_limits(&rig);
	client_open(&one, &rig, OVER_TCP);
	client_open(&two, &rig, OVER_TCP);
	client_send(&one, "AUTH a b\n");
	client_expect(&one, OK);
	client_open(&three, &rig, OVER_TCP);
	client_expect_eof(&two);
	client_send(&three, "AUTH a b\n");
	client_expect(&three, OK);
	client_send(&one, "PING\n");
	client_expect(&one, OK);
	client_close(&two);
	client_dial(&two, &rig, OVER_TCP);
	client_gather(&two);
	ck_assert_ptr_nonnull(strstr(buf_data(&two.got), "ERR limit "));
	client_close(&one);
	client_close(&two);
	client_close(&three);
	rig_fini(&rig);
}
END_TEST

START_TEST(a_last_answer_survives_what_is_still_sent)
{
	struct client cl;
	struct rig rig;

	rig_init(&rig);
	client_open(&cl, &rig, OVER_TCP);
	client_send(&cl, "QUIT\n");
	rig_expect_trace(&rig, "open gone+");
	client_send(&cl, "PING\nPING\n");
	turns(&rig, 5);
	client_expect(&cl, OK);
	client_expect_eof(&cl);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

TCase *
bounds_cases(void)
{
	TCase *tc = tcase_create("bounds");

	tcase_set_timeout(tc, 20);
	tcase_add_loop_test(
	    tc, long_lines, 0, (int)COUNT(lengths) * TRANSPORTS);
	tcase_add_test(tc, a_long_line_waits_for_its_turn);
	tcase_add_loop_test(tc, replies_that_nobody_reads, 0, TRANSPORTS);
	tcase_add_loop_test(tc, events_that_nobody_reads, 0, TRANSPORTS);
	tcase_add_loop_test(
	    tc, one_huge_reply_is_no_fault_where_it_is_read, 0, TRANSPORTS);
	tcase_add_loop_test(
	    tc, who_reads_is_kept_by_a_front_that_stood_still, 0, TRANSPORTS);
	tcase_add_test(tc, one_huge_reply_must_be_read);
	tcase_add_test(tc, a_flood_gets_its_share);
	tcase_add_test(tc, silent_clients);
	tcase_add_test(tc, silence_can_be_forbidden_later);
	tcase_add_loop_test(tc, too_many_clients, 0, TRANSPORTS);
	tcase_add_loop_test(tc, strangers_send_little, 0, TRANSPORTS);
	tcase_add_loop_test(
	    tc, a_stranger_that_is_known_is_served_as_all, 0, TRANSPORTS);
	tcase_add_test(tc, strangers_make_room);
	tcase_add_test(tc, no_descriptors_left);
	tcase_add_test(tc, a_last_answer_survives_what_is_still_sent);
	return tc;
}
