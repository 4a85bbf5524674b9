/*
 * Turns: what is told first, and whose turn it is.
 */
#include "config.h"

#include <string.h>

#include "front_rig.h"
#include "suite.h"
#include "test_front.h"

#define OK "OK\r\n"
#define LOST "!LOST a\r\n"

/* A client, and its connection in the front. */
static struct conn *
meet(struct client *cl, struct rig *rig)
{
	client_open(cl, rig, OVER_UNIX);
	client_send(cl, "PING\n");
	client_expect(cl, OK);
	return front_find(rig->front, rig->last);
}

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

/* It can't be written: others need not wait for a client that does not read. */
START_TEST(a_loss_that_is_not_read_holds_up_nobody)
{
	static const char noise[1 << 20];
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

TCase *
turns_cases(void)
{
	TCase *tc = tcase_create("turns");

	tcase_set_timeout(tc, 20);
	tcase_add_test(tc, a_loss_leaves_before_all_else);
	tcase_add_test(tc, a_loss_that_is_not_read_holds_up_nobody);
	tcase_add_test(tc, who_is_hurried_may_go);
	tcase_add_loop_test(tc, what_is_overdue_is_told_before_any_answer, 0,
	    (int)COUNT(lines));
	return tc;
}
