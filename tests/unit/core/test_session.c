/*
 * Sessions, watches and forced releases as stories.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "core/dump.h"
#include "session_rig.h"
#include "suite.h"

START_TEST(a_session_survives_its_connection)
{
	struct rig r;

	rig_init(&r, 3);
	rig_tenure(&r, 1, 5000);
	rig_ask(&r, 1, VERB_LOCK, "a");
	rig_ask(&r, 1, VERB_LOCK, "a");
	rig_expect(&r, "1: OK id=1 key=K grace=5000\n"
		       "1: OK fence=10 depth=1\n"
		       "1: OK fence=10 depth=2\n");
	rig_gone(&r, 1, _i == 0, false);
	rig_ask_quietly(&r, 2, VERB_LOCK, "a", 0);
	rig_pass(&r, 4000);
	rig_resume(&r, 3);
	rig_expect(&r, "3: has 1\n"
		       "3: OK id=1 locks=1\n");
	rig_ask(&r, 1, VERB_UNLOCK, "a");
	rig_ask(&r, 1, VERB_UNLOCK, "a");
	rig_tick(&r, CORE_FLUSH);
	rig_expect(&r, "3: OK depth=1\n"
		       "3: OK depth=0\n"
		       "2: OK fence=20 depth=1\n");
	rig_fini(&r);
}
END_TEST

START_TEST(its_grace_runs_out)
{
	struct rig r;

	rig_init(&r, 3);
	rig_tenure(&r, 1, 5000);
	rig_ask(&r, 1, VERB_LOCK, "a");
	rig_gone(&r, 1, false, false);
	rig_ask_quietly(&r, 2, VERB_LOCK, "a", 0);
	buf_clear(&r.said);
	rig_pass(&r, 4999);
	rig_tick(&r, CORE_FLUSH);
	rig_expect(&r, "");
	rig_pass(&r, 1);
	rig_tick(&r, CORE_FLUSH);
	rig_expect(&r, "2: OK fence=20 depth=1\n");
	rig_resume(&r, 3);
	rig_expect(&r, "3: ERR not-found\n");
	rig_fini(&r);
}
END_TEST

/* Many end at once, and a step comes by some of them: the others are over, too. */
START_TEST(who_is_late_finds_nothing_that_has_yet_to_end)
{
	struct rig r;
	unsigned i;

	rig_init_slow(&r, 5, 1);
	for (i = 1; i <= 4; i++)
		rig_tenure(&r, i, 5000);
	for (i = 1; i <= 4; i++)
		rig_gone(&r, i, false, false);
	buf_clear(&r.said);
	r.now_ms += 5000;
	rig_resume(&r, 5);
	rig_expect(&r, "5: ERR not-found\n");
	rig_fini(&r);
}
END_TEST

START_TEST(quit_does_not_wait)
{
	struct rig r;

	rig_init(&r, 2);
	rig_tenure(&r, 1, 5000);
	rig_ask(&r, 1, VERB_LOCK, "a");
	rig_gone(&r, 1, true, true);
	buf_clear(&r.said);
	rig_ask(&r, 2, VERB_LOCK, "a");
	rig_resume(&r, 2);
	rig_expect(&r, "2: OK fence=20 depth=1\n"
		       "2: ERR not-found\n");
	rig_fini(&r);
}
END_TEST

START_TEST(a_living_connection_is_closed)
{
	struct rig r;

	rig_init(&r, 2);
	rig_tenure(&r, 1, 0);
	rig_ask(&r, 1, VERB_LOCK, "a");
	buf_clear(&r.said);
	rig_resume(&r, 2);
	rig_expect(&r, "1: closed\n"
		       "2: has 1\n"
		       "2: OK id=1 locks=1\n");
	rig_ask(&r, 1, VERB_LOCK, "a");
	rig_expect(&r, "2: OK fence=10 depth=2\n");
	rig_gone(&r, 1, false, false);
	rig_fini(&r);
}
END_TEST

static uint64_t
unowned(const struct rig *r)
{
	struct core_gauges gauges;

	core_gauges(r->core, r->now_ms, &gauges);
	return gauges.unowned;
}

