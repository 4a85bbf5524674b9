/*
 * Sessions with very many requests or holds: they cancel them, or end.
 */
#include "config.h"

#include "core/dump.h"
#include "suite.h"
#include "test_work.h"
#include "work_rig.h"

static void
cancel(struct work_rig *r, uint64_t session, uint64_t ref)
{
	struct core_event ev = { .kind = CORE_CANCEL };

	ev.u.cancel.session = session;
	ev.u.cancel.ref = ref;
	ev.u.cancel.by = UINT64_MAX;
	work_step(r, &ev);
}

static void
drain(struct work_rig *r, uint64_t session)
{
	struct core_event ev = { .kind = CORE_DRAIN };

	ev.u.gone.session = session;
	work_step(r, &ev);
}

/* Makes many requests of session 2; returns the reference of the first. */
static uint64_t
ask_many(struct work_rig *r, enum verb_id verb, const char *name)
{
	struct core_request rq = work_request(verb);
	uint64_t first;
	unsigned i;

	rq.number = 1;
	rq.limit = 1;
	work_ask(r, 2, &rq, name);
	first = rq.ref;
	for (i = 1; i < WORK_MANY; i++)
		work_ask(r, 2, &rq, name);
	ck_assert_uint_eq(rq.ref, first + WORK_MANY - 1);
	return first;
}

/* One broker is asked a hundred times within a second; whoever comes then does
 * without.  No answer is waited for longer than that takes. */
START_TEST(another_broker_is_asked_a_hundred_times)
{
	const struct outcome held = { .status = OUTCOME_VALUE,
		.ttl_ms = 5000,
		.text = "c.0123456789abcdef.7|33",
		.text_len = 23 };
	struct core_request rq = work_request(VERB_STATUS);
	unsigned i;

	work_init(&rig, 1);
	work_settle(&rig);
	work_forget(&rig);
	rig.silent[OP_TELL] = true;
	rig.outcome = &held;
	for (i = 0; i < 150; i++)
		work_ask(&rig, 1, &rq, "a");
	work_answer(&rig);
	ck_assert_uint_eq(rig.asked[OP_TELL], 100);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 50);
	work_pass(&rig, 200);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 150);
	work_pass(&rig, 1000);
	work_ask(&rig, 1, &rq, "a");
	work_answer(&rig);
	ck_assert_uint_eq(rig.asked[OP_TELL], 101);
}
END_TEST

/* Each of them can be cancelled, wherever it is in the queue. */
START_TEST(very_many_requests_are_cancelled)
{
	uint64_t first;
	unsigned i;

	work_init(&rig, 2);
	work_lock(&rig, 1, "a");
	work_settle(&rig);
	work_forget(&rig);
	first = ask_many(&rig, VERB_LOCK, "a");
	for (i = 0; i < WORK_MANY; i++)
		cancel(&rig, 2, first + WORK_MANY - 1 - i);
	ck_assert_uint_eq(rig.replies[STATUS_CANCELLED], WORK_MANY);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
	cancel(&rig, 2, first);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], 1);
}
END_TEST

START_TEST(very_many_claims_are_cancelled)
{
	uint64_t first;
	unsigned i;

	work_init(&rig, 2);
	first = ask_many(&rig, VERB_AWAIT, "l");
	for (i = 0; i < WORK_MANY; i++)
		cancel(&rig, 2, first + WORK_MANY - 1 - i);
	ck_assert_uint_eq(rig.replies[STATUS_CANCELLED], WORK_MANY);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
	cancel(&rig, 2, first);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], 1);
}
END_TEST

/* The session has shut down sending: all its waiting requests are cancelled, in
 * parts. */
START_TEST(a_session_that_waits_for_very_much_drains)
{
	static const enum verb_id verbs[] = { VERB_LOCK, VERB_AWAIT };

	work_init(&rig, 2);
	work_lock(&rig, 1, "a");
	work_settle(&rig);
	work_forget(&rig);
	ask_many(&rig, verbs[_i], "a");
	work_settle(&rig);
	drain(&rig, 2);
	ck_assert_uint_lt(rig.replies[STATUS_CANCELLED], WORK_MANY);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_CANCELLED], WORK_MANY);
}
END_TEST

/* The connection ends while the session drains. */
START_TEST(a_session_goes_while_it_drains)
{
	work_init(&rig, 2);
	work_lock(&rig, 1, "a");
	work_settle(&rig);
	work_forget(&rig);
	ask_many(&rig, VERB_LOCK, "a");
	drain(&rig, 2);
	work_gone(&rig, 2, true);
	work_settle(&rig);
	ck_assert_uint_lt(rig.replies[STATUS_CANCELLED], CORE_WORK_MAX);
	work_gone(&rig, 1, true);
	work_settle(&rig);
	ck_assert_uint_eq(rig.asked[OP_END], 1);
}
END_TEST

