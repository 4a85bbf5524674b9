/*
 * Steps a core and writes down its effects.  Sessions are opened when they
 * first ask.
 */
#include "config.h"

#include <check.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/hash.h"
#include "sync_rig.h"

#define SESSIONS_MAX 16
#define OPS_MAX 16

static struct {
	struct core *core;
	struct effects fx;
	int64_t now_ms;
	bool open[SESSIONS_MAX];
	uint64_t ops[OPS_MAX]; /* in flight, without those of the guard */
	int64_t sent_ms[OPS_MAX];
	unsigned nops;
	struct buf done;
} rig;

static const char *const op_words[] = {
#define OP(id, word, ...) [OP_##id] = word,
#include "store/ops.def"
#undef OP
};

static const char *const field_keys[] = {
#define FIELD(id, key, how) [FIELD_##id] = key,
	FIELDS(FIELD)
#undef FIELD
};

static const char *const event_words[] = {
#define EVENT(id, word) [EVENT_##id] = "!" word,
	EVENTS(EVENT)
#undef EVENT
};

static const char *const status_words[] = {
	[STATUS_OK] = "OK",
	[STATUS_BUSY] = "BUSY",
	[STATUS_TIMEOUT] = "TIMEOUT",
	[STATUS_CANCELLED] = "CANCELLED",
	[STATUS_ERR] = "ERR",
};

static void
note(const char *name, uint64_t n)
{
	if (n != 0)
		buf_addf(&rig.done, " %s=%" PRIu64, name, n);
}

/* Answers what the guard asks at once; the rest waits for rig_outcome(). */
static void
take_op(const struct op *op)
{
	if (op->kind == OP_HEARTBEAT || op->kind == OP_BLESS ||
	    op->kind == OP_IDLE)
		return;
	ck_assert_uint_lt(rig.nops, OPS_MAX);
	rig.sent_ms[rig.nops] = rig.now_ms;
	rig.ops[rig.nops++] = op->id;
	buf_addf(&rig.done, "%s %.*s", op_words[op->kind], (int)op->name_len,
	    op->name);
	note("have", op->have);
	note("need", op->need);
	note("want", op->want);
	note("limit", op->limit);
	if (op->kind == OP_ARRIVE || op->kind == OP_PARTY)
		note("gen", op->fence);
	if (op->flags & OP_QUEUE)
		buf_adds(&rig.done, " queue");
	if (op->flags & OP_NOTED)
		buf_adds(&rig.done, " noted");
	buf_adds(&rig.done, "; ");
}

static void
take_fields(const struct effect *e)
{
	const struct field *f = rig.fx.fields + e->field;
	uint32_t i;

	for (i = 0; i < e->nfields; i++, f++) {
		buf_addf(&rig.done, " %s=", field_keys[f->id]);
		if (f->len > 0)
			buf_add(
			    &rig.done, buf_data(&rig.fx.text) + f->str, f->len);
		else
			buf_addf(&rig.done, "%" PRIu64, f->num);
	}
	buf_adds(&rig.done, "; ");
}

static void
take_effect(const struct effect *e)
{
	switch (e->kind) {
	case EFFECT_REPLY:
		buf_addf(&rig.done, "%" PRIu64 "/%" PRIu64 " %s", e->session,
		    e->ref, status_words[e->status]);
		if (e->status == STATUS_ERR)
			buf_addf(&rig.done, " %s", err_word(e->code));
		take_fields(e);
		break;
	case EFFECT_EVENT:
		buf_addf(&rig.done, "%" PRIu64 " %s", e->session,
		    event_words[e->event]);
		if (e->name_len > 0)
			buf_addf(&rig.done, " %.*s", (int)e->name_len,
			    buf_data(&rig.fx.text) + e->name);
		take_fields(e);
		break;
	case EFFECT_OP:
		take_op(effects_op(&rig.fx, e));
		break;
	default:
		break;
	}
}

