/*
 * Stories of latches.
 */
#include "config.h"

#include "sync_rig.h"
#include "test_sync.h"

#define FOREVER CORE_WAIT_FOREVER

START_TEST(made_counted_and_opened)
{
	rig_start();
	rig_latch(1, 1, "l", 3);
	rig_did("latch l need=3");
	rig_outcome(OUTCOME_MADE, 3, 0);
	rig_did("1/1 OK count=3");
	rig_await(2, 1, "l", FOREVER);
	rig_outcome(OUTCOME_SHUT, 3, 0);
	rig_did("await l");
	rig_countdown(1, 2, "l", 1);
	rig_outcome(OUTCOME_COUNTED, 3, 2);
	rig_did("countdown l need=1; 1/2 OK count=2");
	rig_message("open 0 l");
	rig_outcome(OUTCOME_OPEN, 0, 0);
	rig_did("await l; 2/1 OK");
}
END_TEST

START_TEST(opened_by_this_broker)
{
	rig_start();
	rig_await(1, 1, "l", FOREVER);
	rig_outcome(OUTCOME_SHUT, 1, 0);
	rig_countdown(2, 1, "l", 5);
	rig_outcome(OUTCOME_COUNTED, 1, 0);
	rig_did("await l; countdown l need=5; 2/1 OK count=0; 1/1 OK");
}
END_TEST

START_TEST(a_batch_is_counted_together)
{
	rig_start();
	rig_countdown(1, 1, "l", 1);
	rig_countdown(2, 1, "l", 2);
	rig_countdown(3, 1, "l", 3);
	rig_await(4, 1, "l", FOREVER);
	rig_outcome(OUTCOME_COUNTED, 10, 9);
	rig_did("countdown l need=1; 1/1 OK count=9; countdown l need=5");
	/* Another broker has counted 2 meanwhile. */
	rig_outcome(OUTCOME_COUNTED, 7, 2);
	rig_did("2/1 OK count=5; 3/1 OK count=2; await l");
	rig_outcome(OUTCOME_SHUT, 2, 0);
	rig_did("");
}
END_TEST

START_TEST(sent_again_as_it_was)
{
	rig_start();
	rig_countdown(1, 1, "l", 2);
	rig_countdown(2, 1, "l", 3);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_pass(60);
	rig_did("countdown l need=2; countdown l need=2");
	/* Even where it is certain that it was not carried out this time. */
	rig_outcome(OUTCOME_UNSENT, 0, 0);
	rig_pass(60);
	rig_did("countdown l need=2");
	rig_outcome(OUTCOME_COUNTED, 9, 7);
	rig_did("1/1 OK count=7; countdown l need=3");
	/* Never carried out: it may go with others. */
	rig_outcome(OUTCOME_UNSENT, 0, 0);
	rig_countdown(1, 2, "l", 1);
	rig_pass(60);
	rig_did("countdown l need=4");
}
END_TEST

START_TEST(unavailable)
{
	rig_start();
	rig_countdown(1, 1, "l", 2);
	rig_pass(RIG_REPLY_MS);
	rig_did("countdown l need=2");
	rig_countdown(2, 1, "l", 2);
	/* It may have been counted: that is worth as long again. */
	rig_pass(RIG_REPLY_MS);
	rig_did("1/1 ERR unavailable; 2/1 ERR unavailable");
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_pass(RIG_LEASE_MS);
	rig_did("");
}
END_TEST

START_TEST(not_found)
{
	rig_start();
	rig_await(1, 1, "l", FOREVER);
	rig_outcome(OUTCOME_GONE, 0, 0);
	rig_countdown(1, 2, "l", 1);
	rig_outcome(OUTCOME_GONE, 0, 0);
	rig_did("await l; 1/1 ERR not-found; countdown l need=1; "
		"1/2 ERR not-found");
	rig_latch(1, 3, "l", 1);
	rig_outcome(OUTCOME_EXISTS, 0, 0);
	rig_did("latch l need=1; 1/3 ERR exists");
}
END_TEST

START_TEST(lost_while_some_wait)
{
	rig_start();
	rig_await(1, 1, "l", FOREVER);
	rig_outcome(OUTCOME_SHUT, 1, 0);
	/* Once a lease it looks. */
	rig_pass(RIG_LEASE_MS);
	rig_outcome(OUTCOME_GONE, 0, 0);
	rig_did("await l; await l; 1/1 ERR not-found");
}
END_TEST

START_TEST(who_does_not_wait)
{
	rig_start();
	rig_await(1, 1, "l", 0);
	rig_await(2, 1, "l", 300);
	rig_await(3, 1, "l", FOREVER);
	rig_drain(3);
	rig_outcome(OUTCOME_SHUT, 1, 0);
	rig_did("await l; 1/1 TIMEOUT; await l");
	rig_outcome(OUTCOME_SHUT, 1, 0);
	rig_pass(300);
	rig_did("3/1 CANCELLED; 2/1 TIMEOUT");
}
END_TEST

START_TEST(while_redis_is_away)
{
	rig_start();
	rig_link(false);
	rig_await(1, 1, "l", 100);
	rig_countdown(2, 1, "l", 1);
	rig_await(3, 1, "l", FOREVER);
	rig_await(4, 1, "l", FOREVER);
	rig_drain(4);
	rig_did("4/1 CANCELLED");
	rig_pass(RIG_REPLY_MS);
	rig_did("1/1 ERR unavailable; 2/1 ERR unavailable");
	rig_link(true);
	rig_did("await l");
	rig_outcome(OUTCOME_OPEN, 0, 0);
	rig_did("3/1 OK");
}
END_TEST

TCase *
case_latch(void)
{
	TCase *t = tcase_create("latch");

	tcase_add_checked_fixture(t, NULL, rig_stop);
	tcase_add_test(t, made_counted_and_opened);
	tcase_add_test(t, opened_by_this_broker);
	tcase_add_test(t, a_batch_is_counted_together);
	tcase_add_test(t, sent_again_as_it_was);
	tcase_add_test(t, unavailable);
	tcase_add_test(t, not_found);
	tcase_add_test(t, lost_while_some_wait);
	tcase_add_test(t, who_does_not_wait);
	tcase_add_test(t, while_redis_is_away);
	return t;
}
