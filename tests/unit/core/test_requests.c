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
	struct work_rig r;
	unsigned i;

	work_init(&r, 1);
	work_settle(&r);
	work_forget(&r);
	r.silent[OP_TELL] = true;
	r.outcome = &held;
	for (i = 0; i < 150; i++)
		work_ask(&r, 1, &rq, "a");
	work_answer(&r);
	ck_assert_uint_eq(r.asked[OP_TELL], 100);
	ck_assert_uint_eq(r.replies[STATUS_OK], 50);
	work_pass(&r, 200);
	ck_assert_uint_eq(r.replies[STATUS_OK], 150);
	work_pass(&r, 1000);
	work_ask(&r, 1, &rq, "a");
	work_answer(&r);
	ck_assert_uint_eq(r.asked[OP_TELL], 101);
	work_fini(&r);
}
END_TEST

/* Each of them can be cancelled, wherever it is in the queue. */
START_TEST(very_many_requests_are_cancelled)
{
	struct work_rig r;
	uint64_t first;
	unsigned i;

	work_init(&r, 2);
	work_lock(&r, 1, "a");
	work_settle(&r);
	work_forget(&r);
	first = ask_many(&r, VERB_LOCK, "a");
	for (i = 0; i < WORK_MANY; i++)
		cancel(&r, 2, first + WORK_MANY - 1 - i);
	ck_assert_uint_eq(r.replies[STATUS_CANCELLED], WORK_MANY);
	ck_assert_uint_eq(r.replies[STATUS_OK], WORK_MANY);
	cancel(&r, 2, first);
	ck_assert_uint_eq(r.replies[STATUS_ERR], 1);
	work_fini(&r);
}
END_TEST

START_TEST(very_many_claims_are_cancelled)
{
	struct work_rig r;
	uint64_t first;
	unsigned i;

	work_init(&r, 2);
	first = ask_many(&r, VERB_AWAIT, "l");
	for (i = 0; i < WORK_MANY; i++)
		cancel(&r, 2, first + WORK_MANY - 1 - i);
	ck_assert_uint_eq(r.replies[STATUS_CANCELLED], WORK_MANY);
	ck_assert_uint_eq(r.replies[STATUS_OK], WORK_MANY);
	cancel(&r, 2, first);
	ck_assert_uint_eq(r.replies[STATUS_ERR], 1);
	work_fini(&r);
}
END_TEST

/* The session has shut down sending: all its waiting requests are cancelled, in
 * parts. */
START_TEST(a_session_that_waits_for_very_much_drains)
{
	static const enum verb_id verbs[] = { VERB_LOCK, VERB_AWAIT };
	struct work_rig r;
	unsigned i;

	for (i = 0; i < COUNT(verbs); i++) {
		work_init(&r, 2);
		work_lock(&r, 1, "a");
		work_settle(&r);
		work_forget(&r);
		ask_many(&r, verbs[i], "a");
		work_settle(&r);
		drain(&r, 2);
		ck_assert_uint_lt(r.replies[STATUS_CANCELLED], WORK_MANY);
		work_settle(&r);
		ck_assert_uint_eq(r.replies[STATUS_CANCELLED], WORK_MANY);
		work_fini(&r);
	}
}
END_TEST

/* The connection ends while the session drains. */
START_TEST(a_session_goes_while_it_drains)
{
	struct work_rig r;

	work_init(&r, 2);
	work_lock(&r, 1, "a");
	work_settle(&r);
	work_forget(&r);
	ask_many(&r, VERB_LOCK, "a");
	drain(&r, 2);
	work_gone(&r, 2, true);
	work_settle(&r);
	ck_assert_uint_lt(r.replies[STATUS_CANCELLED], CORE_WORK_MAX);
	work_gone(&r, 1, true);
	work_settle(&r);
	ck_assert_uint_eq(r.asked[OP_END], 1);
	work_fini(&r);
}
END_TEST