static void
step(struct core_event *ev)
{
	struct core_event flush = { .kind = CORE_FLUSH };
	size_t i;

	ev->now_ms = flush.now_ms = rig.now_ms;
	core_step(rig.core, ev, &rig.fx);
	if (core_has_grants(rig.core))
		core_step(rig.core, &flush, &rig.fx);
	for (i = 0; i < rig.fx.n; i++)
		take_effect(&rig.fx.v[i]);
	effects_clear(&rig.fx);
}

static void
report(enum guard_state state, const char *text)
{
	struct guard_report r = { .state = state, .text = text };
	struct core_event ev = { .kind = CORE_GUARD };

	r.text_len = strlen(text);
	ev.u.guard.sent_ms = rig.now_ms;
	ev.u.guard.report = &r;
	step(&ev);
}

void
rig_start(void)
{
	struct core_config config = {
		.broker = "b",
		.instance = 7,
		.check = 1,
		.seed = { 1, 2 },
		.shards = 1,
		.lease_ms = RIG_LEASE_MS,
		.reply_timeout_ms = RIG_REPLY_MS,
		.locks.handovers = 4,
		.limits.holds = 8,
		.locks.max_keep_ms = INT64_MAX,
		.locks.max_delay_ms = INT64_MAX,
		.locks.max_ttl_ms = INT64_MAX,
		.limits.unowned = 1000,
		.limits.waiters = 8,
	};

	memset(&rig, 0, sizeof(rig));
	hash_seed(1, 2);
	rig.now_ms = 1000000;
	effects_init(&rig.fx);
	buf_init(&rig.done);
	rig.core = core_new(&config);
	rig_link(true);
	report(GUARD_BLESSED, "");
}

void
rig_stop(void)
{
	effects_fini(&rig.fx);
	buf_fini(&rig.done);
	core_free(rig.core);
}

struct core *
rig_core(void)
{
	return rig.core;
}

void
rig_link(bool up)
{
	struct core_event ev = { .kind = CORE_LINK };

	ev.u.link.up = up;
	step(&ev);
}

void
rig_pending(const char *pend)
{
	report(GUARD_PENDING, pend);
}

void
rig_blessed(void)
{
	report(GUARD_BLESSED, "");
}

void
rig_stopping(void)
{
	struct core_event ev = { .kind = CORE_STOP };

	step(&ev);
}

void
rig_pass(int64_t ms)
{
	struct core_event ev = { .kind = CORE_TIME };
	int64_t end_ms = rig.now_ms + ms, at_ms;

	while ((at_ms = core_deadline(rig.core)) <= end_ms) {
		if (at_ms > rig.now_ms)
			rig.now_ms = at_ms;
		step(&ev);
	}
	rig.now_ms = end_ms;
}

static void
ask(uint64_t session, struct core_request *rq, const char *name)
{
	struct core_event ev = { .kind = CORE_OPEN };
	struct core_name names = { name, strlen(name) };

	ck_assert_uint_lt(session, SESSIONS_MAX);
	if (!rig.open[session]) {
		rig.open[session] = true;
		ev.u.open.session = session;
		ev.u.open.peer = "peer";
		step(&ev);
	}
	rq->names = &names;
	rq->nnames = 1;
	ev.kind = CORE_REQUEST;
	ev.u.request.session = session;
	ev.u.request.request = rq;
	step(&ev);
}

void
rig_acquire(uint64_t session, uint64_t ref, const char *name, uint64_t limit,
    uint64_t permits, int64_t wait_ms)
{
	struct core_request rq = { .verb = VERB_ACQUIRE,
		.ref = ref,
		.limit = limit,
		.number = permits,
		.wait_ms = wait_ms };

	ask(session, &rq, name);
}

void
rig_hold(uint64_t session, uint64_t ref, const char *name, uint64_t limit,
    int64_t hold_ms)
{
	struct core_request rq = { .verb = VERB_ACQUIRE,
		.ref = ref,
		.limit = limit,
		.number = 1,
		.wait_ms = CORE_WAIT_FOREVER,
		.has_hold = true,
		.hold_ms = hold_ms };

	ask(session, &rq, name);
}