/* After a reset it lives for the valid= alone: then nobody is waited for. */
START_TEST(who_is_back_has_what_was_kept_for_nobody)
{
	int64_t grace_ms = _i == 0 ? 0 : 5000;
	struct rig r;

	rig_init(&r, 3);
	rig_tenure(&r, 1, grace_ms);
	rig_ask(&r, 1, VERB_LOCK, "a");
	ck_assert_int_gt(core_ping(r.core, r.now_ms, 1), 0);
	rig_gone(&r, 1, false, false);
	ck_assert_uint_eq(unowned(&r), grace_ms == 0);
	rig_resume(&r, 2);
	ck_assert_uint_eq(unowned(&r), 0);
	rig_gone(&r, 1, false, false);
	ck_assert_uint_eq(unowned(&r), grace_ms == 0);
	rig_resume(&r, 3);
	rig_gone(&r, 1, true, true);
	ck_assert_uint_eq(unowned(&r), 0);
	rig_fini(&r);
}
END_TEST

START_TEST(only_a_bare_session_takes_over)
{
	struct rig r;

	rig_init(&r, 2);
	rig_tenure(&r, 1, 0);
	rig_ask(&r, 2, VERB_LOCK, "a");
	buf_clear(&r.said);
	rig_resume(&r, 2);
	rig_expect(&r, "2: ERR bad-request\n");
	rig_resume(&r, 1);
	rig_expect(&r, "1: OK id=1 locks=0\n");
	rig_fini(&r);
}
END_TEST

START_TEST(only_its_user_resumes_it)
{
	static const char *const users[] = { "deploy", NULL };
	struct rig r;

	rig_init(&r, 3);
	rig_user(&r, 1, users[_i]);
	rig_tenure(&r, 1, 5000);
	rig_ask(&r, 1, VERB_LOCK, "a");
	rig_gone(&r, 1, false, false);
	buf_clear(&r.said);
	rig_user(&r, 2, "ops");
	rig_resume(&r, 2);
	rig_expect(&r, "2: ERR not-found\n");
	/* Without users everybody may do everything. */
	rig_user(&r, 2, _i == 0 ? "deploy" : NULL);
	rig_resume(&r, 2);
	rig_expect(&r, "2: has 1\n"
		       "2: OK id=1 locks=1\n");
	rig_fini(&r);
}
END_TEST

START_TEST(what_it_holds_is_known)
{
	struct rig r;

	rig_init(&r, 2);
	ck_assert(core_is_idle(r.core, 1));
	rig_ask(&r, 1, VERB_LOCK, "a");
	rig_ask_quietly(&r, 2, VERB_LOCK, "a", 0);
	ck_assert(!core_is_idle(r.core, 1));
	ck_assert(!core_is_idle(r.core, 2));
	ck_assert(core_holds(r.core, 1, "a", 1));
	ck_assert(!core_holds(r.core, 2, "a", 1));
	ck_assert(!core_holds(r.core, 1, "b", 1));
	rig_fini(&r);
}
END_TEST

/* Each digit counts, and there is no other session of that key. */
START_TEST(no_other_key_will_do)
{
	struct rig r;
	char *p;
	size_t i;

	rig_init(&r, 2);
	rig_tenure(&r, 1, 5000);
	buf_clear(&r.said);
	ck_assert_uint_ge(buf_len(&r.key), 16 + 32);
	for (i = 0; i < buf_len(&r.key); i++) {
		p = (char *)(uintptr_t)buf_data(&r.key) + i;
		*p ^= 1;
		rig_resume(&r, 2);
		rig_expect(&r, "2: ERR not-found\n");
		*p ^= 1;
	}
	rig_resume(&r, 2);
	rig_expect(&r, "1: closed\n"
		       "2: has 1\n"
		       "2: OK id=1 locks=0\n");
	rig_fini(&r);
}
END_TEST

