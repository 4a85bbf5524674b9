/*
 * Operations on leases: sends them, and notes for each what its answer will
 * mean (struct pending_op).
 *
 * What is asked for depends on the holders and waiters at this moment, and they
 * may be others when the answer comes.  So the answer is judged by the note,
 * and never by what would be asked for then.
 */
#include "config.h"

#include "core/kernel/guard/clock.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/pace.h"
#include "core/kernel/lease/parts.h"

#define RESERVE_MAX 64 /* fences drawn at once, for waiters */

/* One server. */

static struct op *
submit_one(struct core *core, struct lease *l, enum op_kind kind)
{
	struct slot *slot;
	size_t len;
	const char *name = lessee_of(core, &l->term)->name(&l->term, &len);
	struct op *op = slot_submit(
	    core, &slot, kind, SLOT_LEASE, l->term.shard, name, len);

	slot->lease = l;
	return op;
}

/*
 * If the broker is in the queue, a message says when the name is ours, and the
 * broker looks now and then in case that message is lost.  If it only tried, it
 * may try again as soon as the name is wanted.
 */
static void
plan_one(struct core *core, struct lease *l, const struct pending_op *asked,
    const struct outcome *o)
{
	if (asked->queue)
		lease_plan_look(core, l, o);
	else
		l->term.wake_ms = 0;
}

const struct lease_way way_direct = {
	.queues = true,
	.shares_calls = true,
	.draws = RESERVE_MAX,
	.submit = submit_one,
	.plan = plan_one,
};

/* The epoch is that of the sending: if the history changes before the answer
 * comes, what the answer confirms is in doubt, and is written again. */
static struct op *
submit_lease(struct core *core, struct lease *l, enum op_kind kind)
{
	struct op *op;

	assert(l->seq != 0 && l->term.shard < core->config.shards);
	assert(l->pending == NULL);
	l->pending = freelist_take(&core->leases->pending);
	l->pending->kind = kind;
	op = core->leases->way->submit(core, l, kind);
	op->seq = l->seq;
	l->pending->since_ms = core->now_ms;
	l->pending->epoch = guard_epoch(core, l->term.shard);
	return op;
}

/*
 * Sets how long the key must live: the lease and its pad, the delay of those
 * who hold or come next, and what is left of any keep.  Since this is written
 * ahead, it holds even if the broker dies.
 */
static void
set_ttl(struct core *core, struct lease *l, struct op *op)
{
	struct lease_afterlife after = core->leases->lessee->afterlife(core, l);
	int64_t least_ms = core->config.lease_ms + core->pad_ms;
	int64_t delay_ms = after.delay_ms, keep_ms = after.keep_ms;

	if (l->state == LEASE_LINGERING)
		least_ms = delay_ms = keep_ms = 0; /* a tombstone */
	keep_ms = max_ms(keep_ms, lease_rare(l)->linger_ms - core->now_ms);
	l->pending->delay_ms = delay_ms;
	l->pending->ttl_ms = max_ms(least_ms + delay_ms, keep_ms);
	l->key_end_ms =
	    max_ms(l->key_end_ms, core->now_ms + l->pending->ttl_ms);
	op->ttl_ms = l->pending->ttl_ms;
	assert(op->ttl_ms > 0 && l->key_end_ms > core->now_ms);
}

/*
 * Draws a fence for each waiter, and at least as many as the configuration
 * says, so that handovers need no call; over a quorum only one
 * (lease_way.draws).  A name that is taken again and again has a larger reserve.
 * A phase of sharing has one fence, however many share.
 */
static void
set_reserve(
    const struct core *core, struct lease *l, struct op *op, bool shared)
{
	uint32_t n = core->leases->lessee->nwaiting(l);

	if (n < core->config.fences)
		n = core->config.fences;
	if (n > core->leases->way->draws)
		n = core->leases->way->draws;
	if (core->leases->way->queues)
		n = (uint32_t)max_ms(n, core->leases->lessee->reserve(core, l));
	if (n == 0 || shared)
		n = 1;
	assert(n <= LEASE_FENCES_MAX);
	op->reserve = l->pending->reserve = n;
	l->asked_shared = shared;
	if (shared)
		op->flags |= OP_SHARED;
}

