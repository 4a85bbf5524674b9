/*
 * Work is bounded: with 100,000 names, waiters or sessions, no step looks at
 * more than CORE_WORK_MAX things, and larger tasks continue at once, in the
 * right order.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "core/dump.h"
#include "core/kernel/turn/turn.h"
#include "core/kernel/turn/work.h"
#include "core/parts/warm/warm.h"
#include "suite.h"
#include "test_work.h"
#include "work_rig.h"

/* 100,000 names, spread over the sessions of the rig. */
void
hold_many(struct work_rig *r, unsigned sessions)
{
	unsigned i;

	for (i = 0; i < WORK_MANY; i++)
		work_lock_n(r, 1 + i % sessions, "n", i);
	work_settle(r);
	ck_assert_uint_eq(r->replies[STATUS_OK], WORK_MANY);
	work_forget(r);
}

static void
resume(struct work_rig *r, uint64_t own, unsigned id)
{
	struct core_event ev = { .kind = CORE_RESUME };
	char key[16 + 2 * CORE_SECRET_BYTES + 1];

	snprintf(
	    key, sizeof(key), "%016d%0*d", (int)id, 2 * CORE_SECRET_BYTES, 0);
	ev.u.resume.session = own;
	ev.u.resume.key = key;
	ev.u.resume.key_len = strlen(key);
	work_step(r, &ev);
}

/* A server has lost its data: all leases are written again, and none is
 * lost. */
START_TEST(all_leases_are_written_again)
{
	work_init(&rig, 1);
	hold_many(&rig, 1);
	rig.now_ms += 1;
	work_guard(&rig, GUARD_PENDING, "p1");
	work_pass(&rig, WORK_LEASE_MS / 3);
	ck_assert_uint_ge(rig.asked[OP_RENEW], WORK_MANY);
	/* Each timer is put off once at most: no step runs the same timers
	 * again. */
	ck_assert_uint_lt(rig.steps, 3 * WORK_MANY);
	ck_assert_uint_eq(rig.events[EVENT_ATRISK] + rig.events[EVENT_LOST], 0);
}
END_TEST

/* Redis was away for a moment in which all leases were to be renewed. */
START_TEST(all_renewals_are_due_at_once)
{
	work_init(&rig, 1);
	hold_many(&rig, 1);
	work_link(&rig, false);
	rig.now_ms += WORK_LEASE_MS / 3 + 100;
	work_tick(&rig, CORE_TIME);
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.asked[OP_RENEW], 0);
	work_link(&rig, true);
	work_pass(&rig, 1000);
	ck_assert_uint_ge(rig.asked[OP_RENEW], WORK_MANY);
	ck_assert_uint_lt(rig.steps, 4 * WORK_MANY);
	ck_assert_uint_eq(rig.events[EVENT_ATRISK] + rig.events[EVENT_LOST], 0);
}
END_TEST

/* The broker was frozen: all leases are lost, and that is told before any is
 * requested again. */
START_TEST(all_leases_are_lost_at_once)
{
	work_init(&rig, 2);
	hold_many(&rig, 1);
	work_lock(&rig, 2, "n0");
	rig.now_ms += WORK_LEASE_MS + 100;
	ck_assert_uint_le(work_catch_up(&rig), WORK_MANY / 100);
	ck_assert_uint_eq(rig.events[EVENT_LOST], WORK_MANY);
	ck_assert_uint_eq(rig.first_event_step[EVENT_LOST], 2);
	ck_assert_uint_eq(rig.events[EVENT_ATRISK], 0);
}
END_TEST

/* Each event of a session with grace is kept, and replaces older news. */
START_TEST(all_losses_are_kept)
{
	work_init(&rig, 2);
	work_grace(&rig, 1, 60000);
	work_forget(&rig);
	hold_many(&rig, 1);
	work_link(&rig, false);
	work_pass(&rig, WORK_LEASE_MS / 2 + 1000);
	ck_assert_uint_eq(rig.events[EVENT_ATRISK], WORK_MANY);
	work_pass(&rig, WORK_LEASE_MS / 2);
	ck_assert_uint_eq(rig.events[EVENT_LOST], WORK_MANY);
	work_lock(&rig, 1, "another"); /* its client is there: the events are
				      * obsolete */
	work_settle(&rig);
}
END_TEST

