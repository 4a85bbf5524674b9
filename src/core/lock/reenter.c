/*
 * Re-entering: at once, or in walks over what sessions wait for.
 */
#include "config.h"

#include "core/lock/group.h"
#include "core/lock/hold.h"
#include "core/lock/queue.h"
#include "core/lock/reenter.h"
#include "core/turn/work.h"

#define FEW 50 /* so many are looked at at once */

/*
 * Lets w re-enter, another request of the session for the name, if it can.  A
 * member of a group can't by itself: but this name no longer holds its group
 * up, so those that are not here are asked for.  If it needs a longer key, it
 * comes next here, so that the next renewal asks for that.
 */
static void
reenter(struct core *core, struct hold *h, struct waiter *w)
{
	struct lock *l = h->lock;

	if (w->group != NULL) {
		if (w->keep_ms > 0 || w->delay_ms > 0)
			waiter_jump(core, w);
		group_has(core, w->group);
		return;
	}
	if (l->shared_hold && !w->shared)
		return;
	/* If w needs a longer key, it comes next, once the key is longer. */
	if (!lease_covers(core, &l->lease, w->keep_ms, w->delay_ms)) {
		waiter_jump(core, w);
		return;
	}
	waiter_granted(core, w);
	hold_reenter(core, h, w);
}

/* Looks at the first waiters of the queue; if there are only groups, those
 * further behind don't count. */
static void
look_in_queue(struct core *core, struct hold *h, unsigned left)
{
	struct waiter *w, *next;

	TAILQ_FOREACH_SAFE (w, &queue_of(h->lock)->waiters, in_lock, next) {
		if (left-- == 0)
			return;
		core_visit(core, 1);
		if (w->owner == h->owner)
			reenter(core, h, w);
	}
}

static void
look_in_session(struct core *core, struct hold *h)
{
	struct waiter *w, *next;

	TAILQ_FOREACH_SAFE (w, &h->owner->waiting, in_owner, next) {
		core_visit(core, 1);
		if (w->lock == h->lock)
			reenter(core, h, w);
	}
}

/* Begins a walk; if one is under way, another comes behind it. */
static void
walk(struct core *core, struct owner *owner)
{
	owner->reenter_again = owner->walks[WALK_REENTER];
	if (owner->reenter_again)
		return;
	owner->reenter_next = TAILQ_FIRST(&owner->waiting);
	owner_walk(core, owner, WALK_REENTER);
}

/* Looks wherever the fewest are: in the queue of the name, among what the
 * session waits for, or, if both are long, in a walk. */
void
reenter_others(struct core *core, struct hold *h, bool several)
{
	const struct lock *l = h->lock;
	bool groups = queue_of(l)->n == queue_of(l)->ngroups;

	/* Those of several names look at the others themselves. */
	if (several && groups)
		return;
	if (groups)
		look_in_queue(core, h, GROUPS_FIRST);
	else if (queue_of(l)->n <= FEW)
		look_in_queue(core, h, FEW);
	else if (h->owner->nwaiting <= FEW)
		look_in_session(core, h);
	else
		walk(core, h->owner);
}

/* Looks at what comes next.  Returns false at the end of the last walk. */
static bool
come_by(struct core *core, struct owner *owner)
{
	struct waiter *w = owner->reenter_next;
	bool again = owner->reenter_again;
	struct hold *h;

	if (w == NULL) {
		owner->reenter_again = false;
		owner->reenter_next = TAILQ_FIRST(&owner->waiting);
		return again;
	}
	owner->reenter_next = TAILQ_NEXT(w, in_owner);
	h = hold_find(core, w->lock, owner);
	if (h != NULL && tenure_vouched(core, &w->lock->lease.tenure))
		reenter(core, h, w);
	return true;
}

bool
reenter_on(struct core *core)
{
	return owner_walk_on(core, WALK_REENTER, come_by);
}
