/*
 * Sessions, watches and forced releases as stories: what the core is told, and
 * all that it says, as text.
 *
 * A line is `CONNECTION: what it is told`; `-` is nobody.  The store answers at
 * once, but for operations that a story holds back.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"
#include "core/dump.h"
#include "suite.h"

#define LEASE_MS 10000
#define OPS_MAX 64

/* An operation that is to be answered. */
struct asked {
	uint64_t id;
	enum op_kind kind;
	bool draws; /* fences */
};

/* One core, the time, and what it said.  One a test. */
struct rig {
	struct core *core;
	struct effects fx;
	struct buf said;
	struct buf key; /* of the last SESSION */
	int64_t now_ms;
	uint64_t fence;
	bool hold_back[OP_MAX];	   /* not answered by itself */
	struct outcome status;	   /* of STATUS and FORCE */
	uint64_t waiting[OPS_MAX]; /* held back: ids */
	size_t nwaiting;
	struct asked asked[OPS_MAX];
	size_t nasked;
};

static const char *const field_keys[] = {
#define FIELD(id, key, how) [FIELD_##id] = key,
	FIELDS(FIELD)
#undef FIELD
};

static const char *const event_words[] = {
#define EVENT(id, word) [EVENT_##id] = word,
	EVENTS(EVENT)
#undef EVENT
};

static const char *const status_words[] = { "OK", "BUSY", "TIMEOUT",
	"CANCELLED", "ERR" };

static void
say_fields(struct rig *r, const struct effect *e)
{
	const struct field *f;
	size_t i;

	for (i = 0; i < e->nfields; i++) {
		f = &r->fx.fields[e->field + i];
		buf_addf(&r->said, " %s=", field_keys[f->id]);
		if (f->id == FIELD_KEY) {
			buf_clear(&r->key);
			buf_add(
			    &r->key, buf_data(&r->fx.text) + f->str, f->len);
			buf_adds(&r->said, "K");
		} else if (f->len > 0) {
			buf_add(
			    &r->said, buf_data(&r->fx.text) + f->str, f->len);
		} else {
			buf_add_u64(&r->said, f->num);
		}
	}
}

static void
say(struct rig *r, const struct effect *e)
{
	static const char *const errors[] = {
#define ERROR(id, word) [ERR_##id] = word,
		ERRORS(ERROR)
#undef ERROR
	};

	if (e->conn == 0)
		buf_adds(&r->said, "-:");
	else
		buf_addf(&r->said, "%" PRIu64 ":", e->conn);
	if (e->kind == EFFECT_CLOSE)
		buf_adds(&r->said, " closed");
	else if (e->kind == EFFECT_ATTACH)
		buf_addf(&r->said, " has %" PRIu64, e->session);
	else if (e->kind == EFFECT_EVENT)
		buf_addf(&r->said, " %s %.*s", event_words[e->event],
		    (int)e->name_len, buf_data(&r->fx.text) + e->name);
	else if (e->status == STATUS_ERR)
		buf_addf(&r->said, " ERR %s", errors[e->code]);
	else
		buf_addf(&r->said, " %s", status_words[e->status]);
	say_fields(r, e);
	buf_adds(&r->said, "\n");
}

/* One step: what it says is written down, what it asks for is noted. */
static void
step_once(struct rig *r, struct core_event *ev)
{
	const struct op *op;
	size_t i;

	ev->now_ms = r->now_ms;
	core_step(r->core, ev, &r->fx);
	for (i = 0; i < r->fx.n; i++) {
		if (r->fx.v[i].kind == EFFECT_LOG)
			continue;
		if (r->fx.v[i].kind != EFFECT_OP) {
			say(r, &r->fx.v[i]);
			continue;
		}
		op = effects_op(&r->fx, &r->fx.v[i]);
		ck_assert_uint_lt(r->nasked, OPS_MAX);
		if (r->hold_back[op->kind])
			r->waiting[r->nwaiting++] = op->id;
		else
			r->asked[r->nasked++] =
			    (struct asked){ op->id, op->kind, op->reserve > 0 };
	}
	effects_clear(&r->fx);
}

