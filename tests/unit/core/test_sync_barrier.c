/*
 * Stories of barriers.
 */
#include "config.h"

#include "sync_rig.h"
#include "test_sync.h"

#define FOREVER CORE_WAIT_FOREVER
#define GEN 70

/* What became of our places in generation GEN; `took` new ones from `first`. */
static void
outcome(enum outcome_status status, uint64_t first, uint64_t took)
{
	rig_outcome_full(status, first, took, -1, false, GEN);
}

/* Session 1 waits, the first of three. */
static void
start_with_one(void)
{
	rig_start();
	rig_barrier(1, 1, "b", 3, FOREVER);
	outcome(OUTCOME_WAITING, 0, 1);
	rig_did("arrive b need=1 limit=3");
}

START_TEST(complete_here)
{
	start_with_one();
	rig_barrier(2, 1, "b", 3, FOREVER);
	rig_did("arrive b need=1 limit=3 gen=70");
	rig_barrier(3, 1, "b", 3, FOREVER);
	outcome(OUTCOME_WAITING, 1, 1);
	rig_did("arrive b need=1 limit=3 gen=70");
	outcome(OUTCOME_TRIPPED, 2, 1);
	rig_did("1/1 OK index=2 generation=70; 2/1 OK index=1 generation=70; "
		"3/1 OK index=0 generation=70; leave b limit=3 noted");
	rig_outcome(OUTCOME_ENDED, 0, 0);
	rig_pass(2 * RIG_LEASE_MS);
	rig_did("");
}
END_TEST

START_TEST(complete_elsewhere)
{
	start_with_one();
	rig_message("barrier 0 b");
	rig_did("party b limit=3 gen=70");
	outcome(OUTCOME_TRIPPED, 0, 0);
	rig_did("1/1 OK index=2 generation=70; leave b limit=3 noted");
	/* The next to arrive says as much. */
	rig_barrier(1, 2, "b", 3, FOREVER);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_pass(60);
	rig_did("arrive b need=1 limit=3");
}
END_TEST

START_TEST(a_place_is_kept_and_looked_after)
{
	start_with_one();
	rig_pass(RIG_LEASE_MS / 3);
	rig_did("party b limit=3 gen=70");
	rig_outcome_full(OUTCOME_WAITING, 0, 0, 500, false, GEN);
	/* When another's place runs out, somebody must notice. */
	rig_pass(502);
	rig_did("party b limit=3 gen=70");
	outcome(OUTCOME_BROKEN, 0, 0);
	rig_did("1/1 ERR broken; leave b limit=3 noted");
}
END_TEST

START_TEST(a_time_out_breaks_it)
{
	start_with_one();
	rig_barrier(2, 1, "b", 3, 100);
	outcome(OUTCOME_WAITING, 1, 1);
	rig_pass(100);
	rig_did("arrive b need=1 limit=3 gen=70; leave b limit=3");
	rig_outcome(OUTCOME_ENDED, 0, 0);
	rig_did("1/1 ERR broken; 2/1 TIMEOUT");
}
END_TEST

START_TEST(too_late_to_leave)
{
	start_with_one();
	rig_barrier(2, 1, "b", 3, FOREVER);
	outcome(OUTCOME_WAITING, 1, 1);
	rig_cancel(2, 1, 2);
	rig_did("arrive b need=1 limit=3 gen=70; leave b limit=3");
	outcome(OUTCOME_TRIPPED, 0, 0);
	rig_did("1/1 OK index=2 generation=70; 2/2 ERR not-found; "
		"2/1 OK index=1 generation=70; leave b limit=3 noted");
}
END_TEST

START_TEST(cancelled)
{
	start_with_one();
	rig_cancel(1, 1, 2);
	rig_did("leave b limit=3");
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_pass(60);
	rig_did("leave b limit=3");
	rig_outcome(OUTCOME_GONE, 0, 0);
	rig_did("1/1 CANCELLED; 1/2 OK");
}
END_TEST

