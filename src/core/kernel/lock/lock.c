/*
 * Names; LOCK of one name; and who is granted next.
 *
 * lease.c decides whether the broker has the name at all, and what to do about
 * that: every change here ends in lock_next().
 */
#include "config.h"

#include <string.h>

#include "core/kernel/guard/guard.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/parts.h"
#include "core/kernel/lease/tell.h"
#include "core/kernel/lock/admit.h"
#include "core/kernel/lock/fit.h"
#include "core/kernel/lock/grant.h"
#include "core/kernel/lock/group.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/parting.h"
#include "core/kernel/lock/queue.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"

#define REENTER_MAX 50 /* how far in a queue re-entries are looked for */
#define REFUSE_MAX 50  /* how far in a queue upgrades are looked for */

void
lock_free(struct core *core, struct lock *l)
{
	assert(l->nholders == 0 && l->nuntold == 0);
	assert(TAILQ_EMPTY(&l->holders) && l->queue == NULL);
	tell_no_more(core, &l->lease.term);
	LOCK_HOOK(freed, core, l);
	lock_untouch(core, l);
	parting_over(core, l, true);
	names_remove(core, l);
}

/* Granting. */

/*
 * A group that jumped this queue stands behind other groups in the queues of
 * its other names.  All these queues must choose the same group, or each would
 * convert its lease for another one, and back.  They choose the group that came
 * first, of those that could be granted.
 */
static struct waiter *
oldest_first(
    const struct core *core, const struct waiter *blocker, struct waiter *w)
{
	struct waiter *other = w;
	unsigned looked = 0;

	if (w->group == NULL || !w->jumped)
		return w;
	while ((other = TAILQ_NEXT(other, in_lock)) != NULL &&
	       other->group != NULL && ++looked < GROUPS_FIRST) {
		core_visit(core, 1);
		if (waiter_came_before(other, w) &&
		    !group_blocked_by(blocker, other) &&
		    group_free_but(core, other))
			w = other;
		blocker = group_blocker(core, blocker, other);
	}
	return w;
}

/*
 * A request of a session that has the name, in a mode that will do; it waits
 * only for a longer key.  It goes before all groups: one of them may wait for
 * this very session, which may wait for this answer.
 */
static struct waiter *
reentrant(const struct core *core, const struct lock *l)
{
	struct waiter *w;
	unsigned looked = 0;

	if (TAILQ_EMPTY(&l->holders))
		return NULL;
	TAILQ_FOREACH (w, &queue_of(l)->waiters, in_lock) {
		if (!w->jumped || looked++ == REENTER_MAX)
			return NULL;
		core_visit(core, 1);
		if (w->group == NULL && lock_reenters(core, l, w))
			return w;
	}
	return NULL;
}

/*
 * The first waiter in line, passing over groups that cannot be granted yet and
 * may be passed.  NULL: no waiter may have the name now.
 */
static struct waiter *
candidate(const struct core *core, const struct lock *l)
{
	const struct waiter *blocker = NULL;
	struct waiter *w = reentrant(core, l);
	unsigned looked = 0;

	if (w != NULL)
		return w;
	TAILQ_FOREACH (w, &queue_of(l)->waiters, in_lock) {
		if ((blocker != NULL && !blocker->jumped) ||
		    looked++ == GROUPS_FIRST)
			return NULL; /* all that follow come later */
		core_visit(core, 1);
		if (group_blocked_by(blocker, w))
			continue;
		if (w->group == NULL || group_free_but(core, w))
			return oldest_first(core, blocker, w);
		blocker = group_blocker(core, blocker, w);
	}
	return NULL;
}

const struct waiter *
lock_in_line(const struct core *core, const struct lock *l)
{
	const struct waiter *w = candidate(core, l);

	return w != NULL ? w : waiter_first(l);
}

/* Is w from a sharer that wants the name exclusively while others share it? */
static bool
is_hopeless(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return !w->shared && l->shared_hold && l->nholders > 1 &&
	       hold_find(core, l, w->claim.owner) != NULL;
}

