/*
 * What a lease makes of outcomes of operations, of handovers, and of time.
 *
 * An answer counts from when its call was sent, for the server may have carried
 * it out at once.  An answer that says nothing changes nothing: the lease stays
 * as it is, waits for a while, and then asks again, or ends.
 */
#include "config.h"

#include "base/xmalloc.h"
#include "core/kernel/guard/clock.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/pace.h"
#include "core/kernel/lease/parts.h"

#define RETRY_UPGRADE_MS 500	/* of a lease that others share */
#define PROVISIONAL_RENEW_MS 20 /* most holds are shorter */

/* The outcome is unknown, or the store cannot do it now: tries again later. */
static void
try_later(struct core *core, struct lease *l, const struct outcome *o)
{
	if (o->status == OUTCOME_REFUSED)
		lease_set_why(l, xstrndup(o->text, o->text_len));
	l->term.wake_ms = core->now_ms + core_pause_ms(core, o);
	l->paused = true;
}

/*
 * The operation was carried out: the key now promises what it wrote.  A message
 * that another broker waits may overtake an older answer that does not know of
 * it: so contended_early counts as well.
 */
static void
confirmed(struct core *core, struct lease *l, const struct pending_op *asked,
    int64_t sent_ms, const struct outcome *o)
{
	int64_t longer_ms =
	    asked->ttl_ms - core->config.lease_ms - core->pad_ms;

	assert(asked->ttl_ms > 0 && asked->reserve <= LEASE_FENCES_MAX);
	assert(sent_ms <= core->now_ms);
	term_confirm(core, &l->term, sent_ms, asked->epoch);
	l->key_end_ms = sent_ms + asked->ttl_ms;
	l->paused = false;
	if (asked->delay_ms != lease_rare(l)->delay_ms ||
	    longer_ms != lease_rare(l)->longer_ms) {
		lease_need_rare(l)->delay_ms = asked->delay_ms;
		l->rare->longer_ms = longer_ms;
	}
	if (o->fence != 0) {
		l->fence_next = o->fence;
		l->fences = (uint16_t)asked->reserve;
		if (o->drawn > 0 && o->drawn < asked->reserve)
			l->fences = (uint16_t)o->drawn;
	}
	lease_told_waiting(core, l, o->waiting || l->contended_early);
	l->contended_early = false;
	lease_set_why(l, NULL);
}

/* The lease is ours from now on.  If it lingered, other brokers still wait. */
static void
lease_begins(struct core *core, struct lease *l)
{
	assert(lease_is_held(l));
	lease_no_news(l);
	l->foreign = l->outcome_unknown = false;
	if (!lease_lingers(core, l))
		lease_told_waiting(core, l, false);
	lease_not_idle(l);
}

static void
arrived(struct core *core, struct lease *l)
{
	if (l->contended_early)
		lease_told_waiting(core, l, true);
	l->contended_early = false;
	core->leases->lessee->arrived(core, l);
}

/*
 * lease_begins() forgets who waited before, and then confirmed() notes who
 * waits now. The term takes its place in the line when confirmed() has said
 * since when it counts.  If the answer took longer than a lease, the term is
 * over already, and nothing is granted on it (term_vouched()).
 */
static void
on_granted(struct core *core, struct lease *l, const struct pending_op *asked,
    int64_t sent_ms, const struct outcome *o)
{
	assert(o->fence != 0);
	lease_set_state(core, l, LEASE_HELD);
	l->shared = l->asked_shared;
	lease_begins(core, l);
	confirmed(core, l, asked, sent_ms, o);
	term_vouch(core, &l->term);
	arrived(core, l);
	pace_plan(core, &l->term, true);
}

/*
 * Notes the message only.  It is not used before the guard is ready and the
 * lease is in a state in which it may have been handed over; until then it
 * grows old, so its age is checked once more (lease_take_handover()).
 */
void
lease_handed_over(
    struct core *core, struct lease *l, const struct handover *handover)
{
	int64_t when_ms = clock_earliest_ms(
	    core, l->term.shard, handover->history, handover->server_ms);

