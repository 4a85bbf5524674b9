/*
 * Does a lease fit a waiter?
 *
 * Three questions that are easily confused: lock_compatible() asks whether the
 * holders here let the waiter in; lock_free_for() whether it is this broker's
 * turn and nothing is kept for others (if nobody holds the name, next_free() in
 * lease.c has asked that before); lock_suits() whether the lease itself, as the
 * store has it, is what the waiter asks for.  A grant needs all three.  None of
 * them asks who came first: the queue does (lock.c).
 */
#include "config.h"

#include "core/kernel/lock/fit.h"
#include "core/kernel/lock/group.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/names.h"

/* Is the session of w the only holder? */
static bool
has_alone(const struct lock *l, const struct waiter *w)
{
	return l->nholders == 1 &&
	       TAILQ_FIRST(&l->holders)->owner == w->claim.owner;
}

/* The only holder may also hold the name in the other mode: it re-enters, or
 * upgrades. */
bool
lock_compatible(const struct lock *l, const struct waiter *w)
{
	return TAILQ_EMPTY(&l->holders) || has_alone(l, w) ||
	       (l->shared_hold && w->shared);
}

/* An exclusive hold will do for a request to share. */
bool
lock_reenters(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return hold_find(core, l, w->claim.owner) != NULL &&
	       (w->shared || !l->shared_hold);
}

bool
lock_lingers(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return lease_lingers(core, &l->lease) &&
	       (w == NULL || !(lock_lingers_for(core, l, w->claim.owner) ||
				 lock_reenters(core, l, w)));
}

bool
lock_kept_for(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return w->group != NULL && group_starving(core, w->group) &&
	       (!lease_contended(&l->lease) ||
		   w->claim.since_ms <=
		       lease_rare(&l->lease)->contention.since_ms);
}

/* Only for a plain request at the head of the queue.  One that jumped it has a
 * right to the name, and groups have rules of their own (group.h). */
bool
lock_gives_way(const struct core *core, const struct lock *l)
{
	const struct waiter *w = waiter_first(l);

	return w != NULL && w->group == NULL && !w->jumped &&
	       lease_contended(&l->lease) &&
	       (l->handed ||
		   lock_rare(l)->gave_way < core->config.locks.handovers) &&
	       LOCK_ASK(comes_before, core, l->name, l->name_len, w->came) != 0;
}

/*
 * A turn that is over keeps the name from waiters here, but not from the
 * session that has it, or for which it lingers, since no other broker could
 * have it either; nor from a starving group.
 */
bool
lock_free_for(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return term_vouched(core, &l->lease.term) &&
	       ((!lease_must_yield(core, &l->lease) &&
		    !lock_gives_way(core, l)) ||
		   has_alone(l, w) ||
		   lock_lingers_for(core, l, w->claim.owner) ||
		   lock_kept_for(core, l, w)) &&
	       !lock_lingers(core, l, w);
}

/* It joins the present sharers of the name. */
static bool
joins(const struct lock *l, const struct waiter *w)
{
	return !TAILQ_EMPTY(&l->holders) && l->shared_hold && w->shared;
}

/*
 * Can the lease be made to fit, if it does not yet?  `again`: w re-enters.  Not
 * if its mode may change at any moment, nor for new sharers when the turn of
 * this broker is over: they would keep a writer elsewhere waiting for ever.
 */
static bool
can_suit(const struct core *core, const struct lock *l, const struct waiter *w,
    bool again)
{
	return term_vouched(core, &l->lease.term) &&
	       !lease_converts(&l->lease) &&
	       (again || !joins(l, w) || !lease_must_yield(core, &l->lease));
}

bool
lock_keeps_alone(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	assert(l->shared_hold || l->nholders <= 1);
	return w->shared && !l->lease.shared && TAILQ_EMPTY(&l->holders) &&
	       lock_lingers_for(core, l, w->claim.owner);
}

/* If a convert may have been carried out, the mode is not known, and others may
 * share the name; so no new holder is granted it. */
static bool
mode_suits(const struct core *core, const struct lock *l,
    const struct waiter *w, bool again)
{
	return again || joins(l, w) ||
	       (!l->lease.outcome_unknown && (l->lease.shared == w->shared ||
						 lock_keeps_alone(core, l, w)));
}

/*
 * Does the lease fit without asking the store for anything?  Those who re-enter
 * or join have the fence of the hold, or of the phase, and need none from the
 * reserve.
 */
static bool
suits(const struct core *core, const struct lock *l, const struct waiter *w,
    bool again)
{
	return can_suit(core, l, w, again) && mode_suits(core, l, w, again) &&
	       (again || joins(l, w) || l->lease.fences > 0) &&
	       lease_covers(core, &l->lease, w->keep_ms, w->delay_ms);
}

bool
lock_suits(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return suits(core, l, w, lock_reenters(core, l, w));
}

/*
 * What is lacking decides what is asked for: a longer key or fences come with a
 * renewal, which any server that is up carries out; another mode takes a
 * convert, which lets others in or shuts them out, and so needs a server that
 * may grant.
 */
bool
lock_prepare(struct core *core, struct lock *l, const struct waiter *w)
{
	bool again = lock_reenters(core, l, w);

	if (suits(core, l, w, again))
		return true;
	if (!can_suit(core, l, w, again) || !lease_can_send(core, &l->lease))
		return false;
	if (mode_suits(core, l, w, again))
		lease_ask_renew(core, &l->lease, true);
	else if (guard_ready(core, l->lease.term.shard))
		lease_ask_convert(core, &l->lease, w->shared);
	else
		lease_block(core, &l->lease);
	return false;
}
