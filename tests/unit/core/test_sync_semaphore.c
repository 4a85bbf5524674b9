/*
 * Stories of semaphores.
 */
#include "config.h"

#include "core/dump.h"
#include "core/sync/sync.h"
#include "core/turn/turn.h"
#include "core/turn/work.h"
#include "sync_rig.h"
#include "test_sync.h"

#define FOREVER CORE_WAIT_FOREVER

/* Session 1 has both permits of a semaphore "s". */
static void
start_with_two(void)
{
	rig_start();
	rig_acquire(1, 1, "s", 2, 2, FOREVER);
	rig_did("take s need=2 want=2 limit=2 queue");
	rig_outcome(OUTCOME_TAKEN, 2, 0);
	rig_did("1/1 OK permits=2 free=0");
}

START_TEST(taken_and_given_back)
{
	start_with_two();
	rig_release(1, 2, "s", 1);
	rig_did("hold s have=1 limit=2");
	rig_outcome(OUTCOME_KEPT, 1, 1);
	rig_did("1/2 OK permits=1");
	rig_release(1, 3, "s", 2);
	rig_did("1/3 ERR not-held");
	rig_release(1, 4, "s", 1);
	rig_did("hold s limit=2");
	rig_outcome(OUTCOME_KEPT, 0, 2);
	rig_did("1/4 OK permits=0");
	rig_release(1, 5, "s", 1);
	rig_did("1/5 ERR not-held");
	rig_pass(2 * RIG_LEASE_MS);
	rig_did("");
}
END_TEST

START_TEST(handed_over_without_the_store)
{
	start_with_two();
	rig_acquire(2, 1, "s", 2, 1, FOREVER);
	rig_acquire(3, 1, "s", 2, 1, FOREVER);
	rig_did("");
	rig_release(1, 2, "s", 2);
	rig_did("1/2 OK permits=0; 2/1 OK permits=1 free=1; "
		"3/1 OK permits=1 free=0");
	rig_acquire(1, 3, "s", 2, 1, FOREVER);
	rig_gone(2);
	rig_did("1/3 OK permits=1 free=0");
}
END_TEST

START_TEST(a_large_request_is_not_passed)
{
	start_with_two();
	rig_acquire(2, 1, "s", 2, 2, FOREVER);
	rig_acquire(3, 1, "s", 2, 1, FOREVER);
	rig_acquire(4, 1, "s", 2, 1, 0);
	rig_did("4/1 BUSY");
	rig_release(1, 2, "s", 1);
	/* One is not enough for it, and another broker might use it. */
	rig_did("take s have=1 need=2 want=2 limit=2 queue");
}
END_TEST

START_TEST(the_queue_of_the_store)
{
	rig_start();
	rig_acquire(1, 1, "s", 2, 1, FOREVER);
	rig_did("take s need=1 want=1 limit=2 queue");
	rig_outcome_full(OUTCOME_QUEUED, 0, 0, 4000, false, 0);
	rig_acquire(2, 1, "s", 2, 1, 0);
	rig_did("2/1 BUSY");
	/* It looks when what another has runs out. */
	rig_pass(4010);
	rig_did("take s need=1 want=1 limit=2 queue");
	rig_outcome(OUTCOME_QUEUED, 0, 0);
	/* A message is a hint, no grant. */
	rig_message("permit 0 s");
	rig_did("take s need=1 want=1 limit=2 queue");
	rig_outcome(OUTCOME_TAKEN, 1, 1);
	rig_did("1/1 OK permits=1 free=1");
	rig_message("permit 0 s");
	rig_message("permit 0 other");
	rig_message("permit 7 s");
	rig_did("");
}
END_TEST

START_TEST(a_place_that_nobody_needs)
{
	rig_start();
	rig_acquire(1, 1, "s", 2, 1, 100);
	rig_did("take s need=1 want=1 limit=2 queue");
	rig_outcome(OUTCOME_QUEUED, 0, 0);
	rig_pass(100);
	rig_did("1/1 TIMEOUT; hold s limit=2");
	rig_outcome(OUTCOME_KEPT, 0, 0);
	rig_did("");
}
END_TEST