static void
answer_once(struct rig *r, struct asked a)
{
	struct core_event ev = { .kind = CORE_OUTCOME };
	struct outcome o = { .status = OUTCOME_DONE, .text = "" };

	if (a.kind == OP_ACQUIRE || a.kind == OP_CONFIRM) {
		o.status = OUTCOME_GRANTED;
		o.fence = r->fence += 10;
	} else if (a.kind == OP_RENEW) {
		o.status = OUTCOME_RENEWED;
		o.fence = a.draws ? r->fence += 10 : 0;
	} else if (a.kind == OP_END) {
		o.status = OUTCOME_ENDED;
	} else if (a.kind == OP_STATUS || a.kind == OP_FORCE) {
		o = r->status;
	}
	ev.u.outcome.op = a.id;
	ev.u.outcome.sent_ms = r->now_ms;
	ev.u.outcome.outcome = &o;
	step_once(r, &ev);
}

/* The store answers until nothing more is asked. */
static void
settle(struct rig *r)
{
	struct asked a;

	while (r->nasked > 0) {
		a = r->asked[0];
		r->nasked--;
		memmove(r->asked, r->asked + 1, r->nasked * sizeof(a));
		answer_once(r, a);
	}
}

static void
step(struct rig *r, struct core_event *ev)
{
	step_once(r, ev);
	settle(r);
}

/* Answers what was held back. */
static void
answer(struct rig *r, uint64_t id, enum op_kind kind)
{
	answer_once(r, (struct asked){ id, kind, false });
	settle(r);
}

static void
tick(struct rig *r, enum core_event_kind kind)
{
	struct core_event ev = { .kind = kind };

	step(r, &ev);
}

/* Lets time pass; whatever is due happens when it is due. */
static void
pass(struct rig *r, int64_t ms)
{
	int64_t until_ms = r->now_ms + ms;

	while (core_deadline(r->core) <= until_ms) {
		if (core_deadline(r->core) > r->now_ms)
			r->now_ms = core_deadline(r->core);
		tick(r, CORE_TIME);
	}
	r->now_ms = until_ms;
	tick(r, CORE_TIME);
}

static void
rig_open(struct rig *r, uint64_t session)
{
	struct core_event ev = { .kind = CORE_OPEN };

	ev.u.open.session = session;
	ev.u.open.peer = "peer";
	ev.u.open.tcp = true;
	step(r, &ev);
}

static void
rig_init(struct rig *r, unsigned sessions)
{
	struct core_config config = {
		.broker = "b1",
		.instance = 1,
		.seed = { 1, 2 },
		.shards = 1,
		.lease_ms = LEASE_MS,
		.reply_timeout_ms = 1000,
		.max_grace_ms = 60000,
		.handovers = 16,
		.max_holds = 4,
		.max_waiters = 16,
	};
	struct guard_report report = { .state = GUARD_BLESSED, .text = "" };
	struct core_event ev = { .kind = CORE_LINK };
	unsigned i;

	memset(r, 0, sizeof(*r));
	r->core = core_new(&config);
	r->now_ms = 1000;
	r->status.status = OUTCOME_VALUE;
	r->status.text = "";
	effects_init(&r->fx);
	buf_init(&r->said);
	buf_init(&r->key);
	ev.u.link.up = true;
	step(r, &ev);
	ev = (struct core_event){ .kind = CORE_GUARD };
	ev.u.guard.report = &report;
	step(r, &ev);
	for (i = 1; i <= sessions; i++)
		rig_open(r, i);
}

static void
rig_fini(struct rig *r)
{
	core_free(r->core);
	effects_fini(&r->fx);
	buf_fini(&r->said);
	buf_fini(&r->key);
}

/* All that was said since the last time. */
static void
expect(struct rig *r, const char *text)
{
	buf_addc(&r->said, '\0');
	ck_assert_str_eq(buf_data(&r->said), text);
	buf_clear(&r->said);
}

static void
ask_quietly(struct rig *r, uint64_t session, enum core_verb verb,
    const char *name, int64_t hold_ms)
{
	struct core_name one = { name, strlen(name) };
	struct core_request rq = { .verb = verb,
		.ref = 100,
		.names = &one,
		.nnames = 1,
		.wait_ms = CORE_WAIT_FOREVER,
		.hold_ms = hold_ms,
		.has_hold = hold_ms > 0,
		.queue_limit = UINT64_MAX };
	struct core_event ev = { .kind = CORE_REQUEST };

	ev.u.request.session = session;
	ev.u.request.request = &rq;
	step(r, &ev);
}

static void
ask(struct rig *r, uint64_t session, enum core_verb verb, const char *name)
{
	ask_quietly(r, session, verb, name, 0);
	tick(r, CORE_FLUSH);
}

