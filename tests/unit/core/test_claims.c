/*
 * Very many requests for one semaphore, one latch or one barrier.
 */
#include "config.h"

#include "core/dump.h"
#include "suite.h"
#include "test_work.h"
#include "work_rig.h"

/* Requests of as many sessions, for one permit each. */
static void
acquire_all(struct work_rig *r, int64_t wait_ms)
{
	struct core_request rq = work_request(VERB_ACQUIRE);

	rq.number = 1;
	rq.limit = 2 * WORK_MANY;
	rq.wait_ms = wait_ms;
	work_ask_each(r, &rq, "s");
}

/* Each session gets a permit. */
static void
hold_all(struct work_rig *r)
{
	acquire_all(r, CORE_WAIT_FOREVER);
	r->permits = 2 * WORK_MANY;
	work_settle(r);
	ck_assert_uint_eq(r->replies[STATUS_OK], WORK_MANY);
	work_forget(r);
}

/* The permits come in one turn, and none waits for another operation. */
START_TEST(very_many_have_permits)
{
	struct core_request rq = work_request(VERB_RELEASE);

	work_init(&rig, WORK_MANY);
	hold_all(&rig);
	ck_assert_uint_le(rig.asked[OP_TAKE], 1);
	rq.number = 1;
	work_ask_each(&rig, &rq, "s");
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
	ck_assert_uint_lt(rig.asked[OP_HOLD], 10);
}
END_TEST

/* The sessions hear that their permits are at risk, and that they are safe. */
START_TEST(very_many_permits_are_at_risk)
{
	work_init(&rig, WORK_MANY);
	hold_all(&rig);
	work_link(&rig, false);
	work_pass(&rig, WORK_LEASE_MS / 2 + 100);
	ck_assert_uint_eq(rig.events[EVENT_ATRISK], WORK_MANY);
	work_link(&rig, true);
	work_settle(&rig);
	ck_assert_uint_eq(rig.events[EVENT_SAFE], WORK_MANY);
	ck_assert_uint_eq(rig.events[EVENT_LOST], 0);
}
END_TEST

/* All sessions lose their permits before any of them is told anything else. */
START_TEST(very_many_permits_are_lost)
{
	struct core_request rq = work_request(VERB_RELEASE);
	unsigned i;

	work_init(&rig, WORK_MANY);
	hold_all(&rig);
	rig.now_ms += WORK_LEASE_MS + 100;
	rq.number = 1;
	for (i = 1; i <= WORK_MANY; i += WORK_MANY / 10)
		work_ask(&rig, i, &rq, "s");
	ck_assert_uint_eq(rig.replies[STATUS_ERR], 10);
	ck_assert_uint_lt(rig.events[EVENT_LOST], WORK_MANY);
	ck_assert(core_has_losses(rig.core, rig.now_ms));
	while (core_has_losses(rig.core, rig.now_ms))
		work_tick(&rig, CORE_TIME);
	ck_assert_uint_eq(rig.events[EVENT_LOST], WORK_MANY);
	ck_assert_uint_lt(rig.steps, WORK_MANY / 100);
}
END_TEST

/* The lease runs out before any grant was told: no grant is told then. */
START_TEST(very_many_untold_permits_are_lost)
{
	work_init(&rig, WORK_MANY);
	acquire_all(&rig, CORE_WAIT_FOREVER);
	rig.permits = 2 * WORK_MANY;
	work_answer(&rig);
	work_catch_up(&rig);
	rig.now_ms += WORK_LEASE_MS + 100;
	work_tick(&rig, CORE_FLUSH);
	while (core_has_grants(rig.core))
		work_tick(&rig, CORE_FLUSH);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], WORK_MANY);
	ck_assert_uint_eq(rig.events[EVENT_LOST], 0);
}
END_TEST

