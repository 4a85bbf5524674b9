/*
 * Operations on leases: what is asked of the store, and what of it is noted
 * until the answer comes (struct asked).
 */
#include "config.h"

#include "base/xmalloc.h"
#include "core/group.h"
#include "core/guard/clock.h"
#include "core/guard/guard.h"
#include "core/guard/quorum.h"
#include "core/hold.h"
#include "core/lease.h"
#include "core/lease_parts.h"
#include "core/lock.h"
#include "core/pace.h"
#include "core/turn/work.h"
#include "core/votes.h"

#define RESERVE_MAX 64	   /* fences drawn at once */
#define LOOK_MAX 100	   /* how far in a queue groups are looked for */
#define KEEP_SLACK_MS 1000 /* a keep begins at most so long after its key */

static struct op *
submit(struct core *core, struct lock *l, enum op_kind kind)
{
	struct slot *slot;
	struct op *op;

	assert(l->asked == NULL);
	l->asked = xcalloc(1, sizeof(*l->asked));
	if (quorum_used(core)) {
		op = votes_submit(core, l, kind);
	} else {
		op = slot_submit(core, &slot, kind, SLOT_LEASE, l->shard,
		    l->name, l->name_len);
		slot->lock = l;
	}
	op->seq = l->seq;
	l->asked->since_ms = core->now_ms;
	l->asked->spell = guard_spell(core, l->shard);
	return op;
}

/*
 * How long the key must live: the lease and its pad, the delay of those who
 * hold or come next, and what is left of any keep.  It is written ahead, so
 * that it holds even when this broker dies.
 */
static void
set_ttl(struct core *core, struct lock *l, struct op *op)
{
	const struct waiter *w;
	const struct hold *h;
	int64_t delay_ms = 0, keep_ms = 0;
	unsigned looked = 0;
	int64_t least_ms = core->config.lease_ms + core->pad_ms;

	LIST_FOREACH (h, &l->holders, in_lock) {
		core_visit(core, 1);
		delay_ms = max_ms(delay_ms, hold_terms(h)->delay_ms);
		keep_ms = max_ms(
		    keep_ms, hold_terms(h)->keep_until_ms - core->now_ms);
	}
	TAILQ_FOREACH (w, &l->queue, in_lock) {
		delay_ms = max_ms(delay_ms, w->delay_ms);
		if (w->keep_ms > 0)
			keep_ms = max_ms(keep_ms, w->keep_ms + KEEP_SLACK_MS);
		core_visit(core, 1);
		if (w->group == NULL || ++looked == GROUPS_FIRST)
			break; /* but groups may be passed by */
	}
	if (l->state == LEASE_LINGERING)
		least_ms = delay_ms = keep_ms = 0; /* a tombstone */
	keep_ms = max_ms(keep_ms, more_of(l)->linger_ms - core->now_ms);
	l->asked->delay_ms = delay_ms;
	l->asked->ttl_ms = max_ms(least_ms + delay_ms, keep_ms);
	l->key_end_ms = max_ms(l->key_end_ms, core->now_ms + l->asked->ttl_ms);
	op->ttl_ms = l->asked->ttl_ms;
}

/* A phase of sharing has one fence, however many share. */
static void
set_reserve(const struct core *core, struct lock *l, struct op *op, bool shared)
{
	l->asked_shared = shared;
	if (shared) {
		op->flags |= OP_SHARED;
		op->reserve = l->asked->reserve = 1;
		return;
	}
	/* The servers of a quorum are asked for one fence at a time. */
	if (quorum_used(core)) {
		op->reserve = l->asked->reserve = 1;
		return;
	}
	l->asked->reserve = l->nwaiting;
	if (l->asked->reserve < core->config.fences)
		l->asked->reserve = core->config.fences;
	if (l->asked->reserve > RESERVE_MAX)
		l->asked->reserve = RESERVE_MAX;
	if (l->asked->reserve == 0)
		l->asked->reserve = 1;
	op->reserve = l->asked->reserve;
}

