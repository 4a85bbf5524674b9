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
	struct work_rig r;

	work_init(&r, 1);
	hold_many(&r, 1);
	r.now_ms += 1;
	work_guard(&r, GUARD_PENDING, "p1");
	work_pass(&r, WORK_LEASE_MS / 3);
	ck_assert_uint_ge(r.asked[OP_RENEW], WORK_MANY);
	/* Each timer is put off once at most: no step runs the same timers
	 * again. */
	ck_assert_uint_lt(r.steps, 3 * WORK_MANY);
	ck_assert_uint_eq(r.events[EVENT_ATRISK] + r.events[EVENT_LOST], 0);
	work_fini(&r);
}
END_TEST

/* Redis was away for a moment in which all leases were to be renewed. */
START_TEST(all_renewals_are_due_at_once)
{
	struct work_rig r;

	work_init(&r, 1);
	hold_many(&r, 1);
	work_link(&r, false);
	r.now_ms += WORK_LEASE_MS / 3 + 100;
	work_tick(&r, CORE_TIME);
	work_catch_up(&r);
	ck_assert_uint_eq(r.asked[OP_RENEW], 0);
	work_link(&r, true);
	work_pass(&r, 1000);
	ck_assert_uint_ge(r.asked[OP_RENEW], WORK_MANY);
	ck_assert_uint_lt(r.steps, 4 * WORK_MANY);
	ck_assert_uint_eq(r.events[EVENT_ATRISK] + r.events[EVENT_LOST], 0);
	work_fini(&r);
}
END_TEST

/* The broker was frozen: all leases are lost, and that is told before any is
 * requested again. */
START_TEST(all_leases_are_lost_at_once)
{
	struct work_rig r;

	work_init(&r, 2);
	hold_many(&r, 1);
	work_lock(&r, 2, "n0");
	r.now_ms += WORK_LEASE_MS + 100;
	ck_assert_uint_le(work_catch_up(&r), WORK_MANY / 100);
	ck_assert_uint_eq(r.events[EVENT_LOST], WORK_MANY);
	ck_assert_uint_eq(r.first_event_step[EVENT_LOST], 2);
	ck_assert_uint_eq(r.events[EVENT_ATRISK], 0);
	work_fini(&r);
}
END_TEST

/* Each event of a session with grace is kept, and replaces older news. */
START_TEST(all_losses_are_kept)
{
	struct work_rig r;

	work_init(&r, 2);
	work_grace(&r, 1, 60000);
	work_forget(&r);
	hold_many(&r, 1);
	work_link(&r, false);
	work_pass(&r, WORK_LEASE_MS / 2 + 1000);
	ck_assert_uint_eq(r.events[EVENT_ATRISK], WORK_MANY);
	work_pass(&r, WORK_LEASE_MS / 2);
	ck_assert_uint_eq(r.events[EVENT_LOST], WORK_MANY);
	work_lock(&r, 1, "another"); /* its client is there: the events are
				      * obsolete */
	work_settle(&r);
	work_fini(&r);
}
END_TEST

/* A name whose loss could not be told yet is neither granted nor kept. */
START_TEST(what_is_overdue_is_lost_first)
{
	struct core_request rq = work_request(VERB_UNLOCK);
	struct work_rig r;
	char last[16];

	work_init(&r, 2);
	hold_many(&r, 1);
	r.now_ms += WORK_LEASE_MS + 100;
	snprintf(last, sizeof(last), "n%u", WORK_MANY - 1);
	work_ask(&r, 1, &rq, last);
	ck_assert_uint_eq(r.replies[STATUS_OK], 0);
	ck_assert_uint_eq(r.replies[STATUS_ERR], 1);
	ck_assert_uint_lt(r.events[EVENT_LOST], 1000);
	work_fini(&r);
}
END_TEST

