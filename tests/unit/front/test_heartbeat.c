/*
 * Heartbeats: a client that promised to send lines and does not is dropped
 * (lockbroker-protocol(7), SESSIONS).
 */
#include "config.h"

#include <time.h>

#include "front_rig.h"
#include "suite.h"
#include "test_front.h"

#define OK "OK\r\n"
#define BEAT_MS 400 /* much, for a machine that is busy */

static int64_t
now_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Connects a client that has said something and owes a line from now on. */
static void
begin(struct rig *rig, struct client *cl, int64_t beat_ms)
{
	rig_init(rig);
	client_open(cl, rig, OVER_UNIX);
	client_send(cl, "PING\n");
	client_expect(cl, OK);
	rig_expect_trace(rig, "open");
	conn_set_heartbeat(front_find(rig->front, rig->last), beat_ms);
}

static void
end(struct rig *rig, struct client *cl)
{
	client_close(cl);
	rig_fini(rig);
}

static void
turn_for(struct rig *rig, int64_t ms)
{
	int64_t until_ms = now_ms() + ms;

	while (now_ms() < until_ms)
		rig_turn(rig);
}

static void
expect_dropped(struct rig *rig, struct client *cl, int64_t since_ms)
{
	rig_expect_trace(rig, "gone-");
	ck_assert_int_ge(now_ms() - since_ms, BEAT_MS);
	client_expect_eof(cl);
}

START_TEST(who_is_silent_is_dropped)
{
	int64_t since_ms = now_ms();
	struct client cl;
	struct rig rig;

	begin(&rig, &cl, BEAT_MS);
	expect_dropped(&rig, &cl, since_ms);
	end(&rig, &cl);
}
END_TEST

START_TEST(half_a_line_is_none)
{
	int64_t since_ms = now_ms();
	struct client cl;
	struct rig rig;

	begin(&rig, &cl, BEAT_MS);
	client_send(&cl, "PIN");
	expect_dropped(&rig, &cl, since_ms);
	end(&rig, &cl);
}
END_TEST

START_TEST(lines_put_it_off)
{
	int64_t until_ms = now_ms() + 2 * BEAT_MS, last_ms;
	struct client cl;
	struct rig rig;

	begin(&rig, &cl, BEAT_MS);
	do {
		turn_for(&rig, BEAT_MS / 8);
		last_ms = now_ms();
		client_send(&cl, "PING\n");
		client_expect(&cl, OK);
	} while (last_ms < until_ms);
	expect_dropped(&rig, &cl, last_ms);
	end(&rig, &cl);
}
END_TEST

START_TEST(it_stands_still_while_a_request_waits)
{
	struct client cl;
	struct rig rig;
	int64_t answered_ms;

	begin(&rig, &cl, BEAT_MS);
	client_send(&cl, "LOCK a\n");
	turn_for(&rig, 2 * BEAT_MS);
	ck_assert_uint_eq(rig.ndeferred, 1);
	answered_ms = now_ms();
	rig_answer(&rig, STATUS_OK);
	client_expect(&cl, OK);
	turn_for(&rig, BEAT_MS / 8);
	rig_expect_trace(&rig, "");
	expect_dropped(&rig, &cl, answered_ms);
	end(&rig, &cl);
}
END_TEST

START_TEST(a_tagged_request_does_not_stop_it)
{
	int64_t since_ms = now_ms();
	struct client cl;
	struct rig rig;

	begin(&rig, &cl, BEAT_MS);
	client_send(&cl, "@1 LOCK a\n");
	expect_dropped(&rig, &cl, since_ms);
	end(&rig, &cl);
}
END_TEST

START_TEST(zero_removes_it)
{
	struct client cl;
	struct rig rig;

	begin(&rig, &cl, BEAT_MS);
	conn_set_heartbeat(front_find(rig.front, rig.last), 0);
	turn_for(&rig, 2 * BEAT_MS);
	rig_expect_calm(&rig);
	rig_expect_trace(&rig, "");
	client_send(&cl, "PING\n");
	client_expect(&cl, OK);
	end(&rig, &cl);
}
END_TEST

TCase *
heartbeat_cases(void)
{
	TCase *tc = tcase_create("heartbeat");

	tcase_add_test(tc, who_is_silent_is_dropped);
	tcase_add_test(tc, half_a_line_is_none);
	tcase_add_test(tc, lines_put_it_off);
	tcase_add_test(tc, it_stands_still_while_a_request_waits);
	tcase_add_test(tc, a_tagged_request_does_not_stop_it);
	tcase_add_test(tc, zero_removes_it);
	return tc;
}
