/*
 * Very many sessions at one name: they watch it, or share it.
 */
#include "config.h"

#include "suite.h"
#include "test_work.h"
#include "work_rig.h"

static void
watch_all(struct work_rig *r, const char *name)
{
	struct core_request rq = work_request(VERB_WATCH);

	work_ask_each(r, &rq, name);
}

/* Each watcher is told the present state, and then each change. */
START_TEST(very_many_watch_a_name)
{
	struct core_request unlock = work_request(VERB_UNLOCK);

	work_init(&rig, WORK_MANY + 1);
	watch_all(&rig, "a");
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
	ck_assert_uint_eq(rig.events[EVENT_FREE], WORK_MANY);
	work_lock(&rig, WORK_MANY + 1, "a");
	work_settle(&rig);
	ck_assert_uint_eq(rig.events[EVENT_HELD], WORK_MANY);
	work_forget(&rig);
	work_ask(&rig, WORK_MANY + 1, &unlock, "a");
	work_settle(&rig);
	ck_assert_uint_eq(rig.events[EVENT_FREE], WORK_MANY);
	ck_assert_uint_lt(rig.steps, WORK_MANY / 10);
}
END_TEST

/* The name changes while watchers are told: those not told yet hear only the
 * last state. */
START_TEST(a_name_changes_while_its_watchers_are_told)
{
	struct core_request unlock = work_request(VERB_UNLOCK);

	work_init(&rig, WORK_MANY + 2);
	watch_all(&rig, "a");
	work_lock(&rig, WORK_MANY + 2, "b");
	work_settle(&rig);
	work_lock(&rig, WORK_MANY + 1, "a");
	work_lock(&rig, WORK_MANY + 2, "a");
	work_forget(&rig);
	work_answer(&rig);
	ck_assert_uint_gt(rig.events[EVENT_HELD], 0);
	ck_assert_uint_lt(rig.events[EVENT_HELD], WORK_MANY);
	work_ask(&rig, WORK_MANY + 1, &unlock, "a");
	work_settle(&rig);
	ck_assert_uint_ge(rig.events[EVENT_HELD], WORK_MANY);
	ck_assert_uint_lt(rig.events[EVENT_HELD], WORK_MANY + CORE_WORK_MAX);
	ck_assert_uint_eq(rig.events[EVENT_FREE], 0);
}
END_TEST

/* A watcher that has not heard that the name was taken need not hear that it is
 * free. */
START_TEST(a_name_is_free_again_before_all_were_told)
{
	struct core_request unlock = work_request(VERB_UNLOCK);

	work_init(&rig, WORK_MANY + 1);
	watch_all(&rig, "a");
	work_settle(&rig);
	work_lock(&rig, WORK_MANY + 1, "a");
	work_forget(&rig);
	work_answer(&rig);
	work_ask(&rig, WORK_MANY + 1, &unlock, "a");
	work_answer(&rig);
	work_settle(&rig);
	ck_assert_uint_gt(rig.events[EVENT_HELD], 0);
	ck_assert_uint_lt(rig.events[EVENT_HELD], CORE_WORK_MAX);
	ck_assert_uint_eq(rig.events[EVENT_FREE], rig.events[EVENT_HELD]);
}
END_TEST

/* One session watches very many names, and ends. */
START_TEST(a_session_watches_very_many_names)
{
	struct core_request rq = work_request(VERB_WATCH);

	work_init(&rig, 2);
	work_ask_names(&rig, 1, &rq, "n");
	work_settle(&rig);
	ck_assert_uint_eq(rig.events[EVENT_FREE], WORK_MANY);
	rq.verb = VERB_UNWATCH;
	work_forget(&rig);
	work_ask(&rig, 1, &rq, "n1");
	ck_assert_uint_eq(rig.replies[STATUS_OK], 1);
	work_gone(&rig, 1, true);
	work_lock(&rig, 2, "n0");
	work_settle(&rig);
	ck_assert_uint_eq(rig.events[EVENT_HELD], 0);
}
END_TEST

/* Nobody knows the state: all are told that, when their time is up. */
START_TEST(very_many_watch_while_redis_is_away)
{
	work_init(&rig, WORK_MANY);
	work_link(&rig, false);
	work_forget(&rig);
	watch_all(&rig, "a");
	work_pass(&rig, 900);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], 0);
	work_pass(&rig, 300);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], WORK_MANY);
	work_link(&rig, true);
	work_settle(&rig);
	watch_all(&rig, "a");
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
}
END_TEST