/* A name whose loss could not be told yet is neither granted nor kept. */
START_TEST(what_is_overdue_is_lost_first)
{
	struct core_request rq = work_request(VERB_UNLOCK);
	char last[16];

	work_init(&rig, 2);
	hold_many(&rig, 1);
	rig.now_ms += WORK_LEASE_MS + 100;
	snprintf(last, sizeof(last), "n%u", WORK_MANY - 1);
	work_ask(&rig, 1, &rq, last);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], 1);
	ck_assert_uint_lt(rig.events[EVENT_LOST], 1000);
}
END_TEST

/* Messages may have been missed for all names that other brokers have. */
START_TEST(all_names_are_looked_at)
{
	work_init(&rig, 1);
	hold_many(&rig, 1);
	work_tick(&rig, CORE_RESUBSCRIBED);
	work_catch_up(&rig);
	ck_assert_uint_gt(rig.steps, WORK_MANY / CORE_WORK_MAX);
}
END_TEST

/* Most of the names are gone, and the table shrinks while it is walked. */
START_TEST(names_vanish_while_all_are_looked_at)
{
	unsigned i;

	work_init(&rig, 3);
	for (i = 0; i < WORK_MANY; i++)
		work_lock_n(&rig, 1, "n", i);
	for (i = 0; i < 2047; i++)
		work_lock_n(&rig, 2, "few", i);
	for (i = 0; i < 3; i++)
		work_lock_n(&rig, 3, "last", i);
	work_settle(&rig);
	work_gone(&rig, 1, true);
	work_settle(&rig);
	work_forget(&rig);
	work_tick(&rig, CORE_RESUBSCRIBED);
	work_gone(&rig, 3, true);
	work_answer(&rig);
	work_lock(&rig, 2, "more");
	work_catch_up(&rig);
	ck_assert_uint_gt(rig.steps, 2047 / CORE_WORK_MAX);
}
END_TEST

/* The time of all waiters is up in the same millisecond; renewals go first. */
START_TEST(all_waiters_time_out_at_once)
{
	struct core_request rq = work_request(VERB_LOCK);
	unsigned i;

	work_init(&rig, 3);
	work_lock(&rig, 1, "a");
	work_settle(&rig);
	rq.wait_ms = 5000;
	for (i = 0; i < WORK_MANY; i++)
		work_ask(&rig, 2, &rq, "a");
	work_lock(&rig, 3, "b");
	work_settle(&rig);
	work_pass(&rig, 4990);
	work_forget(&rig);
	rig.now_ms += 20;
	work_tick(&rig, CORE_TIME);
	ck_assert_uint_eq(rig.asked[OP_RENEW], 0);
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_TIMEOUT], WORK_MANY);
	ck_assert_uint_le(rig.steps, WORK_MANY / 100 + 10);
}
END_TEST

/* Requests that do not wait are answered at once, even behind a long queue. */
START_TEST(tries_behind_a_long_queue)
{
	struct core_request rq = work_request(VERB_LOCK);
	uint64_t before;
	unsigned i;

	work_init(&rig, 3);
	work_lock(&rig, 1, "a");
	work_settle(&rig);
	for (i = 0; i < WORK_MANY; i++)
		work_lock(&rig, 2, "a");
	work_forget(&rig);
	rq.wait_ms = 0;
	before = core_work(rig.core).most;
	for (i = 0; i < 1000; i++)
		work_ask(&rig, 3, &rq, "a");
	ck_assert_uint_eq(rig.replies[STATUS_BUSY], 1000);
	rq.wait_ms = CORE_WAIT_FOREVER;
	rq.queue_limit = WORK_MANY;
	work_ask(&rig, 3, &rq, "a");
	ck_assert_uint_eq(rig.replies[STATUS_BUSY], 1001);
	rq.queue_limit++;
	work_ask(&rig, 3, &rq, "a");
	ck_assert_uint_eq(rig.replies[STATUS_BUSY], 1001);
	ck_assert_uint_le(core_work(rig.core).most, before);
}
END_TEST