	assert(when_ms <= core->now_ms);
	/* If replicas must have the lease, it takes a call to wait for them. */
	if (!core->leases->way->queues || l->news == NEWS_HANDOVER ||
	    when_ms < 0 || core->config.replicas > 0 ||
	    handover->fence < l->fence_next ||
	    !guard_believes(core, l->term.shard, handover->fence) ||
	    core->now_ms - when_ms >= core->pad_ms / 4)
		return;
	lease_set_news(l, NEWS_HANDOVER);
	l->term.confirmed_ms = when_ms;
	l->fence_next = handover->fence;
	l->fences = 1;
	if (handover->waiting)
		l->contended_early = true;
}

/*
 * A provisional lease: the key is ours for two pads from when the message was
 * sent, by the server's clock.  One of them is room for a clock that is moved.
 * It is a lease like any other, only shorter, and is renewed soon, unless it
 * has ended by then.
 */
bool
lease_take_handover(struct core *core, struct lease *l)
{
	assert(l->pending == NULL);
	if (l->news != NEWS_HANDOVER ||
	    core->now_ms - l->term.confirmed_ms >= core->pad_ms / 4)
		return false;
	lease_set_state(core, l, LEASE_HELD);
	lease_begins(core, l);
	l->term.provisional = true;
	term_vouch(core, &l->term);
	l->shared = l->paused = false;
	if (l->rare != NULL)
		l->rare->delay_ms = l->rare->longer_ms = 0;
	l->key_end_ms = core->now_ms + 2 * core->pad_ms;
	l->term.epoch = guard_epoch(core, l->term.shard);
	lease_set_why(l, NULL);
	arrived(core, l);
	l->term.wake_ms = core->now_ms + PROVISIONAL_RENEW_MS;
	return true;
}

/* Another broker has the lease: this one is queued behind it, or has only
 * tried.  Requests that do not wait are answered at once. */
static void
on_acquire(struct core *core, struct lease *l, const struct pending_op *asked,
    int64_t sent_ms, const struct outcome *o)
{
	switch (o->status) {
	case OUTCOME_GRANTED:
		on_granted(core, l, asked, sent_ms, o);
		return;
	case OUTCOME_QUEUED:
	case OUTCOME_BUSY:
	case OUTCOME_FOREIGN:
		core->leases->lessee->elsewhere(core, l);
		lease_set_elsewhere(
		    l, o->text, o->status == OUTCOME_FOREIGN ? 0 : o->text_len);
		l->foreign = o->status == OUTCOME_FOREIGN;
		lease_set_state(
		    core, l, asked->queue ? LEASE_QUEUED : LEASE_NONE);
		core->leases->way->plan(core, l, asked, o);
		core->leases->lessee->not_free(core, l);
		return;
	default:
		try_later(core, l, o);
	}
}

static void
on_confirm(struct core *core, struct lease *l, const struct pending_op *asked,
    int64_t sent_ms, const struct outcome *o)
{
	struct pending_op shared = *asked;

	shared.reserve = 1;
	if (o->status == OUTCOME_GRANTED) {
		l->asked_shared = o->text_len == 1 && o->text[0] == 's';
		on_granted(
		    core, l, l->asked_shared ? &shared : asked, sent_ms, o);
	} else if (o->status == OUTCOME_LOST) {
		/* If the message was stale, we may still be in the queue. */
		lease_set_state(core, l,
		    lease_rare(l)->linger_ms > 0 ? LEASE_NONE : LEASE_ENDING);
		lease_linger_over(l);
	} else
		try_later(core, l, o);
}

/* The key is no longer ours.  If the history has changed since it was
 * confirmed, the server has lost it; if not, someone has taken it away. */
static void
taken(struct core *core, struct lease *l)
{
	bool moved = l->term.epoch != guard_epoch(core, l->term.shard);

	lease_set_state(core, l, LEASE_NONE);
	core->leases->lessee->lost(core, l, moved ? "failover" : "taken");
	core->leases->lessee->ended(core, l, false);
	lease_linger_over(l);
}