#define HOPELESS                                                          \
	"others share the lock; release it first: two sessions that wait" \
	" for each other to leave would wait forever"

bool
lock_grant_next(struct core *core, struct lock *l)
{
	struct waiter *w = candidate(core, l);

	if (w == NULL || lock_lingers(core, l, w))
		return false;
	if (is_hopeless(core, l, w)) {
		waiter_error(core, w, ERR_DEADLOCK, HOPELESS);
		return true;
	}
	if (!lock_compatible(l, w) || !lock_prepare(core, l, w))
		return false;
	if (w->group != NULL)
		return group_grant(core, w->group);
	if (!lock_may_grant(core, l, w))
		return false;
	lock_grant(core, w);
	return true;
}

/*
 * Two sharers that both want the name exclusively would wait for each other to
 * leave; on two brokers neither sees that circle, so each is refused as soon as
 * the store says that others share the name.
 */
void
lock_upgrade_refused(struct core *core, struct lock *l)
{
	struct waiter *w, *next;
	unsigned looked = 0;

	assert(lease_is_held(&l->lease) && l->nholders > 0);
	/* The waiter for which the CONVERT was sent is among the first of the
	 * queue; upgrades that are far behind it are refused when they come
	 * next. */
	TAILQ_FOREACH_SAFE (w, &queue_of(l)->waiters, in_lock, next) {
		if (looked++ == REFUSE_MAX)
			return;
		core_visit(core, 1);
		if (!w->shared && hold_find(core, l, w->claim.owner) != NULL)
			waiter_error(core, w, ERR_DEADLOCK, HOPELESS);
	}
}

/*
 * Looks at each lease once more before its grant is told: it may have run out
 * since the grant was made, while the process was busy or frozen.  A loss that
 * is found here is emitted at once, and ends the loop: no grant is told behind
 * it (core.h).
 */
static void
tell_granted(struct core *core, struct claim *c)
{
	struct waiter *w = waiter_of(c);

	if (w->group != NULL) {
		group_tell(core, w->group);
		return;
	}
	lock_look(core, w->lock, c->owner);
	if (w->withdrawn) {
		waiter_ungranted(core, w);
		return;
	}
	hold_told(core, w);
	emit_reply(core, c->owner->id, c->ref, STATUS_OK);
	emit_num(core, FIELD_FENCE, w->fence);
	emit_num(core, FIELD_DEPTH, w->depth);
	waiter_free(core, w);
}

const struct claim_class waiter_class = {
	.kind = CLAIM_WAITER,
	.time_up = queue_time_up,
	.cancel = queue_cancel,
	.hasten = queue_hasten,
	.withdraw = withdraw_request,
	.refuse = withdraw_refuse,
	.tell = tell_granted,
};

/* What comes next. */

/* Is nothing left to know of the name? */
static bool
is_idle(const struct lock *l)
{
	return l->lease.state == LEASE_NONE && l->lease.pending == NULL &&
	       l->nuntold == 0 && l->queue == NULL && TAILQ_EMPTY(&l->holders);
}

/*
 * Passes the name on here while an operation is in flight, if that needs
 * nothing of the store: a renewal changes nothing of what is vouched for, and
 * the fences that it draws are above those left in the reserve.
 */
static void
pass_on_meanwhile(struct core *core, struct lock *l)
{
	const struct waiter *w = waiter_first(l);

	if (!lease_is_held(&l->lease) || !TAILQ_EMPTY(&l->holders) ||
	    w == NULL || w->group != NULL || !lock_free_for(core, l, w))
		return;
	(void)lock_grant_next(core, l);
}

/* Makes the lease do what comes next, until an operation is in flight or there
 * is nothing to do.  `unwanted`: only while no one waits. */
static void
decide(struct core *core, struct lock *l, bool unwanted)
{
	while (l->lease.pending == NULL && (!unwanted || l->queue == NULL) &&
	       lease_decide(core, &l->lease))
		;
}