START_TEST(turns)
{
	unsigned i;

	start_with_two();
	rig_message("permit-wanted 0 s");
	for (i = 0; i < 4; i++) {
		rig_acquire(2 + i, 1, "s", 2, 2, FOREVER);
		rig_gone(i == 0 ? 1 : 1 + i);
	}
	rig_did("2/1 OK permits=2 free=0; 3/1 OK permits=2 free=0; "
		"4/1 OK permits=2 free=0; 5/1 OK permits=2 free=0");
	/* Four handovers were its turn. */
	rig_acquire(6, 1, "s", 2, 1, FOREVER);
	rig_gone(5);
	rig_did("take s need=1 want=1 limit=2 queue");
	rig_outcome_full(OUTCOME_QUEUED, 0, 0, -1, true, 0);
	rig_did("");
}
END_TEST

START_TEST(a_message_before_the_reply)
{
	unsigned i;

	rig_start();
	rig_acquire(1, 1, "s", 2, 2, FOREVER);
	rig_message("permit-wanted 0 s");
	rig_outcome(OUTCOME_TAKEN, 2, 0);
	rig_did("take s need=2 want=2 limit=2 queue; 1/1 OK permits=2 free=0");
	for (i = 0; i < 5; i++) {
		rig_acquire(2 + i, 1, "s", 2, 2, FOREVER);
		rig_gone(1 + i);
	}
	rig_did("2/1 OK permits=2 free=0; 3/1 OK permits=2 free=0; "
		"4/1 OK permits=2 free=0; 5/1 OK permits=2 free=0; "
		"take s need=2 want=2 limit=2 queue");
}
END_TEST

START_TEST(a_turn_is_a_lease_at_most)
{
	start_with_two();
	rig_message("permit-wanted 0 s");
	rig_acquire(2, 1, "s", 2, 1, FOREVER);
	rig_pass(RIG_LEASE_MS / 3);
	rig_did("hold s have=2 limit=2");
	rig_outcome_full(OUTCOME_KEPT, 2, 0, -1, true, 0);
	rig_pass(RIG_LEASE_MS / 3);
	rig_outcome_full(OUTCOME_KEPT, 2, 0, -1, true, 0);
	rig_pass(RIG_LEASE_MS / 3);
	rig_outcome_full(OUTCOME_KEPT, 2, 0, -1, true, 0);
	rig_did("hold s have=2 limit=2; hold s have=2 limit=2");
	rig_pass(1);
	rig_release(1, 2, "s", 2);
	rig_did("take s need=1 want=1 limit=2 queue");
	rig_outcome_full(OUTCOME_QUEUED, 0, 0, -1, true, 0);
	rig_did("1/2 OK permits=0");
}
END_TEST

START_TEST(unknown_outcomes_change_nothing)
{
	rig_start();
	rig_acquire(1, 1, "s", 2, 1, FOREVER);
	rig_did("take s need=1 want=1 limit=2 queue");
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_pass(60);
	rig_did("take s need=1 want=1 limit=2 queue");
	rig_outcome(OUTCOME_TAKEN, 1, 1);
	rig_did("1/1 OK permits=1 free=1");
	rig_release(1, 2, "s", 1);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_did("hold s limit=2; 1/2 OK permits=0 deferred=1");
	rig_pass(60);
	rig_did("hold s limit=2");
	rig_outcome(OUTCOME_KEPT, 0, 0);
	rig_did("");
}
END_TEST

START_TEST(unknown_and_given_up)
{
	rig_start();
	rig_acquire(1, 1, "s", 2, 1, 100);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_gone(1);
	rig_pass(60);
	rig_did("take s need=1 want=1 limit=2 queue; hold s limit=2");
	rig_outcome(OUTCOME_KEPT, 0, 0);
	rig_did("");
}
END_TEST