START_TEST(a_drop_breaks_it)
{
	start_with_one();
	rig_barrier(2, 1, "b", 3, FOREVER);
	rig_gone(2);
	rig_did("arrive b need=1 limit=3 gen=70");
	outcome(OUTCOME_WAITING, 1, 1);
	rig_did("leave b limit=3");
	rig_outcome(OUTCOME_ENDED, 0, 0);
	rig_did("1/1 ERR broken");
}
END_TEST

START_TEST(a_drop_before_it_arrived)
{
	start_with_one();
	rig_barrier(2, 1, "b", 3, FOREVER);
	rig_gone(2);
	outcome(OUTCOME_UNSENT, 0, 0);
	rig_pass(60);
	rig_did("arrive b need=1 limit=3 gen=70");
}
END_TEST

START_TEST(asked_again_under_the_same_number)
{
	rig_start();
	rig_barrier(1, 1, "b", 2, FOREVER);
	rig_barrier(2, 1, "b", 2, FOREVER);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_pass(60);
	rig_did("arrive b need=1 limit=2; arrive b need=1 limit=2");
	outcome(OUTCOME_WAITING, 0, 1);
	rig_did("arrive b need=1 limit=2 gen=70");
	outcome(OUTCOME_TRIPPED, 1, 1);
	rig_did("1/1 OK index=1 generation=70; 2/1 OK index=0 generation=70; "
		"leave b limit=2 noted");
}
END_TEST

/* Others may have gone on with a generation that had it. */
START_TEST(forgotten_before_it_was_known)
{
	rig_start();
	rig_barrier(1, 1, "b", 2, FOREVER);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_pending("p2");
	rig_pass(60);
	rig_barrier(2, 1, "b", 2, FOREVER);
	rig_did("arrive b need=1 limit=2");
	rig_blessed();
	rig_did("arrive b limit=2");
	rig_outcome_full(OUTCOME_BROKEN, 0, 0, -1, false, 0);
	rig_did("1/1 ERR broken; arrive b need=1 limit=2");
}
END_TEST

START_TEST(kept_by_another_history)
{
	rig_start();
	rig_barrier(1, 1, "b", 1, FOREVER);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_pending("p2");
	rig_blessed();
	rig_pass(60);
	rig_did("arrive b need=1 limit=1; arrive b limit=1");
	outcome(OUTCOME_TRIPPED, 0, 1);
	rig_did("1/1 OK index=0 generation=70; leave b limit=1 noted");
}
END_TEST

START_TEST(too_long_unknown)
{
	rig_start();
	rig_barrier(1, 1, "b", 2, FOREVER);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_link(false);
	rig_pass(2 * RIG_LEASE_MS);
	rig_link(true);
	rig_did("arrive b need=1 limit=2; arrive b limit=2");
	rig_outcome_full(OUTCOME_BROKEN, 0, 0, -1, false, 0);
	rig_did("1/1 ERR broken; leave b limit=2 noted");
}
END_TEST

START_TEST(the_dead_do_not_arrive)
{
	rig_start();
	rig_barrier(1, 1, "b", 2, FOREVER);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_gone(1);
	rig_pass(60);
	/* Only what became of it is asked for. */
	rig_did("arrive b need=1 limit=2; arrive b limit=2");
	outcome(OUTCOME_WAITING, 0, 1);
	rig_did("leave b limit=2");
	rig_outcome(OUTCOME_ENDED, 0, 0);
	rig_did("");
}
END_TEST

/* Two arrive with one operation. */
static void
ask_for_two(uint64_t ref, unsigned parties, int64_t wait_ms)
{
	rig_barrier(1, ref, "b", parties, wait_ms);
	rig_barrier(2, ref, "b", parties, FOREVER);
	outcome(OUTCOME_UNSENT, 0, 0);
	rig_pass(60);
}

/* Nobody knows whether they have, until one of them has been answered. */
static void
deny_one_of_two(uint64_t ref, unsigned parties)
{
	ask_for_two(ref, parties, 1000);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_pass(1000 + RIG_REPLY_MS);
}