/*
 * In this order: those that watch the name, or wait for its end, are noted, as
 * they see only the state at the end of the step.  If the holders are about to
 * lose the name, nothing happens before all of them have been told.  The lease
 * decides, which also grants; then requests that do not wait are answered, by
 * what is known after that; and if no request waits any longer, the lease may
 * have something to do again.
 */
bool
lock_next(struct core *core, struct lock *l)
{
	LOCK_HOOK(changed, core, l);
	if (l->lease.term.losing)
		return true;
	decide(core, l, false);
	if (l->lease.pending != NULL)
		pass_on_meanwhile(core, l);
	queue_settle(core, l, false);
	decide(core, l, true);
	/* A lease that was released and is kept for a waiter here is as good as
	 * passed on. */
	if (lease_is_held(&l->lease) &&
	    (l->lease.pending == NULL || l->queue != NULL))
		parting_over(core, l, false);
	LOCK_HOOK(settles, core, l);
	assert(!is_idle(l) || !l->lease.term.losing);
	if (is_idle(l)) {
		lock_free(core, l);
		return false;
	}
	LOCK_HOOK(settled, core, l);
	if (lease_is_held(&l->lease))
		lease_arm_held(core, &l->lease);
	return true;
}

bool
lock_run_touched(struct core *core)
{
	struct lock *l;

	while (work_left(core) && names_touched(core)) {
		core_visit(core, 1);
		l = lock_next_touched(core);
		if (l != NULL)
			lock_next(core, l);
	}
	return names_touched(core);
}

void
lock_contended(struct core *core, const char *name, size_t len)
{
	struct lock *l = lock_find(core, name, len);

	if (l == NULL || !lease_is_held(&l->lease))
		return;
	lease_told_waiting(core, &l->lease, true);
	(void)lock_next(core, l);
}

void
lock_recall(struct core *core, const char *name, size_t len)
{
	struct lock *l = lock_find(core, name, len);

	if (l == NULL || !lock_is_warm(l))
		return;
	LOCK_HOOK(wanted, core, l);
	(void)lock_next(core, l);
}

/* LOCK. */

/* Grants the name once more to a session that has it.  False: the session does
 * not have it, or wants an upgrade. */
static bool
reenter(struct core *core, struct lock *l, struct owner *owner,
    const struct core_request *rq)
{
	struct hold *h = hold_find(core, l, owner);
	struct waiter *w;

	if (h == NULL || (l->shared_hold && !rq->shared))
		return false;
	w = waiter_new(core, owner, l, rq);
	if (!lease_covers(core, &l->lease, rq->keep_ms, rq->delay_ms)) {
		/* The key must live longer before that is promised. */
		waiter_enqueue(core, w, rq->wait_ms);
		lock_next(core, l);
		return true;
	}
	/* If the lease runs out before w is told, w waits like any other. */
	w->deadline_ms = waiter_deadline_ms(core, w, rq->wait_ms);
	waiter_to_tell(core, w);
	w->reentry = true;
	hold_reenter(core, h, w);
	return true;
}

/* A session that has the name re-enters before anything is asked about
 * limits.holds or circles: it takes no more than it has. */
void
lock_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct lock *l;

	if (!core->stopping && !lock_admits(core, owner, rq))
		return;
	if (rq->nnames > 1) {
		group_request(core, owner, rq);
		return;
	}
	assert(rq->nnames == 1 && name->n > 0);
	l = lock_find(core, name->p, name->n);
	if (l != NULL)
		lock_look(core, l, owner);
	if (l != NULL && !core->stopping && reenter(core, l, owner, rq))
		return;
	if (!lock_allowed(core, owner, rq, l))
		return;
	if (l == NULL)
		l = lock_make(core, name->p, name->n);
	else if (lock_refuse_deadlock(core, owner, rq, &l))
		return;
	waiter_enqueue(core, waiter_new(core, owner, l, rq), rq->wait_ms);
	lock_next(core, l);
}