/* Requests that do not wait are told that there is no permit. */
START_TEST(very_many_try_for_permits)
{
	struct outcome o = { .status = OUTCOME_BUSY, .text = "" };

	work_init(&rig, WORK_MANY);
	acquire_all(&rig, 0);
	rig.outcome = &o;
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_BUSY], WORK_MANY);
}
END_TEST

/* Other requests name another limit. */
START_TEST(very_many_mismatch)
{
	struct outcome o = { .status = OUTCOME_MISMATCH, .text = "" };

	work_init(&rig, WORK_MANY);
	acquire_all(&rig, CORE_WAIT_FOREVER);
	rig.outcome = &o;
	work_answer(&rig); /* the first alone; then all others */
	work_answer(&rig);
	ck_assert_uint_gt(rig.replies[STATUS_ERR], 0);
	ck_assert_uint_lt(rig.replies[STATUS_ERR], WORK_MANY);
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], WORK_MANY);
	ck_assert_uint_eq(rig.asked[OP_TAKE], 2);
}
END_TEST

/* One session has a permit of each of very many semaphores, counts on them by its
 * PINGs, and gives each back. */
START_TEST(a_session_has_permits_of_very_many)
{
	struct core_request rq = work_request(VERB_ACQUIRE);
	int64_t valid_ms;
	char name[16];
	unsigned i;

	work_init(&rig, 1);
	rq.number = rq.limit = 1;
	work_ask_names(&rig, 1, &rq, "s");
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
	for (i = 0; i < 8; i++) {
		work_pass(&rig, WORK_LEASE_MS / 4);
		valid_ms = core_ping(rig.core, rig.now_ms, 1);
		ck_assert_int_gt(valid_ms, 0);
		ck_assert_int_le(valid_ms, WORK_LEASE_MS);
	}
	work_forget(&rig);
	rq.verb = VERB_RELEASE;
	for (i = 0; i < WORK_MANY; i++) {
		snprintf(name, sizeof(name), "s%u", WORK_MANY - 1 - i);
		work_ask(&rig, 1, &rq, name);
	}
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
}
END_TEST

/* Latches. */

static void
await_all(struct work_rig *r)
{
	struct core_request rq = work_request(VERB_AWAIT);

	work_ask_each(r, &rq, "l");
}

START_TEST(very_many_wait_for_a_latch)
{
	struct outcome o = { .status = OUTCOME_OPEN, .text = "" };

	work_init(&rig, WORK_MANY);
	await_all(&rig);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	rig.outcome = &o;
	work_pass(&rig, WORK_LEASE_MS + 100);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
}
END_TEST

/* There is no latch.  While the requests are told so, a new one comes: Redis is
 * asked again. */
START_TEST(very_many_wait_for_no_latch)
{
	struct outcome o = { .status = OUTCOME_GONE, .text = "" };
	struct core_request rq = work_request(VERB_AWAIT);

	work_init(&rig, WORK_MANY + 1);
	await_all(&rig);
	rig.outcome = &o;
	work_answer(&rig); /* the first alone; then all others */
	work_answer(&rig);
	ck_assert_uint_lt(rig.replies[STATUS_ERR], WORK_MANY);
	work_ask(&rig, WORK_MANY + 1, &rq, "l");
	work_catch_up(&rig);
	rig.outcome = NULL;
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], WORK_MANY);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
}
END_TEST

/* Every request is answered, and requests that wait do not keep others from
 * asking. */
START_TEST(very_many_count_down)
{
	struct core_request rq = work_request(VERB_COUNTDOWN);

	work_init(&rig, WORK_MANY);
	rq.number = 1;
	work_ask_each(&rig, &rq, "l");
	rq.verb = VERB_AWAIT;
	work_ask(&rig, 1, &rq, "l");
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
	ck_assert_uint_gt(rig.asked[OP_AWAIT], 0);
}
END_TEST