START_TEST(at_risk_and_safe_again)
{
	start_with_two();
	rig_pass(RIG_LEASE_MS / 3);
	rig_did("hold s have=2 limit=2");
	rig_pass(RIG_LEASE_MS / 6 + 1);
	rig_did("1 !ATRISK s kind=semaphore permits=2 left=4898");
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_pass(60);
	rig_outcome(OUTCOME_KEPT, 2, 0);
	rig_did("hold s have=2 limit=2; 1 !SAFE s kind=semaphore permits=2");
}
END_TEST

START_TEST(lost_when_nothing_is_confirmed)
{
	start_with_two();
	rig_link(false);
	rig_acquire(2, 1, "s", 2, 1, FOREVER);
	rig_pass(RIG_LEASE_MS - RIG_LEASE_MS / 100 - 2);
	rig_did("1 !ATRISK s kind=semaphore permits=2 left=4898; "
		"1 !LOST s kind=semaphore permits=2 reason=unreachable");
	rig_release(1, 2, "s", 2);
	rig_did("1/2 ERR not-held");
	rig_link(true);
	rig_did("take s need=1 want=1 limit=2 queue");
}
END_TEST

START_TEST(lost_in_the_store)
{
	start_with_two();
	rig_pass(RIG_LEASE_MS / 3);
	rig_outcome(OUTCOME_LOST, 0, 0);
	rig_did("hold s have=2 limit=2; "
		"1 !LOST s kind=semaphore permits=2 reason=taken; "
		"hold s limit=2");
}
END_TEST

START_TEST(written_again_on_another_history)
{
	start_with_two();
	rig_acquire(2, 1, "s", 2, 1, FOREVER);
	rig_pending("r:1");
	rig_did("hold s have=2 limit=2");
	rig_outcome(OUTCOME_KEPT, 2, 0);
	rig_acquire(3, 1, "t", 2, 1, 0);
	rig_did("3/1 ERR unavailable");
	rig_release(1, 2, "s", 2);
	rig_did("hold s have=1 limit=2; 2/1 OK permits=1 free=1");
	rig_pending("r:2");
	rig_outcome(OUTCOME_LOST, 0, 0);
	rig_did("2 !LOST s kind=semaphore permits=1 reason=failover; "
		"1/2 OK permits=0; hold s limit=2");
}
END_TEST

START_TEST(a_late_grant_is_none)
{
	rig_start();
	rig_acquire(1, 1, "s", 2, 1, FOREVER);
	rig_pass(RIG_LEASE_MS);
	rig_did("take s need=1 want=1 limit=2 queue");
	rig_outcome(OUTCOME_TAKEN, 1, 1);
	rig_did("take s need=1 want=1 limit=2 queue");
	rig_outcome(OUTCOME_TAKEN, 1, 1);
	rig_did("1/1 OK permits=1 free=1");
}
END_TEST

START_TEST(bounds)
{
	rig_start();
	rig_hold(1, 1, "s", 2, 500);
	rig_outcome(OUTCOME_TAKEN, 1, 1);
	rig_did("take s need=1 want=1 limit=2 queue; 1/1 OK permits=1 free=1");
	ck_assert_int_le(core_ping(rig_core(), 1000000, 1), 500);
	ck_assert_int_ge(core_ping(rig_core(), 1000000, 1), 490);
	rig_hold(1, 2, "s", 2, 700);
	rig_outcome(OUTCOME_TAKEN, 2, 0);
	rig_did("take s have=1 need=1 want=1 limit=2 queue; "
		"1/2 OK permits=2 free=0");
	ck_assert_int_ge(core_ping(rig_core(), 1000000, 1), 690);
	rig_pass(700);
	rig_did("1 !LOST s kind=semaphore permits=2 reason=hold; "
		"hold s limit=2");
}
END_TEST

START_TEST(mismatches)
{
	start_with_two();
	rig_acquire(2, 1, "s", 3, 1, FOREVER);
	rig_did("2/1 ERR mismatch");
	rig_acquire(2, 2, "t", 3, 1, FOREVER);
	rig_acquire(3, 1, "t", 3, 1, 0);
	rig_did("take t need=1 want=1 limit=3 queue");
	rig_outcome(OUTCOME_MISMATCH, 0, 0);
	rig_did("2/2 ERR mismatch; take t need=1 want=1 limit=3");
	rig_outcome(OUTCOME_BUSY, 0, 0);
	rig_did("3/1 BUSY");
}
END_TEST