/*
 * While the call was under way, the lease may have run out or been given back:
 * an end follows in any case, and the result of the renewal no longer matters.
 */
static void
on_renew(struct core *core, struct lease *l, const struct pending_op *asked,
    int64_t sent_ms, const struct outcome *o)
{
	if (l->state == LEASE_ENDING)
		return;
	assert(lease_is_held(l) || l->state == LEASE_LINGERING);
	if (o->status == OUTCOME_LOST) {
		taken(core, l);
		return;
	}
	if (o->status == OUTCOME_AGAIN) {
		l->whole = true;
		l->term.wake_ms = core->now_ms;
		return;
	}
	if (o->status != OUTCOME_RENEWED) {
		try_later(core, l, o);
		return;
	}
	if (l->term.epoch != guard_epoch(core, l->term.shard))
		core->stats.reasserted++;
	core->stats.renewals++;
	if (lease_is_held(l))
		core->leases->lessee->renewed(
		    core, l, term_deadline_ms(core, &l->term) - core->now_ms);
	confirmed(core, l, asked, sent_ms, o);
	if (lease_is_held(l))
		pace_plan(core, &l->term, false);
}

/*
 * A convert may have let others in to share.  As long as that is unknown, the
 * mode suits no new holder (mode_suits() in lock/fit.c), so the lease is
 * converted once more before it is granted.
 */
static void
on_convert(struct core *core, struct lease *l, const struct pending_op *asked,
    int64_t sent_ms, const struct outcome *o)
{
	if (o->status == OUTCOME_UNKNOWN)
		l->outcome_unknown = true;
	if (l->state == LEASE_ENDING)
		return;
	assert(lease_is_held(l));
	switch (o->status) {
	case OUTCOME_GRANTED:
		l->outcome_unknown = false;
		l->shared = l->asked_shared;
		confirmed(core, l, asked, sent_ms, o);
		pace_plan(core, &l->term, false);
		return;
	case OUTCOME_BUSY:
		lease_told_waiting(core, l, true);
		lease_need_rare(l)->again_ms = core->now_ms + RETRY_UPGRADE_MS;
		/* Without a holder here, we queue up behind the sharers. */
		if (!core->leases->lessee->in_use(l))
			lease_set_state(core, l, LEASE_ENDING);
		else
			core->leases->lessee->refused(core, l);
		return;
	case OUTCOME_LOST:
		taken(core, l);
		return;
	default:
		try_later(core, l, o);
	}
}

/*
 * The new token may be in the queue already, even if the end was never
 * answered: the next acquire finds it there.
 */
bool
lease_queued_again(struct core *core, struct lease *l)
{
	if (lease_rare(l)->again_seq == 0)
		return false;
	assert(l->state == LEASE_ENDING && l->pending == NULL);
	l->seq = lease_rare(l)->again_seq;
	l->rare->again_seq = 0;
	l->asked_shared = l->foreign = false;
	l->key_end_ms = core->now_ms + core->config.lease_ms + core->pad_ms;
	lease_set_state(core, l, LEASE_QUEUED);
	return true;
}

static void
on_end(struct core *core, struct lease *l, const struct pending_op *asked,
    int64_t sent_ms, const struct outcome *o)
{
	bool others = lease_contended(l);

	assert(l->state == LEASE_ENDING);
	if (o->status != OUTCOME_ENDED && o->status != OUTCOME_GONE) {
		core->leases->lessee->ended(core, l, true);
		try_later(core, l, o);
		return;
	}
	core->leases->lessee->ended(core, l, false);
	/* The name was forced meanwhile: end it again, without a tombstone. */
	if (o->status == OUTCOME_ENDED && asked->linger &&
	    lease_rare(l)->linger_ms == 0)
		return;
	if (o->status == OUTCOME_ENDED && asked->linger) {
		lease_set_state(core, l, LEASE_LINGERING);
		if (l->rare != NULL)
			l->rare->again_seq = 0;
		l->term.confirmed_ms = sent_ms;
		return;
	}
	lease_linger_over(l);
	lease_told_waiting(core, l, false);
	if (!lease_queued_again(core, l)) {
		lease_set_state(core, l, LEASE_NONE);
		if (others)
			l->term.wake_ms =
			    core->now_ms + core->leases->way->yield_ms;
	} else if (o->waiting) {
		core->leases->lessee->elsewhere(core, l);
		lease_plan_look(core, l, o);
	}
}