/* Messages may have been missed for all names that other brokers have. */
START_TEST(all_names_are_looked_at)
{
	struct work_rig r;

	work_init(&r, 1);
	hold_many(&r, 1);
	work_tick(&r, CORE_RESUBSCRIBED);
	work_catch_up(&r);
	ck_assert_uint_gt(r.steps, WORK_MANY / CORE_WORK_MAX);
	work_fini(&r);
}
END_TEST

/* Most of the names are gone, and the table shrinks while it is walked. */
START_TEST(names_vanish_while_all_are_looked_at)
{
	struct work_rig r;
	unsigned i;

	work_init(&r, 3);
	for (i = 0; i < WORK_MANY; i++)
		work_lock_n(&r, 1, "n", i);
	for (i = 0; i < 2047; i++)
		work_lock_n(&r, 2, "few", i);
	for (i = 0; i < 3; i++)
		work_lock_n(&r, 3, "last", i);
	work_settle(&r);
	work_gone(&r, 1, true);
	work_settle(&r);
	work_forget(&r);
	work_tick(&r, CORE_RESUBSCRIBED);
	work_gone(&r, 3, true);
	work_answer(&r);
	work_lock(&r, 2, "more");
	work_catch_up(&r);
	ck_assert_uint_gt(r.steps, 2047 / CORE_WORK_MAX);
	work_fini(&r);
}
END_TEST

/* The time of all waiters is up in the same millisecond; renewals go first. */
START_TEST(all_waiters_time_out_at_once)
{
	struct core_request rq = work_request(VERB_LOCK);
	struct work_rig r;
	unsigned i;

	work_init(&r, 3);
	work_lock(&r, 1, "a");
	work_settle(&r);
	rq.wait_ms = 5000;
	for (i = 0; i < WORK_MANY; i++)
		work_ask(&r, 2, &rq, "a");
	work_lock(&r, 3, "b");
	work_settle(&r);
	work_pass(&r, 4990);
	work_forget(&r);
	r.now_ms += 20;
	work_tick(&r, CORE_TIME);
	ck_assert_uint_eq(r.asked[OP_RENEW], 0);
	work_catch_up(&r);
	ck_assert_uint_eq(r.replies[STATUS_TIMEOUT], WORK_MANY);
	ck_assert_uint_le(r.steps, WORK_MANY / 100 + 10);
	work_fini(&r);
}
END_TEST

/* Requests that do not wait are answered at once, even behind a long queue. */
START_TEST(tries_behind_a_long_queue)
{
	struct core_request rq = work_request(VERB_LOCK);
	struct work_rig r;
	uint64_t before;
	unsigned i;

	work_init(&r, 3);
	work_lock(&r, 1, "a");
	work_settle(&r);
	for (i = 0; i < WORK_MANY; i++)
		work_lock(&r, 2, "a");
	work_forget(&r);
	rq.wait_ms = 0;
	before = core_work(r.core).most;
	for (i = 0; i < 1000; i++)
		work_ask(&r, 3, &rq, "a");
	ck_assert_uint_eq(r.replies[STATUS_BUSY], 1000);
	rq.wait_ms = CORE_WAIT_FOREVER;
	rq.queue_limit = WORK_MANY;
	work_ask(&r, 3, &rq, "a");
	ck_assert_uint_eq(r.replies[STATUS_BUSY], 1001);
	rq.queue_limit++;
	work_ask(&r, 3, &rq, "a");
	ck_assert_uint_eq(r.replies[STATUS_BUSY], 1001);
	ck_assert_uint_le(core_work(r.core).most, before);
	work_fini(&r);
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
	struct work_rig r;
	unsigned i;

	work_init(&r, 3);
	work_lock(&r, 1, "zz");
	work_settle(&r);
	for (i = 0; i < GROUPS; i++)
		lock_several(&r, 2, CORE_NAMES_MAX);
	/* The groups are starving: they have all names but the last. */
	work_pass(&r, 2 * WORK_LEASE_MS);
	ck_assert_uint_eq(r.events[EVENT_LOST] + r.events[EVENT_ATRISK], 0);
	work_forget(&r);
	work_ask(&r, 1, &unlock, "zz");
	work_settle(&r);
	ck_assert_uint_eq(r.replies[STATUS_OK], 1 + GROUPS);
	work_fini(&r);
}
END_TEST

