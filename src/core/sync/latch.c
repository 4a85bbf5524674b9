/*
 * Latches.  All state is in the store; this broker keeps the requests that are
 * not answered.  One operation is in flight for a latch at most, and carries
 * all that came meanwhile: the count-downs of a batch, or all who wait.
 *
 * A batch whose outcome is unknown is sent again as it was, under the same
 * number, which the store counts once.
 */
#include "config.h"

#include "core/guard/guard.h"
#include "core/sync/latch.h"
#include "core/sync/made.h"
#include "core/turn/emit.h"

/* A latch as this broker knows it. */
struct latch {
	struct sync y;
	uint64_t seq;	     /* of the batch */
	uint64_t asked_by;   /* COUNTDOWN: of the batch, in all */
	int64_t look_ms;     /* when to look again for those who wait */
	enum op_kind unsure; /* the batch may have been counted; else AWAIT */
};

#define BATCH_MAX (UINT64_C(1) << 54) /* more than any one may count down */
#define NOT_FOUND "there is no such latch; LATCH makes one"

static struct latch *
of(struct sync *y)
{
	return container_of(y, struct latch, y);
}

static void
latch_init(struct sync *y)
{
	of(y)->unsure = OP_AWAIT;
}

static const enum op_kind ops[] = {
	[VERB_LATCH] = OP_LATCH,
	[VERB_COUNTDOWN] = OP_COUNTDOWN,
	[VERB_AWAIT] = OP_AWAIT,
};

/* Sends the batch, and again what may have been lost of it. */
static void
send(struct core *core, struct latch *la, enum op_kind kind,
    const struct claim *first)
{
	struct op *op = sync_submit(core, &la->y, kind);

	op->seq = la->seq;
	op->need = kind == OP_LATCH ? first->n : la->asked_by;
	op->ttl_ms = kind == OP_LATCH ? first->ttl_ms : 0;
}

/* Takes the first that was not asked for, and what can go with it. */
static void
ask(struct core *core, struct latch *la, struct claim *first)
{
	struct claim *c;

	la->seq = ++core->last_seq;
	la->asked_by = 0;
	la->unsure = OP_AWAIT;
	for (c = first; c != NULL; c = TAILQ_NEXT(c, in_sync)) {
		if ((c->verb == VERB_LATCH && c != first) ||
		    la->asked_by + c->n > BATCH_MAX)
			break;
		if (c->verb != first->verb || c->state != CLAIM_NEW)
			continue;
		c->state = CLAIM_ASKED;
		la->asked_by += c->n;
		c->place = la->asked_by;
		if (c->verb == VERB_LATCH)
			break;
	}
	send(core, la, ops[first->verb], first);
}

static struct claim *
find(struct latch *la, enum claim_state state)
{
	struct claim *c;

	TAILQ_FOREACH (c, &la->y.queue, in_sync)
		if (c->state == state)
			return c;
	return NULL;
}

/* Those who do not wait. */
static void
settle(struct core *core, struct latch *la)
{
	struct claim *c, *next;

	TAILQ_FOREACH_SAFE (c, &la->y.queue, in_sync, next) {
		if (c->state == CLAIM_PARKED && claim_impatient(c))
			claim_answer(core, c,
			    c->try_only ? STATUS_TIMEOUT : STATUS_CANCELLED);
		else if (c->state == CLAIM_NEW &&
			 (claim_impatient(c) || c->verb != VERB_AWAIT))
			claim_settle_unasked(core, c);
	}
}

static bool
latch_next(struct core *core, struct sync *y)
{
	struct latch *la = of(y);
	struct claim *asked, *first, *c;
	bool ready = guard_ready(core, y->shard);

	settle(core, la);
	if (TAILQ_EMPTY(&y->queue) || y->op != 0)
		return y->op != 0;
	asked = find(la, CLAIM_ASKED);
	first = find(la, CLAIM_NEW);
	if (asked != NULL) {
		if (sync_may_ask(core, y, ready))
			send(core, la, la->unsure, asked);
		return true;
	}
	if (first != NULL) {
		if (sync_may_ask(core, y, ready))
			ask(core, la, first);
		return true;
	}
	c = find(la, CLAIM_PARKED);
	assert(c != NULL);
	if (!y->hint && la->look_ms > core->now_ms)
		sync_want(y, la->look_ms);
	else if (sync_may_ask(core, y, ready))
		sync_submit(core, y, OP_AWAIT);
	return true;
}

/* Outcomes. */

static bool
is_concerned(const struct claim *c)
{
	return c->state == CLAIM_ASKED ||
	       (c->state == CLAIM_PARKED && c->verb == VERB_AWAIT);
}

/* It was never there, or it was lost with the data of Redis. */
static void
on_gone(struct core *core, struct latch *la)
{
	struct claim *c, *next;

	TAILQ_FOREACH_SAFE (c, &la->y.queue, in_sync, next)
		if (is_concerned(c))
			claim_error(core, c, ERR_NOT_FOUND, NOT_FOUND);
}