void
rig_release(uint64_t session, uint64_t ref, const char *name, uint64_t permits)
{
	struct core_request rq = {
		.verb = VERB_RELEASE, .ref = ref, .number = permits
	};

	ask(session, &rq, name);
}

void
rig_latch(uint64_t session, uint64_t ref, const char *name, uint64_t count)
{
	struct core_request rq = {
		.verb = VERB_LATCH, .ref = ref, .number = count, .ttl_ms = 1000
	};

	ask(session, &rq, name);
}

void
rig_countdown(uint64_t session, uint64_t ref, const char *name, uint64_t by)
{
	struct core_request rq = {
		.verb = VERB_COUNTDOWN, .ref = ref, .number = by
	};

	ask(session, &rq, name);
}

void
rig_await(uint64_t session, uint64_t ref, const char *name, int64_t wait_ms)
{
	struct core_request rq = {
		.verb = VERB_AWAIT, .ref = ref, .wait_ms = wait_ms
	};

	ask(session, &rq, name);
}

void
rig_barrier(uint64_t session, uint64_t ref, const char *name, uint64_t parties,
    int64_t wait_ms)
{
	struct core_request rq = { .verb = VERB_BARRIER,
		.ref = ref,
		.limit = parties,
		.wait_ms = wait_ms };

	ask(session, &rq, name);
}

void
rig_cancel(uint64_t session, uint64_t ref, uint64_t by)
{
	struct core_event ev = { .kind = CORE_CANCEL };

	ev.u.cancel.session = session;
	ev.u.cancel.ref = ref;
	ev.u.cancel.by = by;
	step(&ev);
}

void
rig_gone(uint64_t session)
{
	struct core_event ev = { .kind = CORE_GONE };

	ev.u.gone.session = session;
	rig.open[session] = false;
	step(&ev);
}

void
rig_drain(uint64_t session)
{
	struct core_event ev = { .kind = CORE_DRAIN };

	ev.u.gone.session = session;
	step(&ev);
}

void
rig_message(const char *text)
{
	struct core_event ev = { .kind = CORE_MESSAGE };

	ev.u.message.text = text;
	ev.u.message.len = strlen(text);
	step(&ev);
}

void
rig_outcome_full(enum outcome_status status, uint64_t first, uint64_t second,
    int64_t ttl_ms, bool waiting, uint64_t fence)
{
	struct core_event ev = { .kind = CORE_OUTCOME };
	struct outcome o = {
		.status = status,
		.first = first,
		.second = second,
		.ttl_ms = ttl_ms,
		.waiting = waiting,
		.fence = fence,
		.text = "",
	};
	unsigned i;

	ck_assert_uint_gt(rig.nops, 0);
	ev.u.outcome.op = rig.ops[0];
	ev.u.outcome.sent_ms = rig.sent_ms[0];
	ev.u.outcome.outcome = &o;
	if (status == OUTCOME_REFUSED) {
		o.text = "refused";
		o.text_len = 7;
	}
	rig.nops--;
	for (i = 0; i < rig.nops; i++) {
		rig.ops[i] = rig.ops[i + 1];
		rig.sent_ms[i] = rig.sent_ms[i + 1];
	}
	step(&ev);
}

void
rig_outcome(enum outcome_status status, uint64_t first, uint64_t second)
{
	rig_outcome_full(status, first, second, -1, false, 0);
}

void
rig_expect(const char *file, int line, const char *text)
{
	size_t n = buf_len(&rig.done);
	const char *p;

	buf_addc(&rig.done, '\0');
	p = buf_data(&rig.done);
	if (n >= 2)
		buf_data(&rig.done)[n - 2] = '\0';
	if (strcmp(p, text) != 0)
		ck_abort_msg(
		    "%s:%d: did\n\t%s\nnot\n\t%s", file, line, p, text);
	buf_clear(&rig.done);
}