/* Redis is away; all requests from that time are sent when it is back. */
START_TEST(very_many_ask_for_a_status)
{
	struct work_rig r;

	work_init(&r, 2);
	work_link(&r, false);
	ask_many(&r, VERB_STATUS, "a");
	ck_assert_uint_eq(r.asked[OP_STATUS], 0);
	work_link(&r, true);
	work_tick(&r, CORE_TIME);
	ck_assert_uint_gt(r.asked[OP_STATUS], 0);
	ck_assert_uint_lt(r.asked[OP_STATUS], CORE_WORK_MAX);
	work_catch_up(&r);
	ck_assert_uint_eq(r.asked[OP_STATUS], WORK_MANY);
	work_fini(&r);
}
END_TEST

/* The requesting session ends, or does not wait: that costs no look at the
 * requests of others. */
START_TEST(those_who_asked_for_a_status_go)
{
	struct core_request rq = work_request(VERB_STATUS);
	struct work_rig r;

	work_init(&r, 4);
	work_link(&r, false);
	ask_many(&r, VERB_STATUS, "a");
	work_ask(&r, 1, &rq, "a");
	work_gone(&r, 1, true);
	ck_assert_uint_lt(core_work(r.core).step, 10);
	work_ask(&r, 3, &rq, "a");
	drain(&r, 3);
	ck_assert_uint_eq(r.replies[STATUS_CANCELLED], 1);
	drain(&r, 2);
	work_catch_up(&r);
	ck_assert_uint_eq(r.replies[STATUS_CANCELLED], WORK_MANY + 1);
	work_link(&r, true);
	work_catch_up(&r);
	ck_assert_uint_eq(r.asked[OP_STATUS], 0);
	work_fini(&r);
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
	struct work_rig r;

	work_init(&r, 2);
	ck_assert(is_ready(&r));
	work_pass(&r, 1);
	work_link(&r, false);
	ck_assert(!is_ready(&r));
	work_pass(&r, 1);
	work_link(&r, true);
	ck_assert(!is_ready(&r));
	work_guard(&r, GUARD_BLESSED, "");
	ck_assert(is_ready(&r));
	work_fini(&r);
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
	struct work_rig r;
	int64_t valid_ms;

	work_init(&r, 2);
	hold_many(&r, 1);
	valid_ms = core_ping(r.core, r.now_ms, 1);
	ck_assert_int_gt(valid_ms, 0);
	work_gone(&r, 1, false);
	ck_assert_uint_lt(unowned(&r), WORK_MANY);
	work_catch_up(&r);
	ck_assert_uint_eq(unowned(&r), WORK_MANY);
	ck_assert_uint_eq(r.asked[OP_END], 0);
	work_pass(&r, valid_ms + 1);
	ck_assert_uint_eq(r.asked[OP_END], WORK_MANY);
	ck_assert_uint_eq(unowned(&r), 0);
	work_fini(&r);
}
END_TEST

/* The session is granted the name, and with it all its other requests for it,
 * though another session has asked before these. */
START_TEST(very_many_requests_re_enter)
{
	struct core_request unlock = work_request(VERB_UNLOCK);
	struct work_rig r;

	work_init(&r, 3);
	work_lock(&r, 1, "a");
	work_settle(&r);
	work_forget(&r);
	work_lock(&r, 2, "a");
	work_lock(&r, 3, "a");
	ask_many(&r, VERB_LOCK, "a");
	work_ask(&r, 1, &unlock, "a");
	work_tick(&r, CORE_FLUSH);
	ck_assert_uint_lt(r.replies[STATUS_OK], CORE_WORK_MAX);
	work_settle(&r);
	ck_assert_uint_eq(r.replies[STATUS_ERR], 1); /* limits.waiters */
	ck_assert_uint_eq(r.replies[STATUS_OK], 1 + WORK_MANY);
	work_gone(&r, 2, true);
	work_settle(&r);
	ck_assert_uint_eq(r.replies[STATUS_OK], 2 + WORK_MANY);
	work_fini(&r);
}
END_TEST