/* If its time is up, or it was forced meanwhile, it is ended. */
static void
on_disown(struct core *core, struct lease *l,
    const struct pending_op *asked __attribute__((unused)),
    int64_t sent_ms __attribute__((unused)), const struct outcome *o)
{
	if (l->state == LEASE_ENDING)
		return;
	assert(l->state == LEASE_LINGERING);
	if (o->status == OUTCOME_LOST) {
		taken(core, l);
	} else if (o->status != OUTCOME_RENEWED) {
		try_later(core, l, o);
	} else if (!lease_lingers(core, l)) {
		lease_set_state(core, l, LEASE_ENDING);
	} else {
		core->leases->lessee->disowned(core, l, o->fence);
		lease_linger_over(l);
		lease_told_waiting(core, l, false);
		lease_set_state(core, l, LEASE_NONE);
	}
}

/* What a lease may ask; the rows of ops.def that are missing here are asked by
 * others. */
static void (*const answered[OP_MAX])(struct core *core, struct lease *l,
    const struct pending_op *asked, int64_t sent_ms,
    const struct outcome *o) = {
	[OP_ACQUIRE] = on_acquire,
	[OP_CONFIRM] = on_confirm,
	[OP_RENEW] = on_renew,
	[OP_CONVERT] = on_convert,
	[OP_END] = on_end,
	[OP_DISOWN] = on_disown,
};

/* Fences that are drawn rise.  Those who share a name have the same one. */
static bool
fence_falls(const struct lease *l, enum op_kind op, const struct outcome *o)
{
	bool shared = l->asked_shared || (op == OP_CONFIRM && o->text_len > 0);

	return o->fence != 0 && !shared && op != OP_DISOWN &&
	       o->fence < l->fence_next + l->shared;
}

/* Copies what was asked, because the lease may ask for something else, or be
 * freed, before this returns.  An answer that cannot be true is as good as
 * none. */
void
lease_outcome(struct core *core, struct lease *l, enum op_kind op,
    int64_t sent_ms, const struct outcome *o)
{
	static const struct outcome unknown = { .text = "" };
	struct pending_op asked = *l->pending;

	assert(asked.kind == op && answered[op] != NULL);
	if (fence_falls(l, op, o))
		o = &unknown;
	freelist_give(&core->leases->pending, l->pending);
	l->pending = NULL;
	answered[op](core, l, &asked, sent_ms, o);
	core->leases->lessee->next(core, l);
}

void
lease_again(struct core *core, struct lease *l)
{
	assert(l->pending->kind == OP_ACQUIRE && !l->pending->queue);
	freelist_give(&core->leases->pending, l->pending);
	l->pending = NULL;
	core->leases->lessee->next(core, l);
}

/* Time. */

/*
 * The lessee tells the holders.  Whatever follows, such as a grant to a waiter,
 * must wait until all losses of this moment are told: so the lessee touches the
 * name, and does not call next().
 */
void
lease_run_out(struct core *core, struct lease *l)
{
	assert(term_overdue(core, &l->term));
	lease_set_state(core, l, LEASE_ENDING);
	core->leases->lessee->lost(core, l, "unreachable");
}

/* A lease that has run out has told its lessee, which looks at the name later;
 * any other may want something now. */
void
lease_timer(struct core *core, struct timer *t)
{
	struct lease *l = container_of(t, struct lease, timer);

	if (!term_look(core, &l->term))
		core->leases->lessee->next(core, l);
}
