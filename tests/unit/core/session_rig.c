/*
 * The rig of session stories.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include <check.h>

#include "session_rig.h"

static const char *const field_keys[] = {
#define FIELD(id, key, how) [FIELD_##id] = key,
	FIELDS(FIELD)
#undef FIELD
#define LOGFIELD(id, key, how) [FIELD_##id] = key,
	    LOG_FIELDS(LOGFIELD)
#undef LOGFIELD
};

static const char *const event_words[] = {
#define EVENT(id, word) [EVENT_##id] = "!" word,
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

static void
note(struct rig *r, const struct effect *e)
{
	const struct field *f = &r->fx.fields[e->field];
	size_t i;

	r->noted[e->notice]++;
	for (i = 0; i < e->nfields; i++)
		if (f[i].id == FIELD_COUNT)
			r->counted[e->notice] += f[i].num;
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
		if (r->fx.v[i].kind == EFFECT_LOG) {
			note(r, &r->fx.v[i]);
			continue;
		}
		if (r->fx.v[i].kind != EFFECT_OP) {
			say(r, &r->fx.v[i]);
			continue;
		}
		op = effects_op(&r->fx, &r->fx.v[i]);
		ck_assert_uint_lt(r->nasked, OPS_MAX);
		if (r->hold_back[op->kind])
			r->waiting[r->nwaiting++] = op->id;
		else
			r->asked[r->nasked++] = (struct pending_op){ op->id,
				op->kind, op->reserve > 0 };
	}
	effects_clear(&r->fx);
}

static void
answer_once(struct rig *r, struct pending_op a)
{
	struct core_event ev = { .kind = CORE_OUTCOME };
	struct outcome o = { .status = OUTCOME_DONE, .text = "" };

	if (a.kind == OP_ACQUIRE || a.kind == OP_CONFIRM ||
	    a.kind == OP_CONVERT) {
		o.status = OUTCOME_GRANTED;
		o.fence = r->fence += 10;
	} else if (a.kind == OP_RENEW) {
		o.status = OUTCOME_RENEWED;
		o.fence = a.draws ? r->fence += 10 : 0;
	} else if (a.kind == OP_END) {
		o.status = OUTCOME_ENDED;
	} else if (a.kind == OP_STATUS || a.kind == OP_FORCE) {
		o = r->status;
	} else if (a.kind == OP_CLAIM || a.kind == OP_TOKEN ||
		   a.kind == OP_PASS || a.kind == OP_RETAIN) {
		o = r->token;
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
	struct pending_op a;

	while (r->nasked > 0) {
		a = r->asked[0];
		r->nasked--;
		memmove(r->asked, r->asked + 1, r->nasked * sizeof(a));
		answer_once(r, a);
	}
}

void
rig_step(struct rig *r, struct core_event *ev)
{
	step_once(r, ev);
	settle(r);
}

void
rig_answer(struct rig *r, uint64_t id, enum op_kind kind)
{
	answer_once(r, (struct pending_op){ id, kind, false });
	settle(r);
}

void
rig_tick(struct rig *r, enum core_event_kind kind)
{
	struct core_event ev = { .kind = kind };

	do
		rig_step(r, &ev);
	while (kind == CORE_FLUSH && core_has_grants(r->core));
}

void
rig_pass(struct rig *r, int64_t ms)
{
	int64_t until_ms = r->now_ms + ms;

	while (core_deadline(r->core) <= until_ms) {
		if (core_deadline(r->core) > r->now_ms)
			r->now_ms = core_deadline(r->core);
		rig_tick(r, CORE_TIME);
	}
	r->now_ms = until_ms;
	rig_tick(r, CORE_TIME);
}

void
rig_open(struct rig *r, uint64_t session)
{
	struct core_event ev = { .kind = CORE_OPEN };

	ev.u.open.session = session;
	ev.u.open.peer = "peer";
	ev.u.open.tcp = true;
	rig_step(r, &ev);
}

void
rig_init(struct rig *r, unsigned sessions)
{
	rig_init_slow(r, sessions, 0);
}

void
rig_init_slow(struct rig *r, unsigned sessions, unsigned work)
{
	struct core_config config = {
		.broker = "b1",
		.instance = 1,
		.seed = { 1, 2 },
		.shards = 1,
		.lease_ms = LEASE_MS,
		.reply_timeout_ms = 1000,
		.locks.max_grace_ms = 60000,
		.locks.handovers = 16,
		.limits.holds = 4,
		.locks.max_keep_ms = INT64_MAX,
		.locks.max_delay_ms = INT64_MAX,
		.locks.max_ttl_ms = INT64_MAX,
		.limits.unowned = 1000,
		.limits.waiters = 16,
		.work = work,
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
	rig_step(r, &ev);
	ev = (struct core_event){ .kind = CORE_GUARD };
	ev.u.guard.report = &report;
	rig_step(r, &ev);
	for (i = 1; i <= sessions; i++)
		rig_open(r, i);
}

void
rig_fini(struct rig *r)
{
	core_check(r->core);
	core_free(r->core);
	effects_fini(&r->fx);
	buf_fini(&r->said);
	buf_fini(&r->key);
}

void
rig_expect(struct rig *r, const char *text)
{
	buf_addc(&r->said, '\0');
	ck_assert_str_eq(buf_data(&r->said), text);
	buf_clear(&r->said);
}

void
rig_ask_quietly(struct rig *r, uint64_t session, enum verb_id verb,
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
	rig_step(r, &ev);
}

void
rig_ask(struct rig *r, uint64_t session, enum verb_id verb, const char *name)
{
	rig_ask_quietly(r, session, verb, name, 0);
	rig_tick(r, CORE_FLUSH);
}

void
rig_tenure(struct rig *r, uint64_t session, int64_t grace_ms)
{
	struct core_session_options t = { .has_grace = true,
		.grace_ms = grace_ms };
	struct core_event ev = { .kind = CORE_SESSION_OPTIONS };

	memset(t.secret, (int)session + 0x5a, sizeof(t.secret));
	ev.u.options.session = session;
	ev.u.options.options = &t;
	rig_step(r, &ev);
}

void
rig_resume(struct rig *r, uint64_t session)
{
	struct core_event ev = { .kind = CORE_RESUME };

	ev.u.resume.session = session;
	ev.u.resume.key = buf_data(&r->key);
	ev.u.resume.key_len = buf_len(&r->key);
	rig_step(r, &ev);
}

void
rig_user(struct rig *r, uint64_t session, const char *name)
{
	struct core_event ev = { .kind = CORE_USER };

	ev.u.user.session = session;
	ev.u.user.name = name;
	rig_step(r, &ev);
}

void
rig_gone(struct rig *r, uint64_t session, bool orderly, bool quit)
{
	struct core_event ev = { .kind = CORE_GONE };

	ev.u.gone.session = session;
	ev.u.gone.orderly = orderly;
	ev.u.gone.quit = quit;
	rig_step(r, &ev);
}