/* The session's names go to the sessions that wait for them. */
START_TEST(a_session_with_very_much_ends)
{
	struct work_rig r;

	work_init(&r, 3);
	hold_many(&r, 1);
	work_lock(&r, 2, "n0");
	work_lock_n(&r, 3, "n", WORK_MANY - 1);
	work_gone(&r, 1, true);
	ck_assert_uint_gt(r.asked[OP_END], 0);
	ck_assert_uint_lt(r.asked[OP_END], CORE_WORK_MAX);
	work_settle(&r);
	ck_assert_uint_eq(r.replies[STATUS_OK], 2);
	ck_assert_uint_eq(r.asked[OP_END], WORK_MANY - 2);
	ck_assert_uint_lt(r.steps, 2 * WORK_MANY);
	work_fini(&r);
}
END_TEST

/* Requests of a session that has gone do not count for others. */
START_TEST(a_session_that_waits_for_very_much_ends)
{
	struct core_request rq = work_request(VERB_LOCK);
	struct work_rig r;
	unsigned i;

	work_init(&r, 3);
	work_lock(&r, 1, "a");
	work_settle(&r);
	for (i = 0; i < WORK_MANY; i++)
		work_lock(&r, 2, "a");
	work_forget(&r);
	work_gone(&r, 2, true);
	ck_assert(core_has_losses(r.core, r.now_ms));
	while (core_has_losses(r.core, r.now_ms))
		work_tick(&r, CORE_TIME);
	ck_assert_uint_lt(r.steps, WORK_MANY / 100);
	rq.queue_limit = 1;
	work_ask(&r, 3, &rq, "a");
	ck_assert_uint_eq(r.replies[STATUS_BUSY], 0);
	work_gone(&r, 1, true);
	work_settle(&r);
	ck_assert_uint_eq(r.replies[STATUS_OK], 1);
	work_fini(&r);
}
END_TEST

/* The client no longer waits for these grants of one turn. */
START_TEST(a_session_ends_with_very_many_untold_grants)
{
	struct work_rig r;
	unsigned i;

	work_init(&r, 3);
	hold_many(&r, 1);
	for (i = 0; i < WORK_MANY; i++)
		work_lock_n(&r, 2, "n", i);
	work_lock(&r, 3, "n0");
	work_gone(&r, 1, true);
	work_catch_up(&r);
	work_gone(&r, 2, true);
	while (core_has_losses(r.core, r.now_ms))
		work_tick(&r, CORE_TIME);
	ck_assert_uint_eq(r.replies[STATUS_OK], 0);
	work_settle(&r);
	ck_assert_uint_eq(r.replies[STATUS_OK], 1);
	work_fini(&r);
}
END_TEST

/* Very many holds live on, and their time is up in the same millisecond. */
START_TEST(very_many_detached_sessions_end_at_once)
{
	struct work_rig r;
	unsigned i;

	work_init(&r, WORK_MANY);
	for (i = 1; i <= WORK_MANY; i++)
		work_grace(&r, i, 5000);
	work_forget(&r);
	hold_many(&r, WORK_MANY);
	for (i = 1; i <= WORK_MANY; i++)
		work_gone(&r, i, false);
	work_forget(&r);
	work_pass(&r, 4000);
	ck_assert_uint_eq(r.asked[OP_END], 0);
	work_pass(&r, 1010);
	ck_assert_uint_eq(r.asked[OP_END], WORK_MANY);
	work_fini(&r);
}
END_TEST