/* The connection drops between the grant and the flush that would tell it. */
START_TEST(an_untold_grant_is_taken_back)
{
	struct rig r;

	rig_init(&r, 3);
	rig_tenure(&r, 1, 5000);
	rig_ask(&r, 1, VERB_LOCK, "b");
	rig_ask_quietly(&r, 1, VERB_LOCK, "b", 0);
	rig_ask_quietly(&r, 1, VERB_LOCK, "a", 0);
	rig_gone(&r, 1, false, false);
	buf_clear(&r.said);
	rig_ask(&r, 2, VERB_LOCK, "a");
	rig_expect(&r, "2: OK fence=30 depth=1\n");
	rig_resume(&r, 3);
	rig_ask(&r, 1, VERB_UNLOCK, "b");
	rig_expect(&r, "3: has 1\n"
		       "3: OK id=1 locks=1\n"
		       "3: OK depth=0\n");
	rig_fini(&r);
}
END_TEST

START_TEST(what_waits_leaves_its_queue)
{
	struct rig r;

	rig_init(&r, 3);
	rig_ask(&r, 2, VERB_LOCK, "a");
	rig_tenure(&r, 1, 5000);
	rig_ask(&r, 1, VERB_LOCK, "a");
	rig_gone(&r, 1, false, false);
	rig_ask(&r, 2, VERB_UNLOCK, "a");
	buf_clear(&r.said);
	rig_resume(&r, 3);
	rig_expect(&r, "3: has 1\n"
		       "3: OK id=1 locks=0\n");
	rig_fini(&r);
}
END_TEST

START_TEST(events_are_told_again)
{
	struct rig r;

	rig_init(&r, 3);
	rig_tenure(&r, 1, 50000);
	rig_ask_quietly(&r, 1, VERB_LOCK, "a", 1000);
	rig_ask(&r, 1, VERB_LOCK, "b");
	buf_clear(&r.said);
	r.hold_back[OP_RENEW] = true;
	rig_pass(&r, 1000);
	rig_expect(&r, "1: !LOST a fence=10 reason=hold\n");
	rig_gone(&r, 1, false, false);
	rig_pass(&r, LEASE_MS - 2000);
	rig_expect(&r, "-: !ATRISK b fence=20 left=4898\n");
	r.hold_back[OP_RENEW] = false;
	rig_answer(&r, r.waiting[0], OP_RENEW);
	rig_expect(&r, "-: !SAFE b fence=20\n");
	rig_resume(&r, 2);
	rig_expect(&r, "2: has 1\n"
		       "2: OK id=1 locks=1\n"
		       "2: !LOST a fence=10 reason=hold\n"
		       "2: !SAFE b fence=20\n");
	/* Nothing was heard of the client: it may not have heard them. */
	rig_resume(&r, 3);
	rig_expect(&r, "2: closed\n"
		       "3: has 1\n"
		       "3: OK id=1 locks=1\n"
		       "3: !LOST a fence=10 reason=hold\n"
		       "3: !SAFE b fence=20\n");
	ck_assert_int_gt(core_ping(r.core, r.now_ms, 1), 0);
	rig_gone(&r, 1, false, false);
	rig_open(&r, 4);
	rig_resume(&r, 4);
	rig_expect(&r, "4: has 1\n"
		       "4: OK id=1 locks=1\n");
	/* A request says that the client is there. */
	rig_ask_quietly(&r, 1, VERB_LOCK, "c", 100);
	rig_tick(&r, CORE_FLUSH);
	rig_pass(&r, 200);
	rig_ask(&r, 1, VERB_UNLOCK, "b");
	rig_gone(&r, 1, false, false);
	rig_open(&r, 5);
	buf_clear(&r.said);
	rig_resume(&r, 5);
	rig_expect(&r, "5: has 1\n"
		       "5: OK id=1 locks=0\n");
	rig_fini(&r);
}
END_TEST

/* LOCK of one or two names, shared. */
static void
share(struct rig *r, uint64_t session, const char *names, unsigned n,
    int64_t hold_ms)
{
	struct core_name v[] = { { names, 1 }, { names + 1, 1 } };
	struct core_request rq = { .verb = VERB_LOCK,
		.ref = 100,
		.names = v,
		.nnames = n,
		.shared = true,
		.wait_ms = CORE_WAIT_FOREVER,
		.hold_ms = hold_ms,
		.has_hold = hold_ms > 0,
		.queue_limit = UINT64_MAX };
	struct core_event ev = { .kind = CORE_REQUEST };

	ev.u.request.session = session;
	ev.u.request.request = &rq;
	rig_step(r, &ev);
	rig_tick(r, CORE_FLUSH);
}