/* Redis is away; all requests from that time are sent when it is back. */
START_TEST(very_many_ask_for_a_status)
{
	work_init(&rig, 2);
	work_link(&rig, false);
	ask_many(&rig, VERB_STATUS, "a");
	ck_assert_uint_eq(rig.asked[OP_STATUS], 0);
	work_link(&rig, true);
	work_tick(&rig, CORE_TIME);
	ck_assert_uint_gt(rig.asked[OP_STATUS], 0);
	ck_assert_uint_lt(rig.asked[OP_STATUS], CORE_WORK_MAX);
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.asked[OP_STATUS], WORK_MANY);
}
END_TEST

/* The requesting session ends, or does not wait: that costs no look at the
 * requests of others. */
START_TEST(those_who_asked_for_a_status_go)
{
	struct core_request rq = work_request(VERB_STATUS);

	work_init(&rig, 4);
	work_link(&rig, false);
	ask_many(&rig, VERB_STATUS, "a");
	work_ask(&rig, 1, &rq, "a");
	work_gone(&rig, 1, true);
	ck_assert_uint_lt(core_work(rig.core).step, 10);
	work_ask(&rig, 3, &rq, "a");
	drain(&rig, 3);
	ck_assert_uint_eq(rig.replies[STATUS_CANCELLED], 1);
	drain(&rig, 2);
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_CANCELLED], WORK_MANY + 1);
	work_link(&rig, true);
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.asked[OP_STATUS], 0);
}
END_TEST

static bool
is_ready(struct work_rig *r)
{
	struct core_gauges gauges;

	core_gauges(r->core, r->now_ms, &gauges);
	ck_assert(gauges.ready == (gauges.why[0] == '\0'));
	return gauges.ready;
}

START_TEST(it_is_ready_once_redis_has_said_so)
{
	work_init(&rig, 2);
	ck_assert(is_ready(&rig));
	work_pass(&rig, 1);
	work_link(&rig, false);
	ck_assert(!is_ready(&rig));
	work_pass(&rig, 1);
	work_link(&rig, true);
	ck_assert(!is_ready(&rig));
	work_guard(&rig, GUARD_BLESSED, "");
	ck_assert(is_ready(&rig));
}
END_TEST

static uint64_t
unowned(struct work_rig *r)
{
	struct core_gauges gauges;

	core_gauges(r->core, r->now_ms, &gauges);
	return gauges.unowned;
}

/* Everything that the session holds is kept for its valid=, and counts as
 * kept. */
START_TEST(a_client_with_very_much_is_cut_off)
{
	int64_t valid_ms;

	work_init(&rig, 2);
	hold_many(&rig, 1);
	valid_ms = core_ping(rig.core, rig.now_ms, 1);
	ck_assert_int_gt(valid_ms, 0);
	work_gone(&rig, 1, false);
	ck_assert_uint_lt(unowned(&rig), WORK_MANY);
	work_catch_up(&rig);
	ck_assert_uint_eq(unowned(&rig), WORK_MANY);
	ck_assert_uint_eq(rig.asked[OP_END], 0);
	work_pass(&rig, valid_ms + 1);
	ck_assert_uint_eq(rig.asked[OP_END], WORK_MANY);
	ck_assert_uint_eq(unowned(&rig), 0);
}
END_TEST

/* The session is granted the name, and with it all its other requests for it,
 * though another session has asked before these. */
START_TEST(very_many_requests_re_enter)
{
	struct core_request unlock = work_request(VERB_UNLOCK);

	work_init(&rig, 3);
	work_lock(&rig, 1, "a");
	work_settle(&rig);
	work_forget(&rig);
	work_lock(&rig, 2, "a");
	work_lock(&rig, 3, "a");
	ask_many(&rig, VERB_LOCK, "a");
	work_ask(&rig, 1, &unlock, "a");
	work_tick(&rig, CORE_FLUSH);
	ck_assert_uint_lt(rig.replies[STATUS_OK], CORE_WORK_MAX);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], 1); /* limits.waiters */
	ck_assert_uint_eq(rig.replies[STATUS_OK], 1 + WORK_MANY);
	work_gone(&rig, 2, true);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 2 + WORK_MANY);
}
END_TEST

/* The leases run out before any of the grants was told. */
START_TEST(very_many_grants_are_withdrawn)
{
	unsigned i;

	work_init(&rig, 1);
	for (i = 0; i < WORK_MANY; i++)
		work_lock_n(&rig, 1, "n", i);
	work_answer(&rig);
	work_link(&rig, false);
	rig.now_ms += WORK_LEASE_MS + 100;
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	ck_assert_uint_eq(rig.events[EVENT_LOST], 0);
	while (core_has_grants(rig.core))
		work_tick(&rig, CORE_FLUSH);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	work_link(&rig, true);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
}
END_TEST

