/*
 * A name is granted to a waiter.
 *
 * The grant is made here, and told by the next FLUSH, if the lease is still
 * vouched for then (lock_tell_granted()).  Whether it may be made is decided
 * before, in lock.c and group.c.
 */
#include "config.h"

#include "core/lease/lease.h"
#include "core/lock/deadlock.h"
#include "core/lock/fit.h"
#include "core/lock/grant.h"
#include "core/lock/hold.h"
#include "core/lock/measured.h"
#include "core/lock/names.h"
#include "core/lock/parting.h"
#include "core/lock/queue.h"
#include "core/lock/reenter.h"
#include "core/lock/warm.h"

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
		need_more(l)->handovers++;
		core->stats.handovers++;
	}
	if (lease_contended(&l->lease))
		l->lease.rare->contention.handovers++;
	if (l->more != NULL)
		l->more->gave_way = 0;
	l->handed = true;
	measured_handed(core, l);
	lease_linger_over(&l->lease);
	lease_not_idle(&l->lease);
	parting_over(core, l, false);
}

/* All sharers of one phase have the same fence: of a lease that is shared the
 * reserve is that fence, and nobody takes it away. */
static uint64_t
next_fence(struct lock *l)
{
	const struct hold *h = TAILQ_FIRST(&l->holders);

	if (h != NULL)
		return h->fence;
	return l->lease.shared ? l->lease.fence_next
			       : lease_take_fence(&l->lease);
}

/*
 * A session that has the name already re-enters its hold, or upgrades it with a
 * new fence.  So a resource can tell late requests of those that shared the
 * name with it from its own.
 */
void
lock_grant(struct core *core, struct waiter *w)
{
	struct lock *l = w->lock;
	struct hold *h = hold_find(core, l, w->owner);
	bool upgrade = h != NULL && !w->shared && l->shared_hold;
	bool shared = w->shared && !lock_keeps_alone(core, l, w);

	assert(tenure_vouched(core, &l->lease.tenure));
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
	warm_granted(core, l, shared);
	reenter_others(core, h, w->group != NULL);
	if (w->group == NULL) /* else when it has all of it */
		deadlock_check(core, h->owner);
}