/* Redis refuses to tell the state: the requests are told so, in parts. */
START_TEST(very_many_are_refused_a_watch)
{
	struct outcome o = {
		.status = OUTCOME_REFUSED, .text = "no", .text_len = 2
	};

	work_init(&rig, WORK_MANY);
	watch_all(&rig, "a");
	rig.outcome = &o;
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], WORK_MANY);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
}
END_TEST

/* So many sessions share a name. */
static void
share_all(struct work_rig *r)
{
	struct core_request rq = work_request(VERB_LOCK);

	rq.shared = true;
	work_ask_each(r, &rq, "a");
	work_settle(r);
	ck_assert_uint_eq(r->replies[STATUS_OK], WORK_MANY);
	work_forget(r);
}

/* They hear that the name is at risk, and that it is safe; the lease is renewed
 * as usual. */
START_TEST(very_many_share_a_name_at_risk)
{
	work_init(&rig, WORK_MANY);
	share_all(&rig);
	work_link(&rig, false);
	work_pass(&rig, WORK_LEASE_MS / 2 + 100);
	ck_assert_uint_eq(rig.events[EVENT_ATRISK], WORK_MANY);
	work_link(&rig, true);
	work_settle(&rig);
	ck_assert_uint_eq(rig.asked[OP_RENEW], 1);
	ck_assert_uint_eq(rig.events[EVENT_SAFE], WORK_MANY);
	ck_assert_uint_eq(rig.events[EVENT_LOST], 0);
	work_pass(&rig, 2 * WORK_LEASE_MS);
	ck_assert_uint_eq(rig.events[EVENT_LOST], 0);
}
END_TEST

/* All lose the name before any of them is told anything else. */
START_TEST(very_many_lose_what_they_share)
{
	struct core_request unlock = work_request(VERB_UNLOCK);
	unsigned i;

	work_init(&rig, WORK_MANY + 1);
	share_all(&rig);
	work_lock(&rig, WORK_MANY + 1, "a");
	rig.now_ms += WORK_LEASE_MS + 100;
	for (i = 1; i <= WORK_MANY; i += WORK_MANY / 10)
		work_ask(&rig, i, &unlock, "a");
	ck_assert_uint_eq(rig.replies[STATUS_ERR], 10);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	ck_assert_uint_lt(rig.events[EVENT_LOST], WORK_MANY);
	ck_assert_uint_eq(rig.asked[OP_END], 0);
	ck_assert(core_has_losses(rig.core, rig.now_ms));
	while (core_has_losses(rig.core, rig.now_ms))
		work_tick(&rig, CORE_TIME);
	ck_assert_uint_eq(rig.events[EVENT_LOST], WORK_MANY);
	ck_assert_uint_le(rig.steps, WORK_MANY / 100);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 1);
}
END_TEST

/* The broker finds a hold among very many, both from the name and from the
 * session. */
START_TEST(one_of_very_many_sharers_holds_very_much)
{
	struct core_request lock = work_request(VERB_LOCK);
	struct core_request unlock = work_request(VERB_UNLOCK);
	unsigned i;

	work_init(&rig, WORK_MANY);
	for (i = 0; i < 2 * CORE_WORK_MAX; i++)
		work_lock_n(&rig, 1, "n", i);
	work_settle(&rig);
	work_forget(&rig);
	share_all(&rig);
	lock.shared = true;
	work_ask(&rig, 1, &lock, "a");
	work_ask(&rig, 1, &unlock, "a");
	for (i = 3; i <= WORK_MANY; i++)
		work_gone(&rig, i, true);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 2);
	for (i = 1; i <= 2; i++)
		work_ask(&rig, i, &unlock, "a");
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 4);
	ck_assert_uint_eq(rig.events[EVENT_LOST], 0);
}
END_TEST

/* Redis says that somebody else has the name. */
START_TEST(what_very_many_share_is_taken)
{
	struct outcome o = { .status = OUTCOME_LOST, .text = "" };

	work_init(&rig, WORK_MANY);
	share_all(&rig);
	rig.outcome = &o;
	work_pass(&rig, WORK_LEASE_MS / 3 + 100);
	ck_assert_uint_eq(rig.asked[OP_RENEW], 1);
	ck_assert_uint_eq(rig.events[EVENT_LOST], WORK_MANY);
}
END_TEST

/* An operator takes the name away from all who hold it now, and from nobody who
 * gets it later. */