void
lease_ask_acquire(struct core *core, struct lease *l)
{
	struct op *op = submit_lease(core, l, OP_ACQUIRE);
	bool queued = l->state == LEASE_QUEUED;

	assert(l->state == LEASE_ACQUIRING || queued);
	/* One token has one place in the queue, of one kind. */
	set_reserve(core, l, op,
	    queued ? l->asked_shared
		   : core->leases->lessee->mode(core, l) == WANT_SHARED);
	l->pending->queue = core->leases->lessee->try(core, l) || queued;
	if (l->pending->queue)
		op->flags |= OP_QUEUE;
	/* Without a queue, a waiting broker only gets messages; and what an
	 * attempt has may be what another needs to keep its lease. */
	if (!core->leases->way->queues) {
		l->pending->queue = false;
		slot_hurry(core, op);
	}
	set_ttl(core, l, op);
}

/* The lease may turn out to be shared: then on_confirm() corrects the
 * reserve. */
void
lease_ask_confirm(struct core *core, struct lease *l)
{
	struct op *op = submit_lease(core, l, OP_CONFIRM);

	assert(l->state == LEASE_CONFIRMING);
	set_ttl(core, l, op);
	set_reserve(core, l, op, false);
}

void
lease_ask_convert(struct core *core, struct lease *l, bool shared)
{
	struct op *op = submit_lease(core, l, OP_CONVERT);

	assert(lease_is_held(l));
	slot_hurry(core, op);
	set_ttl(core, l, op);
	set_reserve(core, l, op, shared);
}

/* Until when it is vouched for, or lingers, by the server's clock. */
static uint64_t
vouched_until(const struct core *core, const struct lease *l)
{
	return (uint64_t)guard_server_ms(core, l->term.shard,
	    max_ms(term_deadline_ms(core, &l->term), lease_rare(l)->linger_ms));
}

/*
 * The renewal reports the top of the reserve, not the fence that was granted
 * last: a server that has forgotten its counter must draw above all that may
 * still be granted here.  `draw`: it also asks for more fences; the remaining
 * ones are dropped then, which is harmless, as fences need only rise.
 */
void
lease_ask_renew(struct core *core, struct lease *l, bool draw)
{
	struct op *op = submit_lease(core, l, OP_RENEW);

	assert(lease_is_held(l) || l->state == LEASE_LINGERING);
	set_ttl(core, l, op);
	op->fence_top = l->fence_next + l->fences - 1;
	slot_hurry(core, op);
	l->pending->reserve = 0;
	if (l->whole)
		op->flags |= OP_WHOLE;
	l->whole = false;
	if (l->shared) {
		op->flags |= OP_SHARED;
		op->until_ms = vouched_until(core, l);
	} else if (draw)
		set_reserve(core, l, op, false);
}

void
lease_ask_disown(struct core *core, struct lease *l)
{
	struct op *op = submit_lease(core, l, OP_DISOWN);

	assert(l->state == LEASE_LINGERING);
	op->ttl_ms = lease_rare(l)->linger_ms - core->now_ms;
	l->key_end_ms =
	    max_ms(l->key_end_ms, core->now_ms + op->ttl_ms + core->pad_ms);
	assert(op->ttl_ms > 0);
}

/* A broker that passes a name on while clients wait queues up in that call. */
static bool
queues_again(const struct core *core, const struct lease *l)
{
	return lease_contended(l) && core->leases->way->queues &&
	       core->leases->lessee->queues_again(l);
}

/* The next token is drawn once, however often the end is sent: a call that was
 * carried out, but never answered, has put that token into the queue. */
void
lease_ask_end(struct core *core, struct lease *l)
{
	struct op *op = submit_lease(core, l, OP_END);

	assert(l->state == LEASE_ENDING);
	op->linger_ms = max_ms(lease_rare(l)->linger_ms - core->now_ms, 0);
	if (lease_rare(l)->again_seq == 0 && op->linger_ms == 0 &&
	    queues_again(core, l)) {
		lease_need_rare(l)->again_seq = ++core->last_seq;
		lease_no_news(l);
		l->contended_early = false;
	}
	op->again = lease_rare(l)->again_seq;
	if (l->term.provisional) /* this fence is known from a message only */
		op->fence = l->fence_next + l->fences - 1;
	if (lease_contended(l) && op->linger_ms == 0)
		op->flags |= OP_PROMPT;
	l->pending->linger = op->linger_ms > 0;
	pace_ending(core, l);
}