/* With the same fence, it would seem that what it has now is lost. */
START_TEST(what_is_shared_again_is_not_told_to_be_lost)
{
	struct rig r;

	rig_init(&r, 3);
	rig_tenure(&r, 1, 50000);
	share(&r, 3, "a", 1, 0); /* goes on with the phase */
	rig_ask(&r, 2, VERB_LOCK, "b");
	share(&r, 1, "a", 1, 100);
	share(&r, 1, "ab", 2, 0);
	buf_clear(&r.said);
	rig_pass(&r, 200);
	rig_expect(&r, "1: !LOST a fence=10 reason=hold\n");
	rig_ask(&r, 2, VERB_UNLOCK, "b");
	rig_tick(&r, CORE_FLUSH);
	rig_expect(&r, "2: OK depth=0\n"
		       "1: OK fence=10 fence=40 depth=1 depth=1\n");
	rig_gone(&r, 1, false, false);
	rig_open(&r, 4);
	buf_clear(&r.said);
	rig_resume(&r, 4);
	rig_expect(&r, "4: has 1\n"
		       "4: OK id=1 locks=2\n");
	rig_fini(&r);
}
END_TEST

START_TEST(watches_outlive_the_connection)
{
	struct rig r;

	rig_init(&r, 3);
	rig_tenure(&r, 1, 50000);
	rig_ask(&r, 1, VERB_WATCH, "a");
	rig_ask(&r, 1, VERB_WATCH, "b");
	rig_gone(&r, 1, false, false);
	buf_clear(&r.said);
	rig_ask(&r, 2, VERB_LOCK, "a");
	rig_ask(&r, 2, VERB_UNLOCK, "a");
	rig_ask(&r, 2, VERB_LOCK, "a");
	buf_clear(&r.said);
	rig_resume(&r, 3);
	rig_expect(&r, "3: has 1\n"
		       "3: OK id=1 locks=0\n"
		       "3: !FREE b\n"
		       "3: !HELD a fence=20 broker=b1\n");
	rig_fini(&r);
}
END_TEST

/* One step may take a name and give it up: nothing has changed then. */
START_TEST(quick_changes_are_one)
{
	struct rig r;

	rig_init(&r, 3);
	rig_ask(&r, 1, VERB_LOCK, "a");
	rig_ask(&r, 3, VERB_WATCH, "a");
	rig_ask_quietly(&r, 2, VERB_LOCK, "a", 0);
	buf_clear(&r.said);
	rig_ask(&r, 1, VERB_UNLOCK, "a");
	rig_expect(&r, "1: OK depth=0\n"
		       "3: !HELD a fence=20 broker=b1\n"
		       "2: OK fence=20 depth=1\n");
	rig_fini(&r);
}
END_TEST

/* What another broker does is read from the key, once a lease. */
START_TEST(others_are_looked_at_once_a_lease)
{
	struct rig r;
	size_t looks;

	rig_init(&r, 3);
	r.hold_back[OP_STATUS] = true;
	rig_ask(&r, 1, VERB_WATCH, "a");
	rig_ask(&r, 2, VERB_WATCH, "a");
	ck_assert_uint_eq(r.nwaiting, 1);
	r.hold_back[OP_STATUS] = false;
	rig_answer(&r, r.waiting[--r.nwaiting], OP_STATUS);
	rig_expect(&r, "1: OK\n"
		       "1: !FREE a\n"
		       "2: OK\n"
		       "2: !FREE a\n");
	r.status.text = "b2.0123456789abcdef.7|4711";
	r.status.text_len = strlen(r.status.text);
	rig_pass(&r, LEASE_MS);
	rig_expect(&r, "1: !HELD a fence=4711 broker=b2\n"
		       "2: !HELD a fence=4711 broker=b2\n");
	r.hold_back[OP_STATUS] = true;
	rig_pass(&r, LEASE_MS);
	looks = r.nwaiting;
	ck_assert_uint_eq(looks, 1);
	rig_ask(&r, 1, VERB_UNWATCH, "a");
	rig_ask(&r, 2, VERB_UNWATCH, "a");
	rig_answer(&r, r.waiting[0], OP_STATUS);
	rig_pass(&r, 3 * LEASE_MS);
	ck_assert_uint_eq(r.nwaiting, looks);
	rig_expect(&r, "1: OK\n"
		       "2: OK\n");
	rig_fini(&r);
}
END_TEST