/* Each request is answered when its name has been given up.  Until then the
 * core looks at it only if something about the name has changed. */
START_TEST(very_many_are_forced)
{
	struct core_request rq = work_request(VERB_UNLOCK_FORCE);

	work_init(&rig, 2);
	hold_many(&rig, 1);
	work_ask_names(&rig, 2, &rq, "n");
	ck_assert_uint_eq(rig.events[EVENT_LOST], WORK_MANY);
	ck_assert_uint_eq(rig.replies[STATUS_OK], 0);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], WORK_MANY);
}
END_TEST

/* Very many sessions force the same name. */
START_TEST(a_name_is_forced_by_very_many)
{
	work_init(&rig, 2);
	work_lock(&rig, 1, "a");
	work_settle(&rig);
	work_forget(&rig);
	ask_many(&rig, VERB_UNLOCK_FORCE, "a");
	ck_assert_uint_eq(rig.events[EVENT_LOST], 1);
	work_settle(&rig);
	ck_assert_uint_eq(
	    rig.replies[STATUS_OK] + rig.replies[STATUS_ERR], WORK_MANY);
	ck_assert_uint_gt(rig.replies[STATUS_OK], 0);
}
END_TEST

#define FORCED 5000
#define KEY_MS (WORK_LEASE_MS + 3000) /* how long Redis keeps a key */

/* Makes a request for each of n0, n1, ..., as many as will be forced. */
static void
ask_forced(struct work_rig *r, uint64_t session, struct core_request *rq)
{
	char name[16];
	unsigned i;

	for (i = 0; i < FORCED; i++) {
		snprintf(name, sizeof(name), "n%u", i);
		work_ask(r, session, rq, name);
	}
}

/*
 * While Redis is away, very many names are forced, and very many requests wait
 * for another one.  In the very millisecond in which the keys of these names
 * run out, all waits are over, too, the session that had the names ends, and
 * the names are looked at because Redis is back.  Each of these has its part of
 * a step, and so do the forced releases: all of them at once would be too much.
 */
START_TEST(very_many_forced_names_run_out_at_once)
{
	struct core_request lock = work_request(VERB_LOCK);
	struct core_request force = work_request(VERB_UNLOCK_FORCE);
	unsigned i;

	work_init(&rig, 3);
	ask_forced(&rig, 1, &lock);
	work_settle(&rig);
	work_link(&rig, false);
	work_pass(&rig, WORK_LEASE_MS - 1000);
	work_forget(&rig);
	lock.wait_ms = KEY_MS - (WORK_LEASE_MS - 1000);
	for (i = 0; i < FORCED; i++)
		work_ask(&rig, 3, &lock, "b");
	ask_forced(&rig, 2, &force);
	ck_assert_uint_eq(rig.events[EVENT_LOST], FORCED);
	work_pass(&rig, lock.wait_ms - 1);
	ck_assert_uint_eq(rig.replies[STATUS_ERR], FORCED); /* too late */
	work_link(&rig, true);
	rig.now_ms += 1;
	work_gone(&rig, 1, true);
	work_catch_up(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_TIMEOUT], FORCED);
	work_settle(&rig);
	lock.wait_ms = CORE_WAIT_FOREVER;
	ask_forced(&rig, 3, &lock);
	work_settle(&rig);
	ck_assert_uint_eq(rig.replies[STATUS_OK], FORCED);
}
END_TEST

TCase *
request_cases(void)
{
	TCase *tc = tcase_create("requests");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, NULL, work_over);
	tcase_add_test(tc, another_broker_is_asked_a_hundred_times);
	tcase_add_test(tc, very_many_requests_are_cancelled);
	tcase_add_test(tc, very_many_claims_are_cancelled);
	tcase_add_loop_test(
	    tc, a_session_that_waits_for_very_much_drains, 0, 2);
	tcase_add_test(tc, a_session_goes_while_it_drains);
	tcase_add_test(tc, very_many_ask_for_a_status);
	tcase_add_test(tc, those_who_asked_for_a_status_go);
	tcase_add_test(tc, it_is_ready_once_redis_has_said_so);
	tcase_add_test(tc, a_client_with_very_much_is_cut_off);
	tcase_add_test(tc, very_many_requests_re_enter);
	tcase_add_test(tc, very_many_grants_are_withdrawn);
	tcase_add_test(tc, very_many_are_forced);
	tcase_add_test(tc, a_name_is_forced_by_very_many);
	tcase_add_test(tc, very_many_forced_names_run_out_at_once);
	return tc;
}