#define GROUPS (WORK_MANY / 1000 * 12)

/* n0, n1, ... and zz, which another session has. */
static void
lock_several(struct work_rig *r, uint64_t session, unsigned n)
{
	struct core_request rq = work_request(VERB_LOCK);
	struct core_name names[CORE_NAMES_MAX];
	char text[CORE_NAMES_MAX][8];
	unsigned i;

	for (i = 0; i < n; i++) {
		snprintf(text[i], sizeof(text[i]), i + 1 < n ? "n%u" : "zz", i);
		names[i] = (struct core_name){ text[i], strlen(text[i]) };
	}
	rq.names = names;
	rq.nnames = n;
	work_ask(r, session, &rq, NULL);
	work_settle(r);
}

/* Each request waits for 64 names, of which the last is taken. */
START_TEST(very_many_of_several_names)
{
	struct core_request unlock = work_request(VERB_UNLOCK);
	unsigned i;

	work_init(&rig, 3);
	work_lock(&rig, 1, "zz");
	work_settle(&rig);
	for (i = 0; i < GROUPS; i++)
		lock_several(&rig, 2, CORE_NAMES_MAX);
	/* The groups are starving: they have all names but the last. */
	work_pass(&rig, 2 * WORK_LEASE_MS);
	ck_assert_uint_eq(rig.events[EVENT_LOST] + rig.events[EVENT_ATRISK], 0);
	work_forget(&rig);
	work_ask(&rig, 1, &unlock, "zz");
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 1 + GROUPS);
}
END_TEST

/* The session's names go to the sessions that wait for them. */
START_TEST(a_session_with_very_much_ends)
{
	work_init(&rig, 3);
	hold_many(&rig, 1);
	work_lock(&rig, 2, "n0");
	work_lock_n(&rig, 3, "n", WORK_MANY - 1);
	work_gone(&rig, 1, true);
	ck_assert_uint_gt(rig.asked[OP_END], 0);
	ck_assert_uint_lt(rig.asked[OP_END], CORE_WORK_MAX);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 2);
	ck_assert_uint_eq(rig.asked[OP_END], WORK_MANY - 2);
	ck_assert_uint_lt(rig.steps, 2 * WORK_MANY);
}
END_TEST

/* Requests of a session that has gone do not count for others. */
START_TEST(a_session_that_waits_for_very_much_ends)
{
	struct core_request rq = work_request(VERB_LOCK);
	unsigned i;

	work_init(&rig, 3);
	work_lock(&rig, 1, "a");
	work_settle(&rig);
	for (i = 0; i < WORK_MANY; i++)
		work_lock(&rig, 2, "a");
	work_forget(&rig);
	work_gone(&rig, 2, true);
	ck_assert(core_has_losses(rig.core, rig.now_ms));
	while (core_has_losses(rig.core, rig.now_ms))
		work_tick(&rig, CORE_TIME);
	ck_assert_uint_lt(rig.steps, WORK_MANY / 100);
	rq.queue_limit = 1;
	work_ask(&rig, 3, &rq, "a");
	ck_assert_uint_eq(rig.replies[STATUS_BUSY], 0);
	work_gone(&rig, 1, true);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 1);
}
END_TEST

/* The client no longer waits for these grants of one turn. */
START_TEST(a_session_ends_with_very_many_untold_grants)
{
	unsigned i;

	work_init(&rig, 3);
	hold_many(&rig, 1);
	for (i = 0; i < WORK_MANY; i++)
		work_lock_n(&rig, 2, "n", i);
	work_lock(&rig, 3, "n0");
	work_gone(&rig, 1, true);
	work_catch_up(&rig);
	work_gone(&rig, 2, true);
	while (core_has_losses(rig.core, rig.now_ms))
		work_tick(&rig, CORE_TIME);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 1);
}
END_TEST