START_TEST(watches_are_bounded)
{
	static const char *const names[] = { "a", "b", "c", "d" };
	struct rig r;
	size_t i;

	rig_init(&r, 1);
	for (i = 0; i < COUNT(names); i++)
		rig_ask(&r, 1, VERB_WATCH, names[i]);
	buf_clear(&r.said);
	rig_ask(&r, 1, VERB_WATCH, "e");
	rig_ask(&r, 1, VERB_WATCH, "a");
	rig_expect(&r, "1: ERR limit\n"
		       "1: OK\n"
		       "1: !FREE a\n");
	rig_fini(&r);
}
END_TEST

START_TEST(a_forced_release_here)
{
	struct rig r;

	rig_init(&r, 3);
	rig_ask(&r, 1, VERB_LOCK, "a");
	rig_ask_quietly(&r, 2, VERB_LOCK, "a", 0);
	buf_clear(&r.said);
	r.hold_back[OP_END] = true;
	rig_ask(&r, 3, VERB_UNLOCK_FORCE, "a");
	rig_expect(&r, "1: !LOST a fence=10 reason=forced\n");
	rig_answer(&r, r.waiting[0], OP_END);
	rig_tick(&r, CORE_FLUSH);
	rig_expect(&r, "3: OK\n"
		       "2: OK fence=30 depth=1\n");
	rig_fini(&r);
}
END_TEST

START_TEST(a_forced_release_elsewhere)
{
	static const struct {
		enum outcome_status status;
		const char *text;
		bool heard;
		const char *said;
	} rows[] = {
		{ OUTCOME_GONE, "", false, "1: ERR not-held\n" },
		{ OUTCOME_ENDED, "", false, "1: OK\n" },
		{ OUTCOME_VALUE, "b2.0123456789abcdef.7|4", false,
		    "1: ERR unavailable\n" },
		{ OUTCOME_VALUE, "b1.0000000000000001.7|4", false,
		    "1: ERR not-held\n" },
		{ OUTCOME_UNKNOWN, "", false, "1: ERR unavailable\n" },
		{ OUTCOME_REFUSED, "no", false, "1: ERR unavailable\n" },
		{ OUTCOME_VALUE, "b2.0123456789abcdef.7|4", true, "" },
	};
	struct rig r;

	rig_init(&r, 1);
	r.status = (struct outcome){ .status = rows[_i].status,
		.text = rows[_i].text,
		.text_len = strlen(rows[_i].text),
		.waiting = rows[_i].heard };
	rig_ask(&r, 1, VERB_UNLOCK_FORCE, "a");
	rig_expect(&r, rows[_i].said);
	if (rows[_i].heard) {
		/* A renewal that drew fences has not let it go. */
		r.status.text = "b2.0123456789abcdef.7|9";
		rig_pass(&r, 500);
		rig_expect(&r, "");
		r.status.text = "b3.0123456789abcdef.1|10";
		r.status.text_len = strlen(r.status.text);
		rig_pass(&r, 300);
		rig_expect(&r, "1: OK\n");
	}
	rig_fini(&r);
}
END_TEST

START_TEST(a_forced_release_that_is_not_heeded)
{
	struct rig r;

	rig_init(&r, 1);
	r.status.text = "b2.0123456789abcdef.7|4";
	r.status.text_len = strlen(r.status.text);
	r.status.waiting = true;
	rig_ask(&r, 1, VERB_UNLOCK_FORCE, "a");
	rig_pass(&r, 999);
	rig_expect(&r, "");
	rig_pass(&r, 1);
	rig_expect(&r, "1: ERR unavailable\n");
	rig_fini(&r);
}
END_TEST

/* Sessions that have something to lose. */
#define MANY 150

