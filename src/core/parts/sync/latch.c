/*
 * Latches.  All state is in the store; this broker keeps only the requests that
 * are not answered.  A latch has at most one operation in flight.  The next
 * operation carries everything that came meanwhile: a batch of countdowns, or
 * all waiting entries.
 *
 * If the outcome of a batch is unknown, the broker sends the batch again as it
 * was, under the same number; the store counts each number once.
 *
 * Entries that wait (AWAIT) are in the line `queue`, all others in the line
 * `counts`.  Once the store has said that the latch is open, or gone, the
 * broker answers all waiting entries for which it had asked, in parts.
 * Meanwhile it does nothing else about the latch; for entries that come then it
 * asks anew.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/session/share.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"
#include "core/parts/ids.h"
#include "core/parts/sync/line.h"
#include "core/parts/sync/sync.h"

/* What the waiting entries are told, one after the other. */
enum verdict { VERDICT_NONE, VERDICT_OPEN, VERDICT_GONE };

/* A latch as this broker knows it. */
struct latch {
	struct sync y;
	enum verdict verdict;
	uint64_t seq;	     /* of the batch */
	uint64_t asked_by;   /* COUNTDOWN: the sum of the batch */
	enum op_kind unsure; /* a batch that may have arrived; AWAIT: none */
};

#define BATCH_MAX (UINT64_C(1) << 54) /* more than any one may count down */
#define NOT_FOUND "the latch does not exist; create it with LATCH"

/* Latches that were made. */

/*
 * The store frees a latch when no client has used it for its ttl=, and notifies
 * no broker.  So the broker counts a latch against limits.unowned for one ttl=
 * from its LATCH on, and knows no more about it than that: there is no way from
 * a name to its count.
 */

/* One LATCH that the broker answered with OK.  Its timer frees it. */
struct latch_count {
	LIST_ENTRY(latch_count) link;
	struct timer over;
	struct share *share;
};

/* The bound of one latch comes first: a shorter ttl= is the better advice. */
static bool
latch_count_allowed(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	return quota_bounds(core, owner, rq->ref, "ttl=", "locks.max_ttl",
		   rq->ttl_ms, core->config.locks.max_ttl_ms) &&
	       quota_has_room(core, owner, rq->ref, 1,
		   "give latches a shorter ttl=, or make this one later");
}

static void
latch_count_new(struct core *core, const struct owner *owner, int64_t ttl_ms)
{
	struct latch_count *m = xcalloc(1, sizeof(*m));

	assert(ttl_ms >= 0);
	m->over.kind = TIMER_LATCH_COUNT;
	LIST_INSERT_HEAD(&syncs_of(core)->latch_counts, m, link);
	core->owners->nmade++;
	share_pass(&core->owners->shares, &m->share, owner->user);
	core_arm(core, &m->over, core->now_ms + ttl_ms);
}

static void
latch_count_free(struct core *core, struct latch_count *m)
{
	assert(core->owners->nmade > 0);
	core_disarm(core, &m->over);
	LIST_REMOVE(m, link);
	core->owners->nmade--;
	share_give(&core->owners->shares, &m->share);
	free(m);
}

void
latch_count_timer(struct core *core, struct timer *t)
{
	latch_count_free(core, container_of(t, struct latch_count, over));
}

void
latch_count_fini(struct core *core)
{
	while (!LIST_EMPTY(&syncs_of(core)->latch_counts))
		latch_count_free(
		    core, LIST_FIRST(&syncs_of(core)->latch_counts));
}

/* Entries. */

static struct latch *
of(struct sync *y)
{
	return container_of(y, struct latch, y);
}

static void
latch_init(struct core *core, struct sync *y)
{
	(void)core;
	of(y)->unsure = OP_AWAIT;
}

static const enum op_kind ops[] = {
	[VERB_LATCH] = OP_LATCH,
	[VERB_COUNTDOWN] = OP_COUNTDOWN,
	[VERB_AWAIT] = OP_AWAIT,
};

/* Sends the batch, perhaps for another time. */
static void
send(struct core *core, struct latch *la, enum op_kind kind,
    const struct entry *first)
{
	struct op *op = sync_submit(core, &la->y, kind);

	op->seq = la->seq;
	op->count = kind == OP_LATCH ? first->n : la->asked_by;
	op->ttl_ms = kind == OP_LATCH ? first->ttl_ms : 0;
}

static bool
latch_counts(enum verb_id verb)
{
	return verb != VERB_AWAIT;
}

/*
 * Returns the number of the first new LATCH, or of an entry before it; the
 * largest number if there is none.  An entry that came after a LATCH is about
 * the latch that it makes, and must not be asked for before it.
 */