void
lease_ask_acquire(struct core *core, struct lock *l)
{
	struct op *op = submit(core, l, OP_ACQUIRE);
	bool queued = l->state == LEASE_QUEUED;
	struct waiter *w;
	unsigned looked = 0;

	/* One token has one place in the queue, of one kind. */
	set_reserve(core, l, op,
	    queued ? l->asked_shared : lock_in_line(core, l)->shared);
	l->asked->queue = queued;
	TAILQ_FOREACH (w, &l->queue, in_lock) {
		if (++looked > LOOK_MAX)
			break;
		core_visit(core, 1);
		w->tried = true;
		if (!w->try_only && w->queue_limit > 0 &&
		    !w->session->draining &&
		    (w->group == NULL || group_in_turn(core, w)))
			l->asked->queue = true;
	}
	if (l->asked->queue)
		op->flags |= OP_QUEUE;
	/* A quorum has no order to queue in: who waits is only told.  What an
	 * attempt has meanwhile may be what another needs to keep its lease. */
	if (quorum_used(core)) {
		l->asked->queue = false;
		slot_hurry(core, op);
	}
	set_ttl(core, l, op);
}

void
lease_ask_confirm(struct core *core, struct lock *l)
{
	struct op *op = submit(core, l, OP_CONFIRM);

	set_ttl(core, l, op);
	set_reserve(core, l, op, false);
}

void
lease_ask_convert(struct core *core, struct lock *l, bool shared)
{
	struct op *op = submit(core, l, OP_CONVERT);

	l->converting = true;
	slot_hurry(core, op);
	set_ttl(core, l, op);
	set_reserve(core, l, op, shared);
}

/* By the clock of the server. */
static uint64_t
vouched_until(const struct core *core, const struct lock *l)
{
	return (uint64_t)guard_server_ms(core, l->shard,
	    max_ms(lease_deadline_ms(core, l), more_of(l)->linger_ms));
}

void
lease_ask_renew(struct core *core, struct lock *l, bool draw)
{
	struct op *op = submit(core, l, OP_RENEW);

	set_ttl(core, l, op);
	op->fence = l->fence_next + l->fences - 1;
	slot_hurry(core, op);
	l->asked->reserve = 0;
	if (l->whole)
		op->flags |= OP_WHOLE;
	l->whole = false;
	if (l->shared) {
		op->flags |= OP_SHARED;
		op->limit = vouched_until(core, l);
	} else if (draw)
		set_reserve(core, l, op, false);
}

/*
 * Who passes a name on and has more to grant gets in line again with that.
 * Those who share, groups and whoever would not wait are left to an acquire.
 */
static bool
queues_again(const struct core *core, const struct lock *l)
{
	const struct waiter *w = TAILQ_FIRST(&l->queue);

	return w != NULL && !w->shared && w->group == NULL &&
	       TAILQ_EMPTY(&l->impatient) && more_of(l)->remote_ms != 0 &&
	       !quorum_used(core);
}

void
lease_ask_end(struct core *core, struct lock *l)
{
	struct op *op = submit(core, l, OP_END);

	op->linger_ms = max_ms(more_of(l)->linger_ms - core->now_ms, 0);
	if (more_of(l)->again_seq == 0 && op->linger_ms == 0 &&
	    queues_again(core, l)) {
		need_more(l)->again_seq = ++core->last_seq;
		l->hint = l->given = l->early_waits = false;
	}
	op->again = more_of(l)->again_seq;
	if (l->brief) /* no reply has told it yet */
		op->fence = l->fence_next + l->fences - 1;
	if (more_of(l)->remote_ms != 0 && op->linger_ms == 0)
		op->flags |= OP_PROMPT;
	l->asked->linger = op->linger_ms > 0;
	pace_ending(core, l);
}