/* The session's time is up, even though it still has much to give back. */
START_TEST(what_is_over_is_not_resumed)
{
	struct work_rig r;

	work_init(&r, 3);
	work_grace(&r, 1, 5000);
	work_forget(&r);
	hold_many(&r, 1);
	work_gone(&r, 1, false);
	work_pass(&r, 4999);
	work_forget(&r);
	r.now_ms += 1;
	work_tick(&r, CORE_TIME);
	ck_assert_uint_lt(r.asked[OP_END], WORK_MANY);
	resume(&r, 2, 1);
	ck_assert_uint_eq(r.replies[STATUS_ERR], 1);
	ck_assert_uint_eq(r.replies[STATUS_OK], 0);
	work_settle(&r);
	ck_assert_uint_eq(r.asked[OP_END], WORK_MANY);
	work_fini(&r);
}
END_TEST

/* All are told that the broker stops; every name without a promise is given
 * back. */
START_TEST(a_broker_with_very_much_stops)
{
	struct work_rig r;
	unsigned i;

	work_init(&r, WORK_MANY + 1);
	hold_many(&r, WORK_MANY);
	for (i = 0; i < WORK_MANY; i++)
		work_lock(&r, WORK_MANY + 1, "n0");
	work_forget(&r);
	work_tick(&r, CORE_STOP);
	work_catch_up(&r);
	ck_assert_uint_eq(r.events[EVENT_SHUTDOWN], WORK_MANY + 1);
	ck_assert_uint_eq(r.replies[STATUS_ERR], WORK_MANY);
	ck_assert_uint_eq(r.replies[STATUS_OK], 0);
	work_settle(&r);
	ck_assert_uint_eq(r.asked[OP_END], WORK_MANY);
	work_fini(&r);
}
END_TEST

/* Each grant must forget an earlier loss of its name, of which there may be
 * many. */
START_TEST(very_many_lost_names_are_held_again)
{
	struct core_request rq = work_request(VERB_UNLOCK);
	struct work_rig r;

	work_init(&r, 1);
	hold_many(&r, 1);
	r.now_ms += WORK_LEASE_MS + 100;
	work_catch_up(&r);
	ck_assert_uint_eq(r.events[EVENT_LOST], WORK_MANY);
	work_settle(&r);
	work_forget(&r);
	hold_many(&r, 1);
	work_ask(&r, 1, &rq, "n1");
	work_settle(&r);
	ck_assert_uint_eq(r.replies[STATUS_OK], 1);
	work_ask(&r, 1, &rq, "n1");
	ck_assert_uint_eq(r.replies[STATUS_ERR], 1);
	work_fini(&r);
}
END_TEST

/* All events that the client may not have heard are told again before anything
 * else. */