static void
tenure(struct rig *r, uint64_t session, int64_t grace_ms)
{
	struct core_tenure t = { .has_grace = true, .grace_ms = grace_ms };
	struct core_event ev = { .kind = CORE_TENURE };

	memset(t.secret, (int)session + 0x5a, sizeof(t.secret));
	ev.u.tenure.session = session;
	ev.u.tenure.tenure = &t;
	step(r, &ev);
}

static void
resume(struct rig *r, uint64_t session)
{
	struct core_event ev = { .kind = CORE_RESUME };

	ev.u.resume.session = session;
	ev.u.resume.key = buf_data(&r->key);
	ev.u.resume.key_len = buf_len(&r->key);
	step(r, &ev);
}

static void
gone(struct rig *r, uint64_t session, bool orderly, bool quit)
{
	struct core_event ev = { .kind = CORE_GONE };

	ev.u.gone.session = session;
	ev.u.gone.orderly = orderly;
	ev.u.gone.quit = quit;
	step(r, &ev);
}

START_TEST(a_session_survives_its_connection)
{
	struct rig r;

	rig_init(&r, 3);
	tenure(&r, 1, 5000);
	ask(&r, 1, CORE_LOCK, "a");
	ask(&r, 1, CORE_LOCK, "a");
	expect(&r, "1: OK id=1 key=K grace=5000\n"
		   "1: OK fence=10 depth=1\n"
		   "1: OK fence=10 depth=2\n");
	gone(&r, 1, _i == 0, false);
	ask_quietly(&r, 2, CORE_LOCK, "a", 0);
	pass(&r, 4000);
	resume(&r, 3);
	expect(&r, "3: has 1\n"
		   "3: OK id=1 locks=1\n");
	ask(&r, 1, CORE_UNLOCK, "a");
	ask(&r, 1, CORE_UNLOCK, "a");
	tick(&r, CORE_FLUSH);
	expect(&r, "3: OK depth=1\n"
		   "3: OK depth=0\n"
		   "2: OK fence=20 depth=1\n");
	rig_fini(&r);
}
END_TEST

START_TEST(its_grace_runs_out)
{
	struct rig r;

	rig_init(&r, 3);
	tenure(&r, 1, 5000);
	ask(&r, 1, CORE_LOCK, "a");
	gone(&r, 1, false, false);
	ask_quietly(&r, 2, CORE_LOCK, "a", 0);
	buf_clear(&r.said);
	pass(&r, 4999);
	tick(&r, CORE_FLUSH);
	expect(&r, "");
	pass(&r, 1);
	tick(&r, CORE_FLUSH);
	expect(&r, "2: OK fence=20 depth=1\n");
	resume(&r, 3);
	expect(&r, "3: ERR not-found\n");
	rig_fini(&r);
}
END_TEST

START_TEST(quit_does_not_wait)
{
	struct rig r;

	rig_init(&r, 2);
	tenure(&r, 1, 5000);
	ask(&r, 1, CORE_LOCK, "a");
	gone(&r, 1, true, true);
	buf_clear(&r.said);
	ask(&r, 2, CORE_LOCK, "a");
	resume(&r, 2);
	expect(&r, "2: OK fence=20 depth=1\n"
		   "2: ERR not-found\n");
	rig_fini(&r);
}
END_TEST

START_TEST(a_living_connection_is_closed)
{
	struct rig r;

	rig_init(&r, 2);
	tenure(&r, 1, 0);
	ask(&r, 1, CORE_LOCK, "a");
	buf_clear(&r.said);
	resume(&r, 2);
	expect(&r, "1: closed\n"
		   "2: has 1\n"
		   "2: OK id=1 locks=1\n");
	ask(&r, 1, CORE_LOCK, "a");
	expect(&r, "2: OK fence=10 depth=2\n");
	gone(&r, 1, false, false);
	rig_fini(&r);
}
END_TEST

