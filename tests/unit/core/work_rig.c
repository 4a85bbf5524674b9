/*
 * The rig of the tests with very many of something (work_rig.h).
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "work_rig.h"

struct work_rig rig;

static void
note_op(struct work_rig *r, const struct op *op)
{
	if (r->nops == r->ops_size) {
		r->ops_size = 2 * r->ops_size + 64;
		r->ops = xrealloc(r->ops, r->ops_size * sizeof(*r->ops));
	}
	r->asked[op->kind]++;
	if (r->silent[op->kind])
		return;
	r->ops[r->nops++] = (struct work_op){ op->id, op->kind, op->reserve > 0,
		op->need, op->limit };
}

static void
note(struct work_rig *r, const struct effect *e)
{
	if (r->look != NULL)
		r->look(r, e);
	if (e->kind == EFFECT_REPLY) {
		r->replies[e->status]++;
		r->last_reply_step = r->steps;
	}
	if (e->kind == EFFECT_EVENT) {
		if (r->events[e->event]++ == 0)
			r->first_event_step[e->event] = r->steps;
		r->last_event_step[e->event] = r->steps;
	}
	if (e->kind == EFFECT_OP)
		note_op(r, effects_op(&r->fx, e));
}

void
work_step(struct work_rig *r, struct core_event *ev)
{
	size_t i;

	ev->now_ms = r->now_ms;
	core_step(r->core, ev, &r->fx);
	r->steps++;
	r->visits += core_work(r->core).step;
	for (i = 0; i < r->fx.n; i++)
		note(r, &r->fx.v[i]);
	effects_clear(&r->fx);
}

void
work_tick(struct work_rig *r, enum core_event_kind kind)
{
	struct core_event ev = { .kind = kind };

	work_step(r, &ev);
}

unsigned
work_catch_up(struct work_rig *r)
{
	unsigned n = 0;

	while (core_deadline(r->core) <= r->now_ms) {
		work_tick(r, CORE_TIME);
		ck_assert_uint_lt(++n, 100 * WORK_MANY);
	}
	return n;
}

static void
answer(struct work_rig *r, struct work_op op)
{
	struct core_event ev = { .kind = CORE_OUTCOME };
	struct outcome o = { .status = OUTCOME_DONE, .text = "" };

	if (op.kind == OP_ACQUIRE || op.kind == OP_CONFIRM ||
	    op.kind == OP_CONVERT) {
		o.status = OUTCOME_GRANTED;
		o.fence = r->fence += 100;
	} else if (op.kind == OP_RENEW) {
		o.status = OUTCOME_RENEWED;
		o.fence = op.draws ? r->fence += 100 : 0;
	} else if (op.kind == OP_END || op.kind == OP_FORCE ||
		   op.kind == OP_LEAVE) {
		o.status = OUTCOME_ENDED;
	} else if (op.kind == OP_CLAIM || op.kind == OP_TOKEN ||
		   op.kind == OP_PASS || op.kind == OP_RETAIN) {
		o = r->token;
	} else if (op.kind == OP_PEEK) {
		o.status = OUTCOME_VALUE;
	} else if (op.kind == OP_TAKE) {
		o.status = OUTCOME_TAKEN;
		o.first = r->permits > 0 ? r->permits : 1;
	} else if (op.kind == OP_HOLD) {
		o.status = OUTCOME_KEPT;
	} else if (op.kind == OP_AWAIT) {
		o.status = OUTCOME_SHUT;
	} else if (op.kind == OP_COUNTDOWN) {
		o.status = OUTCOME_COUNTED;
		o.first = o.second = 1;
	} else if (op.kind == OP_ARRIVE) {
		o.first = r->arrived;
		o.second = op.need;
		r->arrived += op.need;
		o.fence = 1;
		o.ttl_ms = -1;
		o.status =
		    r->arrived < op.limit ? OUTCOME_WAITING : OUTCOME_TRIPPED;
	}
	ev.u.outcome.op = op.id;
	ev.u.outcome.sent_ms = r->now_ms;
	ev.u.outcome.outcome = r->outcome != NULL ? r->outcome : &o;
	work_step(r, &ev);
}

void
work_answer(struct work_rig *r)
{
	struct work_op *ops = r->ops;
	size_t i, n = r->nops;

	r->ops = NULL;
	r->nops = r->ops_size = 0;
	for (i = 0; i < n; i++)
		answer(r, ops[i]);
	free(ops);
}

void
work_settle(struct work_rig *r)
{
	do {
		work_answer(r);
		work_catch_up(r);
		while (core_has_grants(r->core))
			work_tick(r, CORE_FLUSH);
	} while (r->nops > 0);
}

void
work_pass(struct work_rig *r, int64_t ms)
{
	int64_t until_ms = r->now_ms + ms;

	while (core_deadline(r->core) <= until_ms) {
		if (core_deadline(r->core) > r->now_ms)
			r->now_ms = core_deadline(r->core);
		work_settle(r);
	}
	r->now_ms = until_ms;
	work_settle(r);
}

struct core_request
work_request(enum verb_id verb)
{
	return (struct core_request){ .verb = verb,
		.wait_ms = CORE_WAIT_FOREVER,
		.queue_limit = UINT64_MAX,
		.nnames = 1 };
}

void
work_ask(struct work_rig *r, uint64_t session, struct core_request *rq,
    const char *name)
{
	struct core_name one = { name, name == NULL ? 0 : strlen(name) };
	struct core_event ev = { .kind = CORE_REQUEST };
	static uint64_t ref;

	rq->ref = ++ref;
	if (name != NULL)
		rq->names = &one;
	ev.u.request.session = session;
	ev.u.request.request = rq;
	work_step(r, &ev);
	if (name != NULL)
		rq->names = NULL;
}

void
work_ask_each(struct work_rig *r, struct core_request *rq, const char *name)
{
	unsigned i;

	for (i = 1; i <= WORK_MANY; i++)
		work_ask(r, i, rq, name);
}

void
work_ask_names(struct work_rig *r, uint64_t session, struct core_request *rq,
    const char *prefix)
{
	char name[32];
	unsigned i;

	for (i = 0; i < WORK_MANY; i++) {
		snprintf(name, sizeof(name), "%s%u", prefix, i);
		work_ask(r, session, rq, name);
	}
}

void
work_lock(struct work_rig *r, uint64_t session, const char *name)
{
	struct core_request rq = work_request(VERB_LOCK);

	work_ask(r, session, &rq, name);
}

void
work_lock_n(
    struct work_rig *r, uint64_t session, const char *prefix, unsigned i)
{
	char name[64];

	snprintf(name, sizeof(name), "%s%u", prefix, i);
	work_lock(r, session, name);
}

void
work_link(struct work_rig *r, bool up)
{
	struct core_event ev = { .kind = CORE_LINK };

	ev.u.link.up = up;
	work_step(r, &ev);
}

void
work_guard(struct work_rig *r, enum guard_state state, const char *pend)
{
	struct guard_report report = {
		.state = state, .text = pend, .text_len = strlen(pend)
	};
	struct core_event ev = { .kind = CORE_GUARD };

	ev.u.guard.sent_ms = r->now_ms;
	ev.u.guard.report = &report;
	work_step(r, &ev);
}

void
work_gone(struct work_rig *r, uint64_t session, bool quit)
{
	struct core_event ev = { .kind = CORE_GONE };

	ev.u.gone.session = session;
	ev.u.gone.orderly = ev.u.gone.quit = quit;
	work_step(r, &ev);
}

void
work_grace(struct work_rig *r, uint64_t session, int64_t grace_ms)
{
	struct core_session_options t = { .given = 1u << SESSION_GRACE,
		.num[SESSION_GRACE] = grace_ms };
	struct core_event ev = { .kind = CORE_SESSION_OPTIONS };

	ev.u.options.session = session;
	ev.u.options.options = &t;
	work_step(r, &ev);
}

void
work_forget(struct work_rig *r)
{
	r->steps = r->last_reply_step = 0;
	memset(r->replies, 0, sizeof(r->replies));
	memset(r->events, 0, sizeof(r->events));
	memset(r->asked, 0, sizeof(r->asked));
	memset(r->first_event_step, 0, sizeof(r->first_event_step));
	memset(r->last_event_step, 0, sizeof(r->last_event_step));
}

void
work_init(struct work_rig *r, unsigned sessions)
{
	struct core_config config = { .broker = "b1",
		.instance = 1,
		.seed = { 1, 2 },
		.shards = 1,
		.lease_ms = WORK_LEASE_MS,
		.reply_timeout_ms = 1000,
		.locks.max_grace_ms = 600000,
		.locks.handovers = 16,
		.limits.holds = WORK_MANY + 1,
		.limits.unowned = 1000,
		.limits.waiters = WORK_MANY + 1,
		.limits.requests = WORK_MANY + 1 };
	struct core_event ev = { .kind = CORE_OPEN };
	unsigned i;

	memset(r, 0, sizeof(*r));
	r->core = core_new(&config);
	r->now_ms = 1000;
	effects_init(&r->fx);
	core_work_bound(r->core, CORE_WORK_MAX);
	work_link(r, true);
	work_guard(r, GUARD_BLESSED, "");
	for (i = 1; i <= sessions; i++) {
		ev.u.open.session = i;
		ev.u.open.peer = "peer";
		ev.u.open.tcp = true;
		work_step(r, &ev);
	}
	work_settle(r);
}

/* The core is freed as it is, without a step. */
void
work_fini(struct work_rig *r)
{
	core_work_bound(r->core, 0);
	core_free(r->core);
	effects_fini(&r->fx);
	free(r->ops);
}

void
work_over(void)
{
	work_fini(&rig);
}