START_TEST(who_does_not_wait_for_redis)
{
	rig_start();
	rig_acquire(1, 1, "s", 2, 1, FOREVER);
	rig_outcome(OUTCOME_REFUSED, 0, 0);
	rig_acquire(2, 1, "s", 2, 1, 0);
	rig_did("take s need=1 want=1 limit=2 queue; 2/1 ERR unavailable");
	rig_drain(1);
	rig_did("1/1 CANCELLED");
	rig_pass(1000);
	rig_did("hold s limit=2");
	rig_outcome(OUTCOME_KEPT, 0, 0);
	rig_acquire(2, 2, "s", 2, 1, 0);
	rig_link(false);
	rig_outcome(OUTCOME_UNSENT, 0, 0);
	rig_did("take s need=1 want=1 limit=2");
	rig_pass(RIG_REPLY_MS);
	rig_did("2/2 ERR unavailable");
}
END_TEST

START_TEST(cancelled)
{
	start_with_two();
	rig_acquire(2, 1, "s", 2, 1, FOREVER);
	rig_cancel(2, 1, 2);
	rig_did("2/1 CANCELLED; 2/2 OK");
	rig_cancel(2, 1, 3);
	rig_did("2/3 ERR not-found");
}
END_TEST

START_TEST(stopping)
{
	start_with_two();
	rig_acquire(2, 1, "s", 2, 1, FOREVER);
	rig_stopping();
	ck_assert(!core_stopped(rig_core()));
	rig_did("1 !SHUTDOWN; 2 !SHUTDOWN; 2/1 ERR shutdown; hold s limit=2");
	rig_acquire(2, 2, "s", 2, 1, FOREVER);
	rig_did("2/2 ERR shutdown");
	rig_outcome(OUTCOME_KEPT, 0, 0);
	rig_did("");
}
END_TEST

/* Others in a step may have used up its work each time. */
START_TEST(all_are_looked_at_without_any_work_left)
{
	unsigned steps = 0;

	start_with_two();
	rig_acquire(2, 1, "t", 2, 2, FOREVER);
	rig_outcome(OUTCOME_TAKEN, 2, 0);
	sync_unproved(rig_core());
	work_begin(rig_core());
	ck_assert(!work_left(rig_core()));
	while (!sync_asserted(rig_core(), 0))
		ck_assert_uint_lt(++steps, 2);
	ck_assert_uint_eq(steps, 1);
}
END_TEST

TCase *
case_semaphore(void)
{
	TCase *t = tcase_create("semaphore");

	tcase_add_checked_fixture(t, NULL, rig_stop);
	tcase_add_test(t, taken_and_given_back);
	tcase_add_test(t, handed_over_without_the_store);
	tcase_add_test(t, a_large_request_is_not_passed);
	tcase_add_test(t, the_queue_of_the_store);
	tcase_add_test(t, a_place_that_nobody_needs);
	tcase_add_test(t, turns);
	tcase_add_test(t, a_message_before_the_reply);
	tcase_add_test(t, a_turn_is_a_lease_at_most);
	tcase_add_test(t, unknown_outcomes_change_nothing);
	tcase_add_test(t, unknown_and_given_up);
	tcase_add_test(t, at_risk_and_safe_again);
	tcase_add_test(t, lost_when_nothing_is_confirmed);
	tcase_add_test(t, lost_in_the_store);
	tcase_add_test(t, written_again_on_another_history);
	tcase_add_test(t, a_late_grant_is_none);
	tcase_add_test(t, bounds);
	tcase_add_test(t, mismatches);
	tcase_add_test(t, who_does_not_wait_for_redis);
	tcase_add_test(t, cancelled);
	tcase_add_test(t, stopping);
	tcase_add_test(t, all_are_looked_at_without_any_work_left);
	return t;
}