START_TEST(ours_alone_and_one_was_answered)
{
	rig_start();
	deny_one_of_two(1, 2);
	rig_did("arrive b need=1 limit=2; arrive b need=2 limit=2; "
		"arrive b need=2 limit=2; 1/1 TIMEOUT");
	outcome(OUTCOME_TRIPPED, 0, 2);
	rig_did("2/1 ERR broken; leave b limit=2 noted");
	/* The same once more, in the next generation. */
	deny_one_of_two(2, 2);
	outcome(OUTCOME_TRIPPED, 0, 2);
	rig_did("arrive b need=2 limit=2; arrive b need=2 limit=2; "
		"1/2 TIMEOUT; 2/2 ERR broken; leave b limit=2 noted");
	/* Who is gone was not answered. */
	ask_for_two(3, 2, FOREVER);
	rig_gone(1);
	outcome(OUTCOME_TRIPPED, 0, 2);
	rig_did("arrive b need=2 limit=2; 2/3 OK index=0 generation=70; "
		"leave b limit=2 noted");
}
END_TEST

/* The third, elsewhere, may have been told that it is complete. */
START_TEST(others_may_have_been_told)
{
	rig_start();
	deny_one_of_two(1, 3);
	rig_did("arrive b need=1 limit=3; arrive b need=2 limit=3; "
		"arrive b need=2 limit=3; 1/1 TIMEOUT");
	outcome(OUTCOME_TRIPPED, 0, 2);
	rig_did("2/1 OK index=1 generation=70; leave b limit=3 noted");
}
END_TEST

/* Who was answered had no place in it. */
START_TEST(ours_alone_and_all_are_here)
{
	rig_start();
	rig_barrier(1, 1, "b", 2, FOREVER);
	outcome(OUTCOME_WAITING, 0, 1);
	rig_barrier(2, 1, "b", 2, FOREVER);
	rig_barrier(3, 1, "b", 2, 1000);
	outcome(OUTCOME_UNSENT, 0, 0);
	rig_pass(60);
	rig_did("arrive b need=1 limit=2; arrive b need=1 limit=2 gen=70; "
		"arrive b need=2 limit=2 gen=70");
	rig_pass(1000 + RIG_REPLY_MS);
	outcome(OUTCOME_TRIPPED, 1, 1);
	rig_did("3/1 TIMEOUT; 1/1 OK index=1 generation=70; "
		"2/1 OK index=0 generation=70; leave b limit=2 noted");
}
END_TEST

START_TEST(one_is_cancelled_while_another_arrives)
{
	rig_start();
	rig_barrier(1, 1, "b", 2, FOREVER);
	outcome(OUTCOME_WAITING, 0, 1);
	rig_barrier(2, 1, "b", 2, FOREVER);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_link(false);
	rig_cancel(1, 1, 2);
	rig_did("arrive b need=1 limit=2; arrive b need=1 limit=2 gen=70; "
		"1/1 CANCELLED; 1/2 OK");
	rig_pass(60);
	rig_link(true);
	/* It must not complete now what the other has left. */
	rig_did("arrive b limit=2 gen=70");
	outcome(OUTCOME_TRIPPED, 1, 1);
	rig_did("2/1 ERR broken; leave b limit=2 noted");
}
END_TEST

START_TEST(one_has_left_what_another_did_not_reach)
{
	start_with_one();
	rig_barrier(2, 1, "b", 3, FOREVER);
	rig_outcome(OUTCOME_UNKNOWN, 0, 0);
	rig_link(false);
	rig_gone(1);
	rig_pass(60);
	rig_link(true);
	rig_did("arrive b need=1 limit=3 gen=70; arrive b limit=3 gen=70");
	outcome(OUTCOME_WAITING, 0, 0);
	rig_did("leave b limit=3");
	rig_outcome(OUTCOME_ENDED, 0, 0);
	rig_did("arrive b need=1 limit=3");
}
END_TEST

START_TEST(more_than_there_is_room_for)
{
	rig_start();
	rig_barrier(1, 1, "b", 2, FOREVER);
	rig_barrier(2, 1, "b", 2, FOREVER);
	rig_barrier(3, 1, "b", 2, FOREVER);
	rig_barrier(4, 1, "b", 2, FOREVER);
	outcome(OUTCOME_WAITING, 0, 1);
	rig_did("arrive b need=1 limit=2; arrive b need=2 limit=2 gen=70");
	outcome(OUTCOME_TRIPPED, 1, 1);
	rig_did("1/1 OK index=1 generation=70; 2/1 OK index=0 generation=70; "
		"arrive b need=2 limit=2");
	rig_outcome_full(OUTCOME_TRIPPED, 0, 2, -1, false, GEN + 1);
	rig_did("3/1 OK index=1 generation=71; 4/1 OK index=0 generation=71; "
		"leave b limit=2 noted");
}
END_TEST

