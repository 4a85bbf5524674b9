/*
 * Turns: what is told first, and who is served when.
 */
#include "config.h"

#include <event2/event.h>
#include <string.h>

#include "front/conn.h"
#include "front_rig.h"
#include "suite.h"
#include "test_front.h"

#define OK "OK\r\n"
#define LOST "!LOST a\r\n"

static const char noise[1 << 20];

/* A client, and its connection in the front. */
static struct conn *
meet(struct client *cl, struct rig *rig)
{
	client_open(cl, rig, OVER_UNIX);
	client_send(cl, "PING\n");
	client_expect(cl, OK);
	return front_find(rig->front, rig->last);
}

/* One that is not opened yet when both are read stands behind. */
START_TEST(who_is_read_first_is_served_first)
{
	struct client old, young;
	struct rig rig;

	rig_init(&rig);
	(void)meet(&old, &rig);
	client_dial(&young, &rig, OVER_UNIX);
	ck_assert_int_ge(event_base_loop(rig.base, EVLOOP_NONBLOCK), 0);
	client_send(&old, "PING\n");
	client_send(&young, "PING\n");
	ck_assert_int_ge(event_base_loop(rig.base, EVLOOP_NONBLOCK), 0);
	client_expect(&old, OK);
	client_expect(&young, OK);
	ck_assert_uint_eq(rig.by, rig.last);
	client_close(&old);
	client_close(&young);
	rig_fini(&rig);
}
END_TEST