START_TEST(what_very_many_share_is_forced)
{
	struct core_request force = work_request(VERB_UNLOCK_FORCE);

	work_init(&rig, WORK_MANY + 1);
	share_all(&rig);
	rig.now_ms += 10;
	work_ask(&rig, WORK_MANY + 1, &force, "a");
	ck_assert_uint_lt(rig.events[EVENT_LOST], WORK_MANY);
	work_settle(&rig);
	ck_assert_uint_eq(rig.events[EVENT_LOST], WORK_MANY);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 1);
	ck_assert_uint_eq(rig.asked[OP_END], 1);
}
END_TEST

/* Each session ends while the others are still being told. */
START_TEST(those_who_share_a_name_go_while_they_are_told)
{
	unsigned i;

	work_init(&rig, WORK_MANY);
	share_all(&rig);
	work_link(&rig, false);
	rig.now_ms += WORK_LEASE_MS / 2 + 10;
	for (i = WORK_MANY; i > WORK_MANY / 2; i--)
		work_gone(&rig, i, true);
	work_catch_up(&rig);
	ck_assert_uint_ge(rig.events[EVENT_ATRISK], WORK_MANY / 2);
	rig.now_ms += WORK_LEASE_MS;
	for (i = 1; i <= WORK_MANY / 2; i++)
		work_gone(&rig, i, true);
	work_catch_up(&rig);
	work_link(&rig, true);
	work_settle(&rig);
}
END_TEST

/* So many semaphores, each with one permit that the session has. */
static void
take_permits(struct work_rig *r)
{
	struct core_request rq = work_request(VERB_ACQUIRE);

	rq.number = rq.limit = 1;
	work_ask_names(r, 1, &rq, "s");
	work_settle(r);
	ck_assert_uint_eq(r->replies[STATUS_OK], WORK_MANY);
	work_forget(r);
}

/* A server has lost its data: all permits are written again, and none is
 * lost. */
START_TEST(all_permits_are_written_again)
{
	work_init(&rig, 1);
	take_permits(&rig);
	rig.now_ms += 1;
	work_guard(&rig, GUARD_PENDING, "p1");
	ck_assert_uint_lt(rig.asked[OP_HOLD], CORE_WORK_MAX);
	work_pass(&rig, WORK_LEASE_MS / 3);
	ck_assert_uint_ge(rig.asked[OP_HOLD], WORK_MANY);
	/* As for leases, each is put off once at most. */
	ck_assert_uint_lt(rig.steps, 3 * WORK_MANY);
	ck_assert_uint_eq(rig.events[EVENT_ATRISK] + rig.events[EVENT_LOST], 0);
}
END_TEST

/* Redis has refused a renewal, and loses its data before the next attempt. */
START_TEST(a_pause_is_waited_out)
{
	struct outcome refused = {
		.status = OUTCOME_REFUSED, .text = "no", .text_len = 2
	};
	struct core_request rq = work_request(VERB_ACQUIRE);

	work_init(&rig, 1);
	rq.number = rq.limit = 1;
	work_ask(&rig, 1, &rq, "s");
	work_settle(&rig);
	work_guard(&rig, GUARD_PENDING, "p1");
	rig.outcome = &refused;
	work_answer(&rig);
	rig.outcome = NULL;
	work_guard(&rig, GUARD_PENDING, "p2");
	work_forget(&rig);
	work_pass(&rig, 400);
	ck_assert_uint_eq(rig.asked[OP_HOLD], 0);
	ck_assert_uint_lt(rig.steps, 40); /* and not once a millisecond */
	work_pass(&rig, 700);
	ck_assert_uint_eq(rig.asked[OP_HOLD], 1);
}
END_TEST

/* Very many requests wait for latches: while Redis is away, and after that. */
START_TEST(very_many_latches_are_looked_at)
{
	struct core_request rq = work_request(VERB_AWAIT);

	work_init(&rig, 1);
	work_link(&rig, false);
	work_ask_names(&rig, 1, &rq, "l");
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.asked[OP_AWAIT], 0);
	work_forget(&rig);
	work_link(&rig, true);
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.asked[OP_AWAIT], WORK_MANY);
	work_settle(&rig);
	work_forget(&rig);
	work_tick(&rig, CORE_RESUBSCRIBED);
	work_pass(&rig, 3000);
	ck_assert_uint_eq(rig.asked[OP_AWAIT], WORK_MANY);
	/* If another walk is asked for while one is under way, it covers all
	 * latches, also those that were asked about before. */
	work_forget(&rig);
	work_tick(&rig, CORE_RESUBSCRIBED);
	while (rig.asked[OP_AWAIT] == 0) {
		rig.now_ms++;
		work_tick(&rig, CORE_TIME);
	}
	ck_assert_uint_lt(rig.asked[OP_AWAIT], WORK_MANY);
	work_forget(&rig);
	work_tick(&rig, CORE_RESUBSCRIBED);
	work_pass(&rig, 3000);
	ck_assert_uint_ge(rig.asked[OP_AWAIT], WORK_MANY);
}
END_TEST