/* Very many holds live on, and their time is up in the same millisecond. */
START_TEST(very_many_detached_sessions_end_at_once)
{
	unsigned i;

	work_init(&rig, WORK_MANY);
	for (i = 1; i <= WORK_MANY; i++)
		work_grace(&rig, i, 5000);
	work_forget(&rig);
	hold_many(&rig, WORK_MANY);
	for (i = 1; i <= WORK_MANY; i++)
		work_gone(&rig, i, false);
	work_forget(&rig);
	work_pass(&rig, 4000);
	ck_assert_uint_eq(rig.asked[OP_END], 0);
	work_pass(&rig, 1010);
	ck_assert_uint_eq(rig.asked[OP_END], WORK_MANY);
}
END_TEST

/* The session's time is up, even though it still has much to give back. */
START_TEST(what_is_over_is_not_resumed)
{
	work_init(&rig, 3);
	work_grace(&rig, 1, 5000);
	work_forget(&rig);
	hold_many(&rig, 1);
	work_gone(&rig, 1, false);
	work_pass(&rig, 4999);
	work_forget(&rig);
	rig.now_ms += 1;
	work_tick(&rig, CORE_TIME);
	ck_assert_uint_lt(rig.asked[OP_END], WORK_MANY);
	resume(&rig, 2, 1);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], 1);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	work_settle(&rig);
	ck_assert_uint_eq(rig.asked[OP_END], WORK_MANY);
}
END_TEST

/* All are told that the broker stops; every name without a promise is given
 * back. */
START_TEST(a_broker_with_very_much_stops)
{
	unsigned i;

	work_init(&rig, WORK_MANY + 1);
	hold_many(&rig, WORK_MANY);
	for (i = 0; i < WORK_MANY; i++)
		work_lock(&rig, WORK_MANY + 1, "n0");
	work_forget(&rig);
	work_tick(&rig, CORE_STOP);
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.events[EVENT_SHUTDOWN], WORK_MANY + 1);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], WORK_MANY);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	work_settle(&rig);
	ck_assert_uint_eq(rig.asked[OP_END], WORK_MANY);
}
END_TEST

/* Each grant must forget an earlier loss of its name, of which there may be
 * many. */
START_TEST(very_many_lost_names_are_held_again)
{
	struct core_request rq = work_request(VERB_UNLOCK);

	work_init(&rig, 1);
	hold_many(&rig, 1);
	rig.now_ms += WORK_LEASE_MS + 100;
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.events[EVENT_LOST], WORK_MANY);
	work_settle(&rig);
	work_forget(&rig);
	hold_many(&rig, 1);
	work_ask(&rig, 1, &rq, "n1");
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 1);
	work_ask(&rig, 1, &rq, "n1");
	ck_assert_uint_eq(rig.replies[STATUS_ERR], 1);
}
END_TEST

/* All events that the client may not have heard are told again before anything
 * else. */
START_TEST(very_much_is_told_again)
{
	work_init(&rig, 3);
	work_grace(&rig, 1, 600000);
	work_forget(&rig);
	hold_many(&rig, 1);
	work_gone(&rig, 1, false);
	work_link(&rig, false);
	work_pass(&rig, WORK_LEASE_MS + 100);
	work_link(&rig, true);
	work_settle(&rig);
	work_forget(&rig);
	resume(&rig, 2, 1);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 1);
	ck_assert_uint_gt(rig.events[EVENT_LOST], 0);
	ck_assert_uint_lt(rig.events[EVENT_LOST], CORE_WORK_MAX);
	ck_assert(core_has_losses(rig.core, rig.now_ms));
	while (core_has_losses(rig.core, rig.now_ms))
		work_tick(&rig, CORE_TIME);
	ck_assert_uint_eq(rig.events[EVENT_LOST], WORK_MANY);
	ck_assert_uint_lt(rig.steps, WORK_MANY / 100);
	/* The session's new client is gone before it has said anything. */
	work_gone(&rig, 1, false);
	work_forget(&rig);
	resume(&rig, 3, 1);
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.events[EVENT_LOST], WORK_MANY);
}
END_TEST