/* One write is enough for both answers. */
START_TEST(what_waited_for_an_answer_goes_along)
{
	struct client cl;
	struct conn *c;
	struct rig rig;

	rig_init(&rig);
	c = meet(&cl, &rig);
	client_send(&cl, "LOCK a\nPING\n");
	while (rig.ndeferred == 0)
		rig_turn(&rig);
	front_run_on(rig.front);
	ck_assert_uint_eq(buf_len(conn_output(c)), 0);
	rig_answer(&rig, STATUS_OK);
	front_run_on(rig.front);
	ck_assert_uint_eq(buf_len(conn_output(c)), 2 * strlen(OK));
	client_expect(&cl, OK OK);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

START_TEST(a_loss_leaves_before_all_else)
{
	struct client loser, heir;
	struct conn *lost, *granted;
	struct rig rig;

	rig_init(&rig);
	lost = meet(&loser, &rig);
	granted = meet(&heir, &rig);
	buf_adds(conn_output(lost), LOST);
	conn_hurry(lost);
	buf_adds(conn_output(granted), OK);
	conn_hurry(lost);
	front_hurry(rig.front);
	ck_assert_uint_eq(buf_len(conn_output(lost)), 0);
	ck_assert_uint_eq(buf_len(conn_output(granted)), strlen(OK));
	client_expect(&loser, LOST);
	client_expect(&heir, OK);
	client_close(&loser);
	client_close(&heir);
	rig_fini(&rig);
}
END_TEST

/* That client does not read, so it can't be told; the others need not wait for
 * it. */
START_TEST(a_loss_that_is_not_read_holds_up_nobody)
{
	struct client loser, heir;
	struct conn *lost;
	struct rig rig;
	size_t before;

	rig_init(&rig);
	rig.limits.output = 2 * sizeof(noise);
	rig_set_limits(&rig);
	lost = meet(&loser, &rig);
	(void)meet(&heir, &rig);
	buf_add(conn_output(lost), noise, sizeof(noise));
	rig_turn(&rig);
	before = buf_len(conn_output(lost));
	ck_assert_uint_gt(before, 0);
	buf_adds(conn_output(lost), LOST);
	conn_hurry(lost);
	front_hurry(rig.front);
	ck_assert_uint_gt(buf_len(conn_output(lost)), strlen(LOST));
	client_send(&heir, "PING\n");
	client_expect(&heir, OK);
	/* It is told as soon as it reads. */
	while (buf_len(&loser.got) < sizeof(noise) + strlen(LOST))
		client_pump(&loser);
	buf_consume(&loser.got, sizeof(noise));
	client_expect(&loser, LOST);
	client_close(&loser);
	client_close(&heir);
	rig_fini(&rig);
}
END_TEST

START_TEST(who_is_hurried_may_go)
{
	struct client cl;
	struct conn *c;
	struct rig rig;

	rig_init(&rig);
	c = meet(&cl, &rig);
	buf_adds(conn_output(c), LOST);
	conn_hurry(c);
	conn_kill(c);
	rig_turn(&rig);
	ck_assert_uint_eq(front_count(rig.front), 0);
	client_close(&cl);
	c = meet(&cl, &rig);
	buf_adds(conn_output(c), LOST);
	conn_hurry(c);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

static const char *const lines[] = { "PING\n", "NOSUCH\n", "LOCK a b=c\n",
	"@t UNLOCK-FORCE a\n", "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n" };

START_TEST(what_is_overdue_is_told_before_any_answer)
{
	struct client cl;
	struct rig rig;
	struct conn *c;

	rig_init(&rig);
	rig.limits.line = 32;
	rig_set_limits(&rig);
	client_open(&cl, &rig, OVER_TCP);
	client_send(&cl, "PING\n");
	client_expect(&cl, OK);
	c = front_find(rig.front, rig.last);
	rig.overdue = c;
	client_send(&cl, lines[_i]);
	client_expect(&cl, LOST);
	ck_assert_ptr_null(rig.overdue);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

#define CROWD 8
#define LINES_EACH 20

/* A crowd that sends many lines at a time. */
static void
crowd_open(struct client crowd[CROWD], struct rig *rig, int64_t costs_us)
{
	char flood[LINES_EACH * 5 + 1] = "";
	int i;

	rig_init(rig);
	for (i = 0; i < LINES_EACH; i++)
		strcat(flood, "PING\n");
	for (i = 0; i < CROWD; i++)
		(void)meet(&crowd[i], rig);
	rig->costs_us = costs_us;
	rig->requests = 0;
	for (i = 0; i < CROWD; i++)
		client_send(&crowd[i], flood);
}

static void
crowd_close(struct client crowd[CROWD], struct rig *rig)
{
	int i;

	for (i = 0; i < CROWD; i++)
		client_close(&crowd[i]);
	rig_fini(rig);
}

/* Each line costs 0.1 ms: a turn ends with the share in which 1 ms is
 * exceeded. */
START_TEST(many_that_flood_make_no_long_turn)
{
	struct client crowd[CROWD];
	unsigned before, turns = 0;
	struct rig rig;

	crowd_open(crowd, &rig, 100);
	while (rig.requests < CROWD * LINES_EACH) {
		before = rig.requests;
		rig_turn(&rig);
		ck_assert_uint_le(rig.requests - before, 12);
		ck_assert_uint_lt(++turns, 1000);
	}
	crowd_close(crowd, &rig);
}
END_TEST

/* One line takes a whole turn: the next turn belongs to the next client. */
START_TEST(a_turn_goes_on_where_the_last_one_stopped)
{
	struct client crowd[CROWD];
	uint64_t order[CROWD] = { 0 };
	unsigned i, before;
	struct rig rig;

	crowd_open(crowd, &rig, 1000);
	while (rig.requests < CROWD * LINES_EACH) {
		before = rig.requests;
		rig_turn(&rig);
		ck_assert_uint_le(rig.requests - before, 1);
		if (rig.requests == before)
			continue;
		i = before % CROWD;
		if (before < CROWD)
			order[i] = rig.by;
		ck_assert_uint_eq(rig.by, order[i]);
	}
	crowd_close(crowd, &rig);
}
END_TEST

/* One line takes more than a share: a turn has room for the first of two. */
START_TEST(a_share_is_bounded_by_time)
{
	struct client crowd[CROWD];
	struct rig rig;
	unsigned before;

	crowd_open(crowd, &rig, 600);
	while (rig.requests < CROWD * LINES_EACH) {
		before = rig.requests;
		rig_turn(&rig);
		ck_assert_uint_le(rig.requests - before, 2);
	}
	crowd_close(crowd, &rig);
}
END_TEST

/* Tagged or not: an answer in the making holds back the lines after it. */
START_TEST(an_answer_that_is_being_made)
{
	static const char *const asked[] = { "NAMES\nPING\n",
		"@t NAMES\nPING\n" };
	struct client cl, other;
	struct rig rig;

	rig_init(&rig);
	(void)meet(&cl, &rig);
	(void)meet(&other, &rig);
	client_send(&cl, asked[_i]);
	client_expect_silence(&cl);
	ck_assert_uint_eq(rig.requests, 3);
	client_send(&other, "PING\n");
	client_expect(&other, OK);
	client_shut(&cl);
	client_expect_silence(&cl);
	rig_made(&rig);
	client_expect(&cl, "OK lines=0\r\n" OK);
	client_expect_eof(&cl);
	client_close(&cl);
	client_close(&other);
	rig_fini(&rig);
}
END_TEST

/* Says so much to a client that its socket is full. */
static void
fill(struct rig *rig, struct conn *c)
{
	buf_add(conn_output(c), noise, sizeof(noise));
	rig_turn(rig);
	ck_assert_uint_gt(buf_len(conn_output(c)), 0);
}

START_TEST(long_answers_wait_until_all_is_read)
{
	struct client cl;
	struct rig rig;
	struct conn *c;

	rig_init(&rig);
	rig.limits.output = 4 * sizeof(noise);
	rig_set_limits(&rig);
	c = meet(&cl, &rig);
	fill(&rig, c);
	client_send(&cl, "PING\nNAMES\nPING\n");
	rig_expect_calm(&rig);
	ck_assert_uint_eq(rig.requests, 2);
	while (buf_len(&cl.got) < sizeof(noise))
		client_pump(&cl);
	buf_consume(&cl.got, sizeof(noise));
	client_expect(&cl, OK);
	while (rig.making == 0)
		rig_turn(&rig);
	rig_made(&rig);
	client_expect(&cl, "OK lines=0\r\n" OK);
	client_close(&cl);
	rig_fini(&rig);
}
END_TEST

/* Each client stays within its own limit. */
START_TEST(unread_by_all_together)
{
	struct client clients[4], reader;
	struct rig rig;
	int i;

	rig_init(&rig);
	rig.limits.output = 2 * sizeof(noise);
	rig_set_limits(&rig);
	front_bound_output(rig.front, 2 * sizeof(noise));
	(void)meet(&reader, &rig);
	for (i = 0; i < 4; i++)
		fill(&rig, meet(&clients[i], &rig));
	ck_assert_uint_le(front_stats(rig.front)->unread, 2 * sizeof(noise));
	ck_assert_uint_gt(front_stats(rig.front)->unread, 0);
	ck_assert_uint_gt(front_stats(rig.front)->too_slow, 0);
	/* The first clients are dropped, which have had the most time to
	 * read. */
	rig_turn(&rig);
	ck_assert_uint_eq(front_count(rig.front),
	    5 - (unsigned)front_stats(rig.front)->too_slow);
	while (!clients[0].eof && !clients[0].reset)
		client_pump(&clients[0]);
	ck_assert_uint_lt(buf_len(&clients[0].got), sizeof(noise));
	while (buf_len(&clients[3].got) < sizeof(noise))
		client_pump(&clients[3]);
	client_send(&reader, "PING\n");
	client_expect(&reader, OK);
	client_close(&reader);
	for (i = 0; i < 4; i++)
		client_close(&clients[i]);
	rig_turn(&rig);
	rig_turn(&rig);
	ck_assert_uint_eq(front_stats(rig.front)->unread, 0);
	rig_fini(&rig);
}
END_TEST

#define MANY_UNREAD 24

/* If clients are dropped, then enough of them that not every further byte drops
 * another. */
START_TEST(room_for_those_who_read)
{
	struct client clients[MANY_UNREAD];
	size_t bound = (MANY_UNREAD - 4) * sizeof(noise);
	uint64_t dropped = 0;
	struct rig rig;
	int i;

	rig_init(&rig);
	rig.limits.output = 2 * sizeof(noise);
	rig_set_limits(&rig);
	front_bound_output(rig.front, bound);
	for (i = 0; i < MANY_UNREAD; i++) {
		fill(&rig, meet(&clients[i], &rig));
		ck_assert_uint_le(front_stats(rig.front)->unread, bound);
		if (front_stats(rig.front)->too_slow > dropped)
			ck_assert_uint_le(
			    front_stats(rig.front)->unread, bound - bound / 16);
		dropped = front_stats(rig.front)->too_slow;
	}
	ck_assert_uint_gt(dropped, 0);
	ck_assert_uint_lt(dropped, MANY_UNREAD / 2);
	for (i = 0; i < MANY_UNREAD; i++)
		client_close(&clients[i]);
	rig_turn(&rig);
	rig_turn(&rig);
	rig_fini(&rig);
}
END_TEST

#define MANY 250

static void
reload(struct rig *rig)
{
	rig->reloaded = rig->reloads_over = 0;
	rig_set_limits(rig);
	ck_assert_uint_eq(rig->reloaded, 0);
	rig_turn(rig);
	ck_assert_uint_gt(rig->reloaded, 0);
	ck_assert_uint_lt(rig->reloaded, MANY);
	ck_assert_uint_eq(rig->reloads_over, 0);
}

/* The rig checks that no request is handled before its connection noted the
 * reload. */
START_TEST(a_reload_takes_some_turns)
{
	static struct client clients[MANY], late;
	struct rig rig;
	unsigned i;

	rig_init(&rig);
	rig.limits.clients = MANY + 1;
	rig_set_limits(&rig);
	for (i = 0; i < MANY; i++)
		client_open(&clients[i], &rig, OVER_UNIX);
	reload(&rig);
	for (i = 0; i < MANY; i++)
		client_send(&clients[i], "PING\n");
	for (i = 0; i < MANY; i++)
		client_expect(&clients[i], OK);
	while (rig.reloads_over == 0)
		rig_turn(&rig);
	ck_assert_uint_eq(rig.reloaded, MANY);
	/* A client that comes meanwhile needs no note; another reload is for
	 * all. */
	reload(&rig);
	client_open(&late, &rig, OVER_UNIX);
	reload(&rig);
	while (rig.reloads_over == 0)
		rig_turn(&rig);
	ck_assert_uint_eq(rig.reloaded, MANY + 1);
	rig_expect_calm(&rig);
	ck_assert_uint_eq(rig.reloads_over, 1);
	client_close(&late);
	for (i = 0; i < MANY; i++)
		client_close(&clients[i]);
	rig_fini(&rig);
}
END_TEST

TCase *
turns_cases(void)
{
	TCase *tc = tcase_create("turns");

	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, who_is_read_first_is_served_first);
	tcase_add_test(tc, what_waited_for_an_answer_goes_along);
	tcase_add_test(tc, a_loss_leaves_before_all_else);
	tcase_add_test(tc, room_for_those_who_read);
	tcase_add_test(tc, a_loss_that_is_not_read_holds_up_nobody);
	tcase_add_test(tc, who_is_hurried_may_go);
	tcase_add_loop_test(tc, what_is_overdue_is_told_before_any_answer, 0,
	    (int)COUNT(lines));
	tcase_add_test(tc, many_that_flood_make_no_long_turn);
	tcase_add_test(tc, a_turn_goes_on_where_the_last_one_stopped);
	tcase_add_test(tc, a_share_is_bounded_by_time);
	tcase_add_loop_test(tc, an_answer_that_is_being_made, 0, 2);
	tcase_add_test(tc, long_answers_wait_until_all_is_read);
	tcase_add_test(tc, unread_by_all_together);
	tcase_add_test(tc, a_reload_takes_some_turns);
	return tc;
}