static void
on_open(struct core *core, struct latch *la)
{
	struct claim *c, *next;

	TAILQ_FOREACH_SAFE (c, &la->y.queue, in_sync, next)
		if (c->verb == VERB_AWAIT && is_concerned(c))
			claim_answer(core, c, STATUS_OK);
}

static void
on_shut(struct core *core, struct latch *la)
{
	struct claim *c;

	TAILQ_FOREACH (c, &la->y.queue, in_sync)
		if (c->state == CLAIM_ASKED)
			c->state = CLAIM_PARKED;
	la->look_ms = sync_look_ms(core, -1);
}

/* `place` is how much was counted with it and before it in the batch. */
static void
on_counted(struct core *core, struct latch *la, const struct outcome *o)
{
	struct claim *c, *next;

	TAILQ_FOREACH_SAFE (c, &la->y.queue, in_sync, next) {
		if (c->state != CLAIM_ASKED)
			continue;
		emit_reply(core, c->session->id, c->ref, STATUS_OK);
		emit_num(core, FIELD_COUNT,
		    o->first > c->place ? o->first - c->place : 0);
		claim_free(core, c);
	}
	if (o->second == 0)
		on_open(core, la);
}

static void
on_made(struct core *core, struct latch *la, bool exists)
{
	struct claim *c = find(la, CLAIM_ASKED);

	if (c == NULL)
		return;
	if (exists) {
		claim_error(core, c, ERR_EXISTS,
		    "there is a latch of this name already");
		return;
	}
	made_new(core, c->ttl_ms);
	emit_reply(core, c->session->id, c->ref, STATUS_OK);
	emit_num(core, FIELD_COUNT, c->n);
	claim_free(core, c);
}

/*
 * Nothing is known.  What was certainly not carried out, now or before, is as
 * good as new; what may have been is sent again as it was.
 */
static void
on_nothing(struct core *core, struct latch *la, enum op_kind op,
    const struct outcome *o)
{
	struct claim *c;

	sync_retry(core, &la->y, o);
	if (o->status == OUTCOME_UNKNOWN && op != OP_AWAIT)
		la->unsure = op;
	if (la->unsure != OP_AWAIT)
		return;
	TAILQ_FOREACH (c, &la->y.queue, in_sync)
		if (c->state == CLAIM_ASKED)
			c->state = CLAIM_NEW;
}

static void
latch_outcome(struct core *core, struct sync *y, enum op_kind op,
    int64_t sent_ms, const struct outcome *o)
{
	struct latch *la = of(y);

	(void)sent_ms;
	if (o->status == OUTCOME_UNKNOWN || o->status == OUTCOME_UNSENT ||
	    o->status == OUTCOME_PENDING || o->status == OUTCOME_REFUSED) {
		on_nothing(core, la, op, o);
		return;
	}
	sync_answered(y);
	la->unsure = OP_AWAIT;
	if (o->status == OUTCOME_GONE)
		on_gone(core, la);
	else if (o->status == OUTCOME_OPEN)
		on_open(core, la);
	else if (o->status == OUTCOME_SHUT)
		on_shut(core, la);
	else if (o->status == OUTCOME_COUNTED)
		on_counted(core, la, o);
	else
		on_made(core, la, o->status == OUTCOME_EXISTS);
}

/* Claims. */

/*
 * Where the outcome is under way it gets as much time again, once: who is told
 * "unavailable" may count down once more.
 */
static void
latch_expired(struct core *core, struct claim *c)
{
	if (c->verb == VERB_AWAIT) {
		claim_give_up(core, c, STATUS_TIMEOUT);
	} else if (c->state == CLAIM_NEW) {
		claim_give_up(core, c, STATUS_ERR);
	} else if (!c->extended) {
		c->extended = true;
		core_arm(core, &c->deadline,
		    core->now_ms + core->config.reply_timeout_ms);
	} else {
		claim_error(core, c, ERR_UNAVAILABLE,
		    "Redis did not answer in time; it may have been carried"
		    " out");
	}
}

static void
latch_message(struct core *core, struct sync *y, const char *word)
{
	struct latch *la = of(y);
	int64_t at_ms = core->now_ms + core_jitter(core, core->pad_ms / 2);

	if (word != NULL)
		y->hint = true;
	else if (at_ms < la->look_ms)
		la->look_ms = at_ms;
}

static const char *const words[] = { "open ", NULL };

const struct sync_class latch_class = {
	.size = sizeof(struct latch),
	.init = latch_init,
	.next = latch_next,
	.outcome = latch_outcome,
	.expired = latch_expired,
	.words = words,
	.message = latch_message,
};

void
latch_request(
    struct core *core, struct session *s, const struct core_request *rq)
{
	int64_t wait_ms = rq->wait_ms;

	if (rq->verb == VERB_LATCH && !core->stopping &&
	    !made_allowed(core, s, rq))
		return;
	if (rq->verb != VERB_AWAIT)
		wait_ms = core->config.reply_timeout_ms;
	claim_new(core, s, SYNC_LATCH, rq, wait_ms);
}