/* How long, by its PING, the session may count on everything it has. */
static int64_t
ping(struct work_rig *r, uint64_t session)
{
	int64_t valid_ms = core_ping(r->core, r->now_ms, session);

	ck_assert_uint_le(core_work(r->core).step, CORE_WORK_MAX / 10);
	return valid_ms;
}

/* A PING never promises more than is true, and not much less. */
START_TEST(a_session_with_very_much_pings)
{
	struct core_request rq = work_request(VERB_EXTEND);
	int64_t least_ms = WORK_LEASE_MS;
	unsigned i;

	work_init(&rig, 2);
	hold_many(&rig, 1);
	ck_assert_int_gt(ping(&rig, 1), WORK_LEASE_MS * 9 / 10);
	for (i = 0; i < 20; i++) {
		work_pass(&rig, WORK_LEASE_MS / 7);
		if (ping(&rig, 1) < least_ms)
			least_ms = ping(&rig, 1);
	}
	ck_assert_int_gt(least_ms, WORK_LEASE_MS / 2);
	/* A new hold, or a new bound, counts at once. */
	rq.hold_ms = 300;
	work_ask(&rig, 1, &rq, "n77");
	ck_assert_int_le(ping(&rig, 1), 300);
	work_pass(&rig, 400 + WORK_LEASE_MS / 8);
	ck_assert_uint_eq(rig.events[EVENT_LOST], 1);
	ck_assert_int_gt(ping(&rig, 1), WORK_LEASE_MS / 2);
	/* Without renewals the time goes down to nothing. */
	work_link(&rig, false);
	while (rig.events[EVENT_ATRISK] == 0)
		work_pass(&rig, 100);
	least_ms = ping(&rig, 1);
	ck_assert_int_le(least_ms, WORK_LEASE_MS / 2);
	work_pass(&rig, least_ms);
	ck_assert_uint_eq(rig.events[EVENT_LOST], 1);
	work_pass(&rig, WORK_LEASE_MS);
	ck_assert_int_eq(ping(&rig, 1), -1);
}
END_TEST

/* How many things the core looks at in two leases; pings at each `every_ms`. */
static uint64_t
visits_of_two_leases(struct work_rig *r, int64_t every_ms, int64_t *least_ms)
{
	uint64_t before = r->visits;
	int64_t passed_ms;

	*least_ms = INT64_MAX;
	for (passed_ms = 0; passed_ms < 2 * WORK_LEASE_MS;
	     passed_ms += every_ms) {
		work_pass(r, every_ms);
		*least_ms = min_ms(*least_ms, ping(r, 1));
	}
	return r->visits - before;
}

/*
 * If nobody asks, the bound may come nearer to the truth's worst: still, the
 * first PING is told enough for the next one, which is told as much as ever.
 */
START_TEST(a_session_that_does_not_ping_is_looked_at_less_often)
{
	int64_t least_ms, first_ms;
	const unsigned many = WORK_MANY / 10;
	uint64_t asked, quiet;
	unsigned i;

	work_init(&rig, 1);
	for (i = 0; i < many; i++)
		work_lock_n(&rig, 1, "n", i);
	work_settle(&rig);
	work_pass(&rig, WORK_LEASE_MS);
	asked = visits_of_two_leases(&rig, WORK_LEASE_MS / 5, &least_ms);
	ck_assert_int_gt(least_ms, WORK_LEASE_MS / 2);
	work_pass(&rig, WORK_LEASE_MS);
	quiet = visits_of_two_leases(&rig, 2 * WORK_LEASE_MS, &first_ms);
	ck_assert_int_gt(first_ms, WORK_LEASE_MS / 4);
	ck_assert_uint_lt(quiet + 6 * many, asked);
	/* What was asked once is known better soon. */
	work_pass(&rig, WORK_LEASE_MS / 8);
	ck_assert_int_gt(ping(&rig, 1), WORK_LEASE_MS / 2);
}
END_TEST