/* Redis can't be reached: every request is told so. */
START_TEST(very_many_count_down_in_vain)
{
	struct core_request rq = work_request(VERB_COUNTDOWN);

	work_init(&rig, WORK_MANY);
	work_link(&rig, false);
	rq.number = 1;
	work_ask_each(&rig, &rq, "l");
	work_pass(&rig, 1100);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], WORK_MANY);
}
END_TEST

/* Barriers. */

static void
arrive(struct work_rig *r, unsigned first, unsigned last)
{
	struct core_request rq = work_request(VERB_BARRIER);
	unsigned i;

	rq.limit = WORK_MANY;
	for (i = first; i <= last; i++)
		work_ask(r, i, &rq, "b");
}

/* The last party comes: all of them go on. */
START_TEST(very_many_meet_at_a_barrier)
{
	work_init(&rig, WORK_MANY);
	arrive(&rig, 1, WORK_MANY - 1);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	arrive(&rig, WORK_MANY, WORK_MANY);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
}
END_TEST

/* The generation is complete, and counts as complete for parties whose time is
 * up at that moment. */
START_TEST(a_barrier_trips_while_time_is_up)
{
	struct core_request rq = work_request(VERB_BARRIER);
	unsigned i;

	work_init(&rig, WORK_MANY);
	rq.limit = WORK_MANY;
	rq.wait_ms = 1000;
	for (i = 1; i < WORK_MANY; i++)
		work_ask(&rig, i, &rq, "b");
	work_settle(&rig);
	arrive(&rig, WORK_MANY, WORK_MANY);
	while (rig.replies[STATUS_OK] == 0)
		work_answer(&rig);
	ck_assert_uint_lt(rig.replies[STATUS_OK], WORK_MANY);
	work_gone(&rig, WORK_MANY - 1, true);
	rig.now_ms += 1000;
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY - 1);
	ck_assert_uint_eq(rig.replies[STATUS_TIMEOUT], 0);
	ck_assert_uint_eq(rig.asked[OP_LEAVE], 1);
}
END_TEST

/* One party leaves: the barrier breaks for all others. */
START_TEST(a_barrier_of_very_many_breaks)
{
	struct outcome o = { .status = OUTCOME_ENDED, .text = "" };

	work_init(&rig, WORK_MANY);
	arrive(&rig, 1, WORK_MANY - 1);
	work_settle(&rig);
	work_gone(&rig, 1, true);
	rig.outcome = &o;
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], WORK_MANY - 2);
}
END_TEST

/* The store knows another number of parties. */
START_TEST(very_many_mismatch_at_a_barrier)
{
	struct outcome o = { .status = OUTCOME_MISMATCH, .text = "" };

	work_init(&rig, WORK_MANY);
	arrive(&rig, 1, WORK_MANY);
	rig.outcome = &o;
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], WORK_MANY);
}
END_TEST

TCase *
claim_cases(void)
{
	TCase *tc = tcase_create("claims");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, work_over);
	tcase_add_test(tc, very_many_have_permits);
	tcase_add_test(tc, very_many_permits_are_at_risk);
	tcase_add_test(tc, very_many_permits_are_lost);
	tcase_add_test(tc, very_many_untold_permits_are_lost);
	tcase_add_test(tc, very_many_try_for_permits);
	tcase_add_test(tc, very_many_mismatch);
	tcase_add_test(tc, a_session_has_permits_of_very_many);
	tcase_add_test(tc, very_many_wait_for_a_latch);
	tcase_add_test(tc, very_many_wait_for_no_latch);
	tcase_add_test(tc, very_many_count_down);
	tcase_add_test(tc, very_many_count_down_in_vain);
	tcase_add_test(tc, very_many_meet_at_a_barrier);
	tcase_add_test(tc, a_barrier_trips_while_time_is_up);
	tcase_add_test(tc, a_barrier_of_very_many_breaks);
	tcase_add_test(tc, very_many_mismatch_at_a_barrier);
	return tc;
}