static void
many_hold(struct rig *r, int64_t hold_ms)
{
	char name[24];
	unsigned i;

	for (i = 1; i <= MANY; i++) {
		(void)snprintf(name, sizeof(name), "n%u", i);
		rig_ask_quietly(r, i, VERB_LOCK, name, hold_ms);
	}
	rig_tick(r, CORE_FLUSH);
}

START_TEST(of_many_losses_the_first_are_named)
{
	struct core_event down = { .kind = CORE_LINK };
	struct rig r;

	rig_init(&r, MANY);
	many_hold(&r, 0);
	down.u.link.why = "test";
	rig_step(&r, &down);
	rig_pass(&r, 2 * LEASE_MS);
	ck_assert_uint_eq(r.noted[NOTICE_LOCK_LOST], 100);
	ck_assert_uint_eq(r.counted[NOTICE_MORE_LOST], MANY - 100);
	/* A line at once, and one a second later. */
	ck_assert_uint_ge(r.noted[NOTICE_MORE_LOST], 1);
	ck_assert_uint_le(r.noted[NOTICE_MORE_LOST], 2);
	ck_assert_uint_eq(r.noted[NOTICE_LOCK_BOUND], 0);
	rig_fini(&r);
}
END_TEST

/* Their clients had set it; and the next second is another. */
START_TEST(of_many_bounds_the_first_are_named)
{
	struct rig r;
	unsigned i;

	rig_init(&r, MANY);
	for (i = 1; i <= 3; i++) {
		many_hold(&r, 500);
		rig_pass(&r, 1500);
		ck_assert_uint_eq(r.noted[NOTICE_LOCK_BOUND], 100 * i);
	}
	rig_pass(&r, 1500);
	ck_assert_uint_eq(r.counted[NOTICE_MORE_BOUND], 3 * (MANY - 100));
	ck_assert_uint_eq(r.noted[NOTICE_LOCK_LOST], 0);
	rig_fini(&r);
}
END_TEST

static TCase *
log_cases(void)
{
	TCase *tc = tcase_create("log");

	tcase_add_test(tc, of_many_losses_the_first_are_named);
	tcase_add_test(tc, of_many_bounds_the_first_are_named);
	return tc;
}

static TCase *
session_cases(void)
{
	TCase *tc = tcase_create("session");

	tcase_add_loop_test(tc, a_session_survives_its_connection, 0, 2);
	tcase_add_loop_test(tc, only_its_user_resumes_it, 0, 2);
	tcase_add_test(tc, what_it_holds_is_known);
	tcase_add_test(tc, its_grace_runs_out);
	tcase_add_test(tc, who_is_late_finds_nothing_that_has_yet_to_end);
	tcase_add_test(tc, quit_does_not_wait);
	tcase_add_test(tc, a_living_connection_is_closed);
	tcase_add_loop_test(tc, who_is_back_has_what_was_kept_for_nobody, 0, 2);
	tcase_add_test(tc, only_a_bare_session_takes_over);
	tcase_add_test(tc, no_other_key_will_do);
	tcase_add_test(tc, an_untold_grant_is_taken_back);
	tcase_add_test(tc, what_waits_leaves_its_queue);
	tcase_add_test(tc, events_are_told_again);
	tcase_add_test(tc, what_is_shared_again_is_not_told_to_be_lost);
	return tc;
}

static TCase *
watch_cases(void)
{
	TCase *tc = tcase_create("watch");

	tcase_add_test(tc, watches_outlive_the_connection);
	tcase_add_test(tc, quick_changes_are_one);
	tcase_add_test(tc, others_are_looked_at_once_a_lease);
	tcase_add_test(tc, watches_are_bounded);
	return tc;
}

static TCase *
force_cases(void)
{
	TCase *tc = tcase_create("force");

	tcase_add_test(tc, a_forced_release_here);
	tcase_add_loop_test(tc, a_forced_release_elsewhere, 0, 7);
	tcase_add_test(tc, a_forced_release_that_is_not_heeded);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = {
		session_cases,
		watch_cases,
		force_cases,
		log_cases,
	};

	return suite_run("session", cases, COUNT(cases));
}