/* Takes PREFIXi, and gives it back. */
static void
relock(struct work_rig *r, const char *prefix, unsigned i)
{
	struct core_request unlock = work_request(VERB_UNLOCK);
	char name[32];

	snprintf(name, sizeof(name), "%s%u", prefix, i);
	work_lock(r, 1, name);
	work_settle(r);
	work_ask(r, 1, &unlock, name);
	work_settle(r);
}

/* Of too many warm names the one that has been warm for longest is given back;
 * all others are granted again without Redis. */
START_TEST(one_more_than_can_be_warm)
{
	char pattern[] = "n*", *all[] = { pattern };
	struct lock_limits locks = { .warm_ms = WORK_LEASE_MS / 10,
		.warm_names = { all, COUNT(all) },
		.max_grace_ms = 600000 };
	struct client_limits limits = { .holds = WORK_MANY };
	struct metrics_settings metrics = { 0 };
	unsigned i;

	work_init(&rig, 1);
	core_reconfigure(rig.core, &locks, &limits, &metrics, false, false);
	work_pass(&rig, WORK_LEASE_MS); /* other brokers can know it */
	for (i = 0; i < WARM_MAX; i++) {
		relock(&rig, "n", i);
		relock(&rig, "n", i);
	}
	ck_assert_uint_eq(rig.asked[OP_END], WARM_MAX);
	relock(&rig, "n", WARM_MAX);
	relock(&rig, "n", WARM_MAX);
	ck_assert_uint_eq(rig.asked[OP_END], WARM_MAX + 2);
	work_forget(&rig);
	for (i = 1; i <= WARM_MAX; i++)
		relock(&rig, "n", i);
	ck_assert_uint_eq(rig.asked[OP_ACQUIRE] + rig.asked[OP_END], 0);
	relock(&rig, "n", 0);
	ck_assert_uint_eq(rig.asked[OP_ACQUIRE], 1);
	/* Their time is over: all are given back, in steps that are short. */
	work_forget(&rig);
	work_pass(&rig, WORK_LEASE_MS / 10);
	ck_assert_uint_eq(rig.asked[OP_END], WARM_MAX);
}
END_TEST

static TCase *
work_cases(void)
{
	TCase *tc = tcase_create("work");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, work_over);
	tcase_add_test(tc, all_leases_are_written_again);
	tcase_add_test(tc, all_renewals_are_due_at_once);
	tcase_add_test(tc, all_leases_are_lost_at_once);
	tcase_add_test(tc, all_losses_are_kept);
	tcase_add_test(tc, very_much_is_told_again);
	tcase_add_test(tc, a_session_with_very_much_pings);
	tcase_add_test(
	    tc, a_session_that_does_not_ping_is_looked_at_less_often);
	tcase_add_test(tc, what_is_overdue_is_lost_first);
	tcase_add_test(tc, all_names_are_looked_at);
	tcase_add_test(tc, names_vanish_while_all_are_looked_at);
	tcase_add_test(tc, all_waiters_time_out_at_once);
	tcase_add_test(tc, tries_behind_a_long_queue);
	tcase_add_test(tc, very_many_of_several_names);
	tcase_add_test(tc, a_session_with_very_much_ends);
	tcase_add_test(tc, a_session_that_waits_for_very_much_ends);
	tcase_add_test(tc, a_session_ends_with_very_many_untold_grants);
	tcase_add_test(tc, very_many_detached_sessions_end_at_once);
	tcase_add_test(tc, what_is_over_is_not_resumed);
	tcase_add_test(tc, a_broker_with_very_much_stops);
	tcase_add_test(tc, very_many_lost_names_are_held_again);
	tcase_add_test(tc, one_more_than_can_be_warm);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { work_cases, crowd_cases,
		claim_cases, request_cases };

	return suite_run("work", cases, COUNT(cases));
}