START_TEST(very_much_is_told_again)
{
	struct work_rig r;

	work_init(&r, 3);
	work_grace(&r, 1, 600000);
	work_forget(&r);
	hold_many(&r, 1);
	work_gone(&r, 1, false);
	work_link(&r, false);
	work_pass(&r, WORK_LEASE_MS + 100);
	work_link(&r, true);
	work_settle(&r);
	work_forget(&r);
	resume(&r, 2, 1);
	ck_assert_uint_eq(r.replies[STATUS_OK], 1);
	ck_assert_uint_gt(r.events[EVENT_LOST], 0);
	ck_assert_uint_lt(r.events[EVENT_LOST], CORE_WORK_MAX);
	ck_assert(core_has_losses(r.core, r.now_ms));
	while (core_has_losses(r.core, r.now_ms))
		work_tick(&r, CORE_TIME);
	ck_assert_uint_eq(r.events[EVENT_LOST], WORK_MANY);
	ck_assert_uint_lt(r.steps, WORK_MANY / 100);
	/* The session's new client is gone before it has said anything. */
	work_gone(&r, 1, false);
	work_forget(&r);
	resume(&r, 3, 1);
	work_catch_up(&r);
	ck_assert_uint_eq(r.events[EVENT_LOST], WORK_MANY);
	work_fini(&r);
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
	struct work_rig r;
	unsigned i;

	work_init(&r, 2);
	hold_many(&r, 1);
	ck_assert_int_gt(ping(&r, 1), WORK_LEASE_MS * 9 / 10);
	for (i = 0; i < 20; i++) {
		work_pass(&r, WORK_LEASE_MS / 7);
		if (ping(&r, 1) < least_ms)
			least_ms = ping(&r, 1);
	}
	ck_assert_int_gt(least_ms, WORK_LEASE_MS / 2);
	/* A new hold, or a new bound, counts at once. */
	rq.hold_ms = 300;
	work_ask(&r, 1, &rq, "n77");
	ck_assert_int_le(ping(&r, 1), 300);
	work_pass(&r, 400 + WORK_LEASE_MS / 8);
	ck_assert_uint_eq(r.events[EVENT_LOST], 1);
	ck_assert_int_gt(ping(&r, 1), WORK_LEASE_MS / 2);
	/* Without renewals the time goes down to nothing. */
	work_link(&r, false);
	while (r.events[EVENT_ATRISK] == 0)
		work_pass(&r, 100);
	least_ms = ping(&r, 1);
	ck_assert_int_le(least_ms, WORK_LEASE_MS / 2);
	work_pass(&r, least_ms);
	ck_assert_uint_eq(r.events[EVENT_LOST], 1);
	work_pass(&r, WORK_LEASE_MS);
	ck_assert_int_eq(ping(&r, 1), -1);
	work_fini(&r);
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
	struct work_rig r;
	unsigned i;

	work_init(&r, 1);
	for (i = 0; i < many; i++)
		work_lock_n(&r, 1, "n", i);
	work_settle(&r);
	work_pass(&r, WORK_LEASE_MS);
	asked = visits_of_two_leases(&r, WORK_LEASE_MS / 5, &least_ms);
	ck_assert_int_gt(least_ms, WORK_LEASE_MS / 2);
	work_pass(&r, WORK_LEASE_MS);
	quiet = visits_of_two_leases(&r, 2 * WORK_LEASE_MS, &first_ms);
	ck_assert_int_gt(first_ms, WORK_LEASE_MS / 4);
	ck_assert_uint_lt(quiet + 6 * many, asked);
	/* What was asked once is known better soon. */
	work_pass(&r, WORK_LEASE_MS / 8);
	ck_assert_int_gt(ping(&r, 1), WORK_LEASE_MS / 2);
	work_fini(&r);
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
	struct work_rig r;
	unsigned i;

	work_init(&r, 1);
	core_reconfigure(r.core, &locks, &limits, &metrics, false, false);
	work_pass(&r, WORK_LEASE_MS); /* other brokers can know it */
	for (i = 0; i < WARM_MAX; i++) {
		relock(&r, "n", i);
		relock(&r, "n", i);
	}
	ck_assert_uint_eq(r.asked[OP_END], WARM_MAX);
	relock(&r, "n", WARM_MAX);
	relock(&r, "n", WARM_MAX);
	ck_assert_uint_eq(r.asked[OP_END], WARM_MAX + 2);
	work_forget(&r);
	for (i = 1; i <= WARM_MAX; i++)
		relock(&r, "n", i);
	ck_assert_uint_eq(r.asked[OP_ACQUIRE] + r.asked[OP_END], 0);
	relock(&r, "n", 0);
	ck_assert_uint_eq(r.asked[OP_ACQUIRE], 1);
	/* Their time is over: all are given back, in steps that are short. */
	work_forget(&r);
	work_pass(&r, WORK_LEASE_MS / 10);
	ck_assert_uint_eq(r.asked[OP_END], WARM_MAX);
	work_fini(&r);
}
END_TEST

static TCase *
work_cases(void)
{
	TCase *tc = tcase_create("work");

	tcase_set_timeout(tc, 60);
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
