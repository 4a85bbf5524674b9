/*
 * A name is granted to a waiter.
 *
 * The grant is made here, and told by the next FLUSH, if the lease is still
 * vouched for then (lock.c).  Whether it may be made is decided
 * before, in lock.c and group.c.
 */
#include "config.h"

#include "core/kernel/lease/lease.h"
#include "core/kernel/lock/admit.h"
#include "core/kernel/lock/fit.h"
#include "core/kernel/lock/grant.h"
#include "core/kernel/lock/group.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/lock/parting.h"
#include "core/kernel/lock/queue.h"
#include "core/kernel/turn/work.h"

/*
 * A grant ends all that has waited for one: a linger, the time for which the
 * lease was idle, and an UNLOCK that waited for the name to go back to the
 * store, since it has passed on here.
 */
static void
count_grant(struct core *core, struct lock *l)
{
	core->stats.grants++;
	if (l->handed) {
		lock_need_rare(l)->handovers++;
		core->stats.handovers++;
	}
	if (lease_contended(&l->lease))
		l->lease.rare->contention.handovers++;
	if (l->rare != NULL)
		l->rare->gave_way = 0;
	l->handed = true;
	LOCK_HOOK(passes, core, l);
	lease_linger_over(&l->lease);
	lease_not_idle(&l->lease);
	parting_over(core, l, false);
}

/* All sharers of one phase have the same fence: the reserve of a shared lease
 * is that fence, and is not used up. */
static uint64_t
next_fence(struct lock *l)
{
	const struct hold *h = hold_first(l);

	if (h != NULL)
		return h->fence;
	return l->lease.shared ? l->lease.fence_next
			       : lease_take_fence(&l->lease);
}

/*
 * A session that has the name already re-enters its hold, or upgrades it with a
 * new fence.  So a resource can distinguish this session's requests from late
 * ones of sessions that shared the name with it.
 */
void
lock_grant(struct core *core, struct waiter *w)
{
	struct lock *l = w->lock;
	struct hold *h = hold_find(core, l, w->claim.owner);
	bool upgrade = h != NULL && !w->shared && l->shared_hold;
	bool shared = w->shared && !lock_keeps_alone(core, l, w);

	assert(!w->claim.granted && w->hold == NULL);
	assert(lock_compatible(l, w));
	assert(term_vouched(core, &l->lease.term));
	waiter_granted(core, w);
	if (h != NULL && !upgrade) {
		w->reentry = true;
		hold_reenter(core, h, w);
		return;
	}
	if (upgrade)
		hold_upgrade(core, h, w, lease_take_fence(&l->lease));
	else
		h = hold_new(core, w, next_fence(l));
	l->shared_hold = shared;
	count_grant(core, l);
	LOCK_HOOK(granted, core, l, shared);
	reenter_others(core, h, w->group != NULL);
	if (w->group == NULL) /* a group: when it has all names */
		deadlock_check(core, h->holding.owner);
}

/*
 * Re-entering: at once, or in walks over what sessions wait for.
 */

#define FEW 50 /* this many are looked at at once */

/*
 * Lets w re-enter, another request of the session for the name, if it can.  A
 * member of a group cannot by itself, but its name no longer holds the group
 * up, so the names that are not here are asked for.  If it needs a longer key,
 * it comes next here, so that the next renewal asks for that.
 */
static void
grant_again(struct core *core, struct hold *h, struct waiter *w)
{
	struct lock *l = h->lock;

	if (w->group != NULL) {
		if (w->keep_ms > 0 || w->delay_ms > 0)
			waiter_jump(w);
		group_has(core, w->group);
		return;
	}
	if (l->shared_hold && !w->shared)
		return;
	/* If w needs a longer key, it comes next, once the key is longer. */
	if (!lease_covers(core, &l->lease, w->keep_ms, w->delay_ms)) {
		waiter_jump(w);
		return;
	}
	waiter_granted(core, w);
	hold_reenter(core, h, w);
}

/* Looks at the first waiters of the queue; if there are only groups, those
 * further behind do not count. */
static void
look_in_queue(struct core *core, struct hold *h, unsigned left)
{
	struct waiter *w, *next;

	TAILQ_FOREACH_SAFE (w, &queue_of(h->lock)->waiters, in_lock, next) {
		if (left-- == 0)
			return;
		core_visit(core, 1);
		if (w->claim.owner == h->holding.owner)
			grant_again(core, h, w);
	}
}

static void
look_in_session(struct core *core, struct hold *h)
{
	struct claim *c, *next;
	struct waiter *w;

	TAILQ_FOREACH_SAFE (c, &h->holding.owner->waiting, in_owner, next) {
		core_visit(core, 1);
		w = waiter_of(c);
		if (w != NULL && w->lock == h->lock)
			grant_again(core, h, w);
	}
}

/* Looks wherever the fewest are: in the queue of the name, among what the
 * session waits for, or, if both are long, in a walk. */
void
reenter_others(struct core *core, struct hold *h, bool several)
{
	const struct lock *l = h->lock;
	bool groups = queue_of(l)->n == queue_of(l)->ngroups;

	/* Requests for several names look at the others themselves. */
	if (several && groups)
		return;
	if (groups)
		look_in_queue(core, h, GROUPS_FIRST);
	else if (queue_of(l)->n <= FEW)
		look_in_queue(core, h, FEW);
	else if (h->holding.owner->nwaiting <= FEW)
		look_in_session(core, h);
	else
		owner_walk(core, h->holding.owner, WALK_REENTER);
}

static void
begin_reenter(struct owner *owner, struct cursor *at)
{
	cursor_begin(&owner->cursors, at, TAILQ_FIRST(&owner->waiting),
	    offsetof(struct claim, in_owner));
}

/* Looks at what comes next.  Returns false if that was all. */
static bool
come_by(struct core *core, struct owner *owner, struct cursor *at)
{
	struct claim *c = cursor_take(at);
	struct waiter *w = c != NULL ? waiter_of(c) : NULL;
	struct hold *h;

	if (w == NULL)
		return c != NULL;
	h = hold_find(core, w->lock, owner);
	if (h != NULL && term_vouched(core, &w->lock->lease.term))
		grant_again(core, h, w);
	return true;
}

bool
reenter_on(struct core *core)
{
	return owner_walk_on(core, WALK_REENTER, begin_reenter, come_by);
}