/* Lines of the log, and the sums of their field "count". */
static unsigned noted[NOTICE_MAX];
static uint64_t counted[NOTICE_MAX];

static void
note_line(const struct work_rig *r, const struct effect *e)
{
	const struct field *f = r->fx.fields + e->field;
	size_t i;

	if (e->kind != EFFECT_LOG)
		return;
	noted[e->notice]++;
	for (i = 0; i < e->nfields; i++)
		if (f[i].id == FIELD_COUNT)
			counted[e->notice] += f[i].num;
}

/* Gives sessions something to lose. */
#define SOME 150

static void
some_hold(struct work_rig *r, int64_t hold_ms)
{
	struct core_request rq = work_request(VERB_LOCK);
	char name[24];
	unsigned i;

	rq.hold_ms = hold_ms;
	rq.has_hold = hold_ms > 0;
	for (i = 1; i <= SOME; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i);
		work_ask(r, i, &rq, name);
	}
	work_settle(r);
}

START_TEST(of_many_losses_the_first_are_named)
{
	work_init(&rig, SOME);
	rig.look = note_line;
	some_hold(&rig, 0);
	work_link(&rig, false);
	work_pass(&rig, 2 * WORK_LEASE_MS);
	ck_assert_uint_eq(noted[NOTICE_LOCK_LOST], 100);
	ck_assert_uint_eq(counted[NOTICE_MORE_LOST], SOME - 100);
	/* One line at once, and one a second later. */
	ck_assert_uint_ge(noted[NOTICE_MORE_LOST], 1);
	ck_assert_uint_le(noted[NOTICE_MORE_LOST], 2);
	ck_assert_uint_eq(noted[NOTICE_LOCK_BOUND], 0);
}
END_TEST

/* These holds end by a bound that their clients had set; the next second counts
 * anew. */
START_TEST(of_many_bounds_the_first_are_named)
{
	unsigned i;

	work_init(&rig, SOME);
	rig.look = note_line;
	for (i = 1; i <= 3; i++) {
		some_hold(&rig, 500);
		work_pass(&rig, 1500);
		ck_assert_uint_eq(noted[NOTICE_LOCK_BOUND], 100 * i);
	}
	work_pass(&rig, 1500);
	ck_assert_uint_eq(counted[NOTICE_MORE_BOUND], 3 * (SOME - 100));
	ck_assert_uint_eq(noted[NOTICE_LOCK_LOST], 0);
}
END_TEST

TCase *
crowd_cases(void)
{
	TCase *tc = tcase_create("crowds");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, work_over);
	tcase_add_test(tc, very_many_watch_a_name);
	tcase_add_test(tc, a_name_changes_while_its_watchers_are_told);
	tcase_add_test(tc, a_name_is_free_again_before_all_were_told);
	tcase_add_test(tc, a_session_watches_very_many_names);
	tcase_add_test(tc, very_many_watch_while_redis_is_away);
	tcase_add_test(tc, very_many_are_refused_a_watch);
	tcase_add_test(tc, very_many_share_a_name_at_risk);
	tcase_add_test(tc, very_many_lose_what_they_share);
	tcase_add_test(tc, one_of_very_many_sharers_holds_very_much);
	tcase_add_test(tc, what_very_many_share_is_taken);
	tcase_add_test(tc, what_very_many_share_is_forced);
	tcase_add_test(tc, those_who_share_a_name_go_while_they_are_told);
	tcase_add_test(tc, all_permits_are_written_again);
	tcase_add_test(tc, a_pause_is_waited_out);
	tcase_add_test(tc, very_many_latches_are_looked_at);
	tcase_add_test(tc, of_many_losses_the_first_are_named);
	tcase_add_test(tc, of_many_bounds_the_first_are_named);
	return tc;
}