START_TEST(over_before_the_next_could_join)
{
	start_with_one();
	rig_barrier(2, 1, "b", 3, FOREVER);
	/* Took no place: that generation was over. */
	outcome(OUTCOME_BROKEN, 0, 0);
	rig_did("arrive b need=1 limit=3 gen=70; 1/1 ERR broken; "
		"arrive b need=1 limit=3");
}
END_TEST

START_TEST(mismatches)
{
	start_with_one();
	rig_barrier(2, 1, "b", 2, FOREVER);
	rig_did("2/1 ERR mismatch");
	rig_barrier(2, 2, "c", 2, FOREVER);
	rig_outcome(OUTCOME_MISMATCH, 3, 0);
	rig_did("arrive c need=1 limit=2; 2/2 ERR mismatch");
}
END_TEST

START_TEST(who_does_not_wait)
{
	rig_start();
	rig_barrier(1, 1, "b", 2, 0);
	outcome(OUTCOME_WAITING, 0, 1);
	rig_outcome(OUTCOME_ENDED, 0, 0);
	rig_did("arrive b need=1 limit=2; leave b limit=2; 1/1 TIMEOUT");
	rig_barrier(2, 1, "b", 2, FOREVER);
	rig_drain(2);
	outcome(OUTCOME_WAITING, 0, 1);
	rig_outcome(OUTCOME_ENDED, 0, 0);
	rig_did("arrive b need=1 limit=2; leave b limit=2; 2/1 CANCELLED");
}
END_TEST

START_TEST(while_redis_is_away)
{
	start_with_one();
	rig_link(false);
	rig_barrier(2, 1, "b", 3, 100);
	rig_pass(100);
	rig_did("2/1 ERR unavailable");
	rig_cancel(1, 1, 2);
	rig_did("1/1 CANCELLED; 1/2 OK");
	rig_link(true);
	rig_did("leave b limit=3");
}
END_TEST

START_TEST(nothing_is_owed_for_ever)
{
	start_with_one();
	rig_link(false);
	rig_gone(1);
	rig_pass(2 * RIG_LEASE_MS);
	rig_link(true);
	rig_did("");
}
END_TEST

TCase *
case_barrier(void)
{
	TCase *t = tcase_create("barrier");

	tcase_add_checked_fixture(t, NULL, rig_stop);
	tcase_add_test(t, complete_here);
	tcase_add_test(t, complete_elsewhere);
	tcase_add_test(t, a_place_is_kept_and_looked_after);
	tcase_add_test(t, a_time_out_breaks_it);
	tcase_add_test(t, too_late_to_leave);
	tcase_add_test(t, cancelled);
	tcase_add_test(t, a_drop_breaks_it);
	tcase_add_test(t, a_drop_before_it_arrived);
	tcase_add_test(t, asked_again_under_the_same_number);
	tcase_add_test(t, forgotten_before_it_was_known);
	tcase_add_test(t, kept_by_another_history);
	tcase_add_test(t, too_long_unknown);
	tcase_add_test(t, the_dead_do_not_arrive);
	tcase_add_test(t, ours_alone_and_one_was_answered);
	tcase_add_test(t, others_may_have_been_told);
	tcase_add_test(t, ours_alone_and_all_are_here);
	tcase_add_test(t, one_is_cancelled_while_another_arrives);
	tcase_add_test(t, one_has_left_what_another_did_not_reach);
	tcase_add_test(t, more_than_there_is_room_for);
	tcase_add_test(t, over_before_the_next_could_join);
	tcase_add_test(t, mismatches);
	tcase_add_test(t, who_does_not_wait);
	tcase_add_test(t, while_redis_is_away);
	tcase_add_test(t, nothing_is_owed_for_ever);
	return t;
}