START_TEST(only_a_bare_session_takes_over)
{
	struct rig r;

	rig_init(&r, 2);
	tenure(&r, 1, 0);
	ask(&r, 2, CORE_LOCK, "a");
	buf_clear(&r.said);
	resume(&r, 2);
	expect(&r, "2: ERR bad-request\n");
	resume(&r, 1);
	expect(&r, "1: OK id=1 locks=0\n");
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
	tenure(&r, 1, 5000);
	buf_clear(&r.said);
	ck_assert_uint_ge(buf_len(&r.key), 16 + 32);
	for (i = 0; i < buf_len(&r.key); i++) {
		p = (char *)(uintptr_t)buf_data(&r.key) + i;
		*p ^= 1;
		resume(&r, 2);
		expect(&r, "2: ERR not-found\n");
		*p ^= 1;
	}
	resume(&r, 2);
	expect(&r, "1: closed\n"
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
	tenure(&r, 1, 5000);
	ask(&r, 1, CORE_LOCK, "b");
	ask_quietly(&r, 1, CORE_LOCK, "b", 0);
	ask_quietly(&r, 1, CORE_LOCK, "a", 0);
	gone(&r, 1, false, false);
	buf_clear(&r.said);
	ask(&r, 2, CORE_LOCK, "a");
	expect(&r, "2: OK fence=30 depth=1\n");
	resume(&r, 3);
	ask(&r, 1, CORE_UNLOCK, "b");
	expect(&r, "3: has 1\n"
		   "3: OK id=1 locks=1\n"
		   "3: OK depth=0\n");
	rig_fini(&r);
}
END_TEST

START_TEST(what_waits_leaves_its_queue)
{
	struct rig r;

	rig_init(&r, 3);
	ask(&r, 2, CORE_LOCK, "a");
	tenure(&r, 1, 5000);
	ask(&r, 1, CORE_LOCK, "a");
	gone(&r, 1, false, false);
	ask(&r, 2, CORE_UNLOCK, "a");
	buf_clear(&r.said);
	resume(&r, 3);
	expect(&r, "3: has 1\n"
		   "3: OK id=1 locks=0\n");
	rig_fini(&r);
}
END_TEST

START_TEST(events_are_told_again)
{
	struct rig r;

	rig_init(&r, 3);
	tenure(&r, 1, 50000);
	ask_quietly(&r, 1, CORE_LOCK, "a", 1000);
	ask(&r, 1, CORE_LOCK, "b");
	buf_clear(&r.said);
	r.hold_back[OP_RENEW] = true;
	pass(&r, 1000);
	expect(&r, "1: !LOST a fence=10 reason=hold\n");
	gone(&r, 1, false, false);
	pass(&r, LEASE_MS - 2000);
	expect(&r, "-: !ATRISK b fence=20 left=4898\n");
	r.hold_back[OP_RENEW] = false;
	answer(&r, r.waiting[0], OP_RENEW);
	expect(&r, "-: !SAFE b fence=20\n");
	resume(&r, 2);
	expect(&r, "2: has 1\n"
		   "2: OK id=1 locks=1\n"
		   "2: !LOST a fence=10 reason=hold\n"
		   "2: !SAFE b fence=20\n");
	/* Nothing was heard of the client: it may not have heard them. */
	resume(&r, 3);
	expect(&r, "2: closed\n"
		   "3: has 1\n"
		   "3: OK id=1 locks=1\n"
		   "3: !LOST a fence=10 reason=hold\n"
		   "3: !SAFE b fence=20\n");
	ck_assert_int_gt(core_ping(r.core, r.now_ms, 1), 0);
	gone(&r, 1, false, false);
	rig_open(&r, 4);
	resume(&r, 4);
	expect(&r, "4: has 1\n"
		   "4: OK id=1 locks=1\n");
	rig_fini(&r);
}
END_TEST

START_TEST(watches_outlive_the_connection)
{
	struct rig r;

	rig_init(&r, 3);
	tenure(&r, 1, 50000);
	ask(&r, 1, CORE_WATCH, "a");
	ask(&r, 1, CORE_WATCH, "b");
	gone(&r, 1, false, false);
	buf_clear(&r.said);
	ask(&r, 2, CORE_LOCK, "a");
	ask(&r, 2, CORE_UNLOCK, "a");
	ask(&r, 2, CORE_LOCK, "a");
	buf_clear(&r.said);
	resume(&r, 3);
	expect(&r, "3: has 1\n"
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
	ask(&r, 1, CORE_LOCK, "a");
	ask(&r, 3, CORE_WATCH, "a");
	ask_quietly(&r, 2, CORE_LOCK, "a", 0);
	buf_clear(&r.said);
	ask(&r, 1, CORE_UNLOCK, "a");
	expect(&r, "1: OK depth=0\n"
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
	ask(&r, 1, CORE_WATCH, "a");
	ask(&r, 2, CORE_WATCH, "a");
	expect(&r, "1: OK\n"
		   "1: !FREE a\n"
		   "2: OK\n"
		   "2: !FREE a\n");
	r.status.text = "b2.0123456789abcdef.7|4711";
	r.status.text_len = strlen(r.status.text);
	pass(&r, LEASE_MS);
	expect(&r, "1: !HELD a fence=4711 broker=b2\n"
		   "2: !HELD a fence=4711 broker=b2\n");
	r.hold_back[OP_STATUS] = true;
	pass(&r, LEASE_MS);
	looks = r.nwaiting;
	ck_assert_uint_eq(looks, 1);
	ask(&r, 1, CORE_UNWATCH, "a");
	ask(&r, 2, CORE_UNWATCH, "a");
	answer(&r, r.waiting[0], OP_STATUS);
	pass(&r, 3 * LEASE_MS);
	ck_assert_uint_eq(r.nwaiting, looks);
	expect(&r, "1: OK\n"
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
		ask(&r, 1, CORE_WATCH, names[i]);
	buf_clear(&r.said);
	ask(&r, 1, CORE_WATCH, "e");
	ask(&r, 1, CORE_WATCH, "a");
	expect(&r, "1: ERR limit\n"
		   "1: OK\n"
		   "1: !FREE a\n");
	rig_fini(&r);
}
END_TEST

START_TEST(a_forced_release_here)
{
	struct rig r;

	rig_init(&r, 3);
	ask(&r, 1, CORE_LOCK, "a");
	ask_quietly(&r, 2, CORE_LOCK, "a", 0);
	buf_clear(&r.said);
	r.hold_back[OP_END] = true;
	ask(&r, 3, CORE_FORCE, "a");
	expect(&r, "1: !LOST a fence=10 reason=forced\n");
	answer(&r, r.waiting[0], OP_END);
	tick(&r, CORE_FLUSH);
	expect(&r, "3: OK\n"
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
	ask(&r, 1, CORE_FORCE, "a");
	expect(&r, rows[_i].said);
	if (rows[_i].heard) {
		/* A renewal that drew fences has not let it go. */
		r.status.text = "b2.0123456789abcdef.7|9";
		pass(&r, 500);
		expect(&r, "");
		r.status.text = "b3.0123456789abcdef.1|10";
		r.status.text_len = strlen(r.status.text);
		pass(&r, 300);
		expect(&r, "1: OK\n");
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
	ask(&r, 1, CORE_FORCE, "a");
	pass(&r, 999);
	expect(&r, "");
	pass(&r, 1);
	expect(&r, "1: ERR unavailable\n");
	rig_fini(&r);
}
END_TEST

START_TEST(a_forced_release_by_another)
{
	struct core_event ev = { .kind = CORE_MESSAGE };
	struct rig r;

	rig_init(&r, 1);
	ask(&r, 1, CORE_LOCK, "a");
	buf_clear(&r.said);
	ev.u.message.text = "force 2 a";
	ev.u.message.len = strlen(ev.u.message.text);
	step(&r, &ev);
	expect(&r, "");
	ev.u.message.text = "force 1 a";
	step(&r, &ev);
	expect(&r, "1: !LOST a fence=10 reason=forced\n");
	ask(&r, 1, CORE_UNLOCK, "a");
	ask(&r, 1, CORE_LOCK, "a");
	expect(&r, "1: ERR lost\n"
		   "1: OK fence=20 depth=1\n");
	rig_fini(&r);
}
END_TEST

static TCase *
session_cases(void)
{
	TCase *tc = tcase_create("session");

	tcase_add_loop_test(tc, a_session_survives_its_connection, 0, 2);
	tcase_add_test(tc, its_grace_runs_out);
	tcase_add_test(tc, quit_does_not_wait);
	tcase_add_test(tc, a_living_connection_is_closed);
	tcase_add_test(tc, only_a_bare_session_takes_over);
	tcase_add_test(tc, no_other_key_will_do);
	tcase_add_test(tc, an_untold_grant_is_taken_back);
	tcase_add_test(tc, what_waits_leaves_its_queue);
	tcase_add_test(tc, events_are_told_again);
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
	tcase_add_test(tc, a_forced_release_by_another);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = {
		session_cases,
		watch_cases,
		force_cases,
	};

	return suite_run("session", cases, COUNT(cases));
}