static uint64_t
wall(const struct core *core, const struct latch *la)
{
	const struct entry *e = la->y.counts.fresh;
	unsigned looked = 0;

	if (la->y.nmaking == 0 || e == NULL)
		return UINT64_MAX;
	while (e->verb != VERB_LATCH && TAILQ_NEXT(e, in_sync) != NULL &&
	       looked++ < SYNC_BATCH_MAX)
		e = TAILQ_NEXT(e, in_sync);
	core_visit(core, looked);
	return e->verb == VERB_LATCH || looked > SYNC_BATCH_MAX ? e->number
								: UINT64_MAX;
}

/* Asks for all waiting entries but those that came after a new LATCH. */
static void
take_waiting(const struct core *core, struct latch *la)
{
	struct line *line = &la->y.queue;
	uint64_t end = wall(core, la);
	unsigned taken = 0;

	if (end == UINT64_MAX) {
		line_ask_all(line);
		return;
	}
	while (line->fresh != NULL && line->fresh->number < end &&
	       taken++ < SYNC_BATCH_MAX)
		line_ask_one(line);
	core_visit(core, taken);
}

/* Asks for as many countdowns as go into a batch, or for one LATCH. */
static void
take_counts(const struct core *core, struct latch *la)
{
	struct line *line = &la->y.counts;
	bool makes = line->fresh->verb == VERB_LATCH;
	unsigned taken = 0;
	struct entry *e;

	while ((e = line->fresh) != NULL && taken < SYNC_BATCH_MAX &&
	       la->asked_by + e->n <= BATCH_MAX &&
	       (taken == 0 || (!makes && e->verb != VERB_LATCH))) {
		line_ask_one(line);
		la->asked_by += e->n;
		e->place = la->asked_by;
		taken++;
	}
	core_visit(core, taken);
}

/* Asks for the first new entry and for all that can go with it. */
static void
ask_store(struct core *core, struct latch *la, struct entry *first)
{
	la->seq = ++core->last_seq;
	la->asked_by = 0;
	la->unsure = OP_AWAIT;
	if (first->verb == VERB_AWAIT)
		take_waiting(core, la);
	else
		take_counts(core, la);
	send(core, la, ops[first->verb], first);
}

/* Returns the oldest new entry of both lines, or NULL. */
static struct entry *
find_new(const struct latch *la)
{
	struct entry *waits = la->y.queue.fresh, *counts = la->y.counts.fresh;

	if (waits == NULL || counts == NULL)
		return waits != NULL ? waits : counts;
	return waits->number < counts->number ? waits : counts;
}

/* Answers an impatient entry if its answer is known. */
static bool
settle_latch_entry(struct core *core, struct entry *e)
{
	if (line_state(e) == ENTRY_PARKED) {
		entry_answer(core, e,
		    e->claim.try_only ? STATUS_TIMEOUT : STATUS_CANCELLED);
		return true;
	}
	return line_state(e) == ENTRY_NEW && entry_settle_unasked(core, e);
}

/* Tells the verdict to a part of the waiting entries.  Returns true if all have
 * been told. */
static bool
tell_verdict(struct core *core, struct latch *la)
{
	struct line *line = &la->y.queue;
	unsigned n = 0;
	struct entry *e;

	while (la->verdict != VERDICT_NONE &&
	       (e = line_first(line)) != line->fresh) {
		if (n++ > 0 && !work_left(core)) {
			sync_touch(core, &la->y);
			return false;
		}
		core_visit(core, 1);
		if (la->verdict == VERDICT_OPEN)
			entry_answer(core, e, STATUS_OK);
		else
			entry_error(core, e, ERR_NOT_FOUND, NOT_FOUND);
	}
	la->verdict = VERDICT_NONE;
	return true;
}

/*
 * A batch whose outcome is unknown comes before anything new: the store knows
 * only the latest countdown of each broker, so none may pass a countdown that
 * may have been counted.
 */
static bool
latch_next(struct core *core, struct sync *y)
{
	struct latch *la = of(y);
	struct entry *first;
	bool ready = guard_ready(core, y->shard);

	if (!tell_verdict(core, la))
		return true;
	sync_settle_impatient(core, y, settle_latch_entry);
	if (y->nentries == 0 || y->op != 0)
		return y->op != 0;
	first = find_new(la);
	if (y->counts.nasked > 0) {
		if (sync_may_ask(core, y, ready))
			send(core, la, la->unsure, line_first(&y->counts));
	} else if (first != NULL) {
		if (sync_may_ask(core, y, ready))
			ask_store(core, la, first);
	} else if (!y->hint && la->y.look_ms > core->now_ms) {
		sync_want(y, la->y.look_ms);
	} else if (sync_may_ask(core, y, ready)) {
		sync_submit(core, y, OP_AWAIT);
	}
	return true;
}

/* Outcomes. */

/* Returns the first LATCH or COUNTDOWN of the last operation, or NULL. */
static struct entry *
first_counted(const struct latch *la)
{
	return la->y.counts.nasked > 0 ? line_first(&la->y.counts) : NULL;
}