/* The leases run out before any of the grants was told. */
START_TEST(very_many_grants_are_withdrawn)
{
	struct work_rig r;
	unsigned i;

	work_init(&r, 1);
	for (i = 0; i < WORK_MANY; i++)
		work_lock_n(&r, 1, "n", i);
	work_answer(&r);
	work_link(&r, false);
	r.now_ms += WORK_LEASE_MS + 100;
	work_catch_up(&r);
	ck_assert_uint_eq(r.replies[STATUS_OK], 0);
	ck_assert_uint_eq(r.events[EVENT_LOST], 0);
	while (core_has_grants(r.core))
		work_tick(&r, CORE_FLUSH);
	ck_assert_uint_eq(r.replies[STATUS_OK], 0);
	work_link(&r, true);
	work_settle(&r);
	ck_assert_uint_eq(r.replies[STATUS_OK], WORK_MANY);
	work_fini(&r);
}
END_TEST

/* Each request is answered when its name has been given up.  Until then the
 * core looks at it only if something about the name has changed. */
START_TEST(very_many_are_forced)
{
	struct core_request rq = work_request(VERB_UNLOCK_FORCE);
	struct work_rig r;

	work_init(&r, 2);
	hold_many(&r, 1);
	work_ask_names(&r, 2, &rq, "n");
	ck_assert_uint_eq(r.events[EVENT_LOST], WORK_MANY);
	ck_assert_uint_eq(r.replies[STATUS_OK], 0);
	work_settle(&r);
	ck_assert_uint_eq(r.replies[STATUS_OK], WORK_MANY);
	work_fini(&r);
}
END_TEST

/* Very many sessions force the same name. */
START_TEST(a_name_is_forced_by_very_many)
{
	struct work_rig r;

	work_init(&r, 2);
	work_lock(&r, 1, "a");
	work_settle(&r);
	work_forget(&r);
	ask_many(&r, VERB_UNLOCK_FORCE, "a");
	ck_assert_uint_eq(r.events[EVENT_LOST], 1);
	work_settle(&r);
	ck_assert_uint_eq(
	    r.replies[STATUS_OK] + r.replies[STATUS_ERR], WORK_MANY);
	ck_assert_uint_gt(r.replies[STATUS_OK], 0);
	work_fini(&r);
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
	struct work_rig r;
	unsigned i;

	work_init(&r, 3);
	ask_forced(&r, 1, &lock);
	work_settle(&r);
	work_link(&r, false);
	work_pass(&r, WORK_LEASE_MS - 1000);
	work_forget(&r);
	lock.wait_ms = KEY_MS - (WORK_LEASE_MS - 1000);
	for (i = 0; i < FORCED; i++)
		work_ask(&r, 3, &lock, "b");
	ask_forced(&r, 2, &force);
	ck_assert_uint_eq(r.events[EVENT_LOST], FORCED);
	work_pass(&r, lock.wait_ms - 1);
	ck_assert_uint_eq(r.replies[STATUS_ERR], FORCED); /* too late */
	work_link(&r, true);
	r.now_ms += 1;
	work_gone(&r, 1, true);
	work_catch_up(&r);
	ck_assert_uint_eq(r.replies[STATUS_TIMEOUT], FORCED);
	work_settle(&r);
	lock.wait_ms = CORE_WAIT_FOREVER;
	ask_forced(&r, 3, &lock);
	work_settle(&r);
	ck_assert_uint_eq(r.replies[STATUS_OK], FORCED);
	work_fini(&r);
}
END_TEST

TCase *
request_cases(void)
{
	TCase *tc = tcase_create("requests");

	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, another_broker_is_asked_a_hundred_times);
	tcase_add_test(tc, very_many_requests_are_cancelled);
	tcase_add_test(tc, very_many_claims_are_cancelled);
	tcase_add_test(tc, a_session_that_waits_for_very_much_drains);
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