/* The latch was never there, or Redis has lost it with its data.  A batch is
 * answered here and now: it has no more entries than a step can answer. */
static void
on_gone(struct core *core, struct latch *la)
{
	struct entry *e;

	while ((e = first_counted(la)) != NULL) {
		core_visit(core, 1);
		entry_error(core, e, ERR_NOT_FOUND, NOT_FOUND);
	}
	la->verdict = VERDICT_GONE;
}

static void
on_shut(struct core *core, struct latch *la)
{
	/* The store tells us when it opens, but a message may be lost. */
	line_park_all(&la->y.queue);
	la->y.look_ms = sync_look_ms(core, -1);
}

/* The `place` of an entry is the sum of the batch up to the entry, inclusive. */
static void
on_counted(struct core *core, struct latch *la, const struct outcome *o)
{
	struct entry *e;

	while ((e = first_counted(la)) != NULL) {
		core_visit(core, 1);
		emit_reply(core, e->claim.owner->id, e->claim.ref, STATUS_OK);
		emit_num(core, FIELD_COUNT,
		    o->before > e->place ? o->before - e->place : 0);
		entry_free(core, e);
	}
	if (o->left == 0)
		la->verdict = VERDICT_OPEN;
}

/* The entry may be gone: its client has left, or its time was up. */
static void
on_made(struct core *core, struct latch *la, bool exists)
{
	struct entry *e = first_counted(la);

	if (e == NULL)
		return;
	if (exists) {
		entry_error(
		    core, e, ERR_EXISTS, "a latch of this name already exists");
		return;
	}
	latch_count_new(core, e->claim.owner, e->ttl_ms);
	emit_reply(core, e->claim.owner->id, e->claim.ref, STATUS_OK);
	emit_num(core, FIELD_COUNT, e->n);
	entry_free(core, e);
}

/*
 * The outcome says nothing.  If Redis has certainly not carried out the batch,
 * now or before, its entries are new again; otherwise the broker sends the
 * batch again as it was.
 */
static void
on_nothing(struct core *core, struct latch *la, enum op_kind op,
    const struct outcome *o)
{
	sync_retry(core, &la->y, o);
	if (o->status == OUTCOME_UNKNOWN && op != OP_AWAIT)
		la->unsure = op;
	if (la->unsure != OP_AWAIT)
		return;
	line_unask(&la->y.queue);
	line_unask(&la->y.counts);
}

static void
latch_outcome(struct core *core, struct sync *y, enum op_kind op,
    int64_t sent_ms, const struct outcome *o)
{
	struct latch *la = of(y);

	(void)sent_ms;
	if (sync_says_nothing(o)) {
		on_nothing(core, la, op, o);
		return;
	}
	sync_answered(y);
	/* The batch, if there was one, is no longer in doubt. */
	la->unsure = OP_AWAIT;
	if (o->status == OUTCOME_GONE)
		on_gone(core, la);
	else if (o->status == OUTCOME_OPEN)
		la->verdict = VERDICT_OPEN;
	else if (o->status == OUTCOME_SHUT)
		on_shut(core, la);
	else if (o->status == OUTCOME_COUNTED)
		on_counted(core, la, o);
	else
		on_made(core, la, o->status == OUTCOME_EXISTS);
}

/* Entries. */

/*
 * If the outcome is under way, the entry gets as much time again, once: a
 * client that is told "unavailable" might count down again.
 */
static void
latch_expired(struct core *core, struct entry *e)
{
	if (e->verb == VERB_AWAIT) {
		entry_give_up(core, e, STATUS_TIMEOUT);
	} else if (line_state(e) == ENTRY_NEW) {
		entry_give_up(core, e, STATUS_ERR);
	} else if (!e->extended) {
		e->extended = true;
		core_arm(core, &e->claim.deadline,
		    core->now_ms + core->config.reply_timeout_ms);
	} else {
		entry_error(core, e, ERR_UNAVAILABLE,
		    "Redis did not answer in time; it may have been carried"
		    " out");
	}
}

static const char *const words[] = { "open ", NULL };

const struct sync_class latch_class = {
	.size = sizeof(struct latch),
	.init = latch_init,
	.next = latch_next,
	.outcome = latch_outcome,
	.told = { FIELD_COUNT, FIELD_MAX },
	.expired = latch_expired,
	.counts = latch_counts,
	.words = words,
	.message = sync_hint,
};

/* LATCH, COUNTDOWN and AWAIT: the verb says which. */
void
latch_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	int64_t wait_ms = rq->wait_ms;

	/* A broker that stops says that, and not that there are too many
	 * latches. */
	if (rq->verb == VERB_LATCH && !core->stopping &&
	    !latch_count_allowed(core, owner, rq))
		return;
	if (rq->verb != VERB_AWAIT)
		wait_ms = core->config.reply_timeout_ms;
	entry_new(core, owner, KIND_LATCH, rq, wait_ms);
}
