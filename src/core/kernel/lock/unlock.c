/*
 * UNLOCK and EXTEND.  An UNLOCK is answered when Redis has confirmed that all
 * its names are free, or passed on; if Redis cannot be reached, at once.  A
 * hold whose time is up ends here, too.
 */
#include "config.h"

#include "base/xmalloc.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/parting.h"
#include "core/kernel/lock/queue.h"
#include "core/kernel/session/owner.h"
#include "core/kernel/turn/emit.h"

/*
 * A lease may have run out, unseen, while the request was on its way: a loss is
 * told to the session before the answer.  If the session is granted the name
 * again, its client may not have heard of that, so until it has, the request
 * means the hold that was lost.
 */
static struct hold *
find_hold(
    struct core *core, const struct owner *owner, const struct core_name *name)
{
	struct lock *l = lock_find(core, name->p, name->n);

	if (l == NULL)
		return NULL;
	lock_look(core, l, owner);
	if (owner_has_lost(owner, name->p, name->n))
		return NULL;
	return hold_find(core, l, owner);
}

static void
not_held(struct core *core, struct owner *owner, uint64_t ref,
    const struct core_name *name, bool lost)
{
	if (lost)
		emit_error(core, owner->id, ref, ERR_LOST,
		    "this session held %.*s and lost it", (int)name->n,
		    name->p);
	else
		emit_error(core, owner->id, ref, ERR_NOT_HELD,
		    "this session does not hold %.*s", (int)name->n, name->p);
}

/*
 * Releases one level; returns the depth that is left.  If the name goes back to
 * the store, the UNLOCK waits for that.  If others here share it, a waiter here
 * gets it, or it stays warm, there is nothing to wait for.  And if nothing was
 * sent, because Redis cannot be reached, the answer says so.
 */
static uint32_t
unlock_one(struct core *core, struct hold *h, struct parting *p)
{
	struct lock *l = h->lock;

	if (hold_step_out(h))
		return hold_depth(h);
	hold_give_back(core, h, "released", true);
	if (!lock_next(core, l) || !TAILQ_EMPTY(&l->holders) ||
	    l->lease.state == LEASE_NONE || lock_is_warm(l))
		return 0;
	/* A waiter here gets it, unless it is the turn of another broker. */
	if (l->lease.state != LEASE_ENDING && l->queue != NULL)
		return 0;
	if (l->lease.pending == NULL) {
		p->deferred = true;
		return 0;
	}
	assert(l->parting == NULL);
	l->parting = p;
	p->left++;
	return 0;
}

/*
 * First looks whether the session holds all the names, and then releases them:
 * so an UNLOCK that is refused has released nothing.  A loss is told once, for
 * it is forgotten then.
 *
 * The parting counts itself as one name until all are under way; otherwise the
 * first name to come back at once would answer for the others.
 */
void
unlock_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct core_name *name = rq->names;
	struct parting *p;
	unsigned i;
	bool lost;

	for (i = 0; i < rq->nnames; i++, name++) {
		if (find_hold(core, owner, name) != NULL)
			continue;
		lost = owner_take_lost(owner, name->p, name->n);
		if (lost)
			LOCK_HOOK(let_go, core, owner, name->p, name->n);
		not_held(core, owner, rq->ref, name, lost);
		return;
	}
	p = xcalloc(1, sizeof(*p) + rq->nnames * sizeof(p->depth[0]));
	p->session = owner->id;
	p->ref = rq->ref;
	p->n = rq->nnames;
	p->left = 1;
	for (i = 0; i < rq->nnames; i++)
		p->depth[i] =
		    unlock_one(core, find_hold(core, owner, &rq->names[i]), p);
	parting_drop(core, p);
}

/* A loss is still owed to an UNLOCK: no one else takes it. */
struct hold *
hold_or_refuse(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct core_name *name = &rq->names[0];
	struct hold *h = find_hold(core, owner, name);

	if (h == NULL)
		not_held(core, owner, rq->ref, name,
		    owner_has_lost(owner, name->p, name->n));
	return h;
}

void
extend_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	struct hold *h = hold_or_refuse(core, owner, rq);

	if (h == NULL)
		return;
	hold_bind(core, h, rq->hold_ms);
	emit_reply(core, owner->id, rq->ref, STATUS_OK);
}

/* The bound of a hold. */

/*
 * A re-entry that was not told yet goes back to its place before the name is
 * granted to any other session.  If there are more, the FLUSH puts all of them
 * back, so that they re-enter together.
 */
static void
wait_on(struct core *core, const struct lock *l, const struct owner *owner)
{
	/* Those of the hold are the last of the list (forget_untold()). */
	struct claim *c = TAILQ_LAST(&owner->granted, claim_list);
	struct waiter *w = c != NULL ? waiter_of(c) : NULL;
	const struct waiter *before;

	if (w == NULL || w->lock != l || !w->withdrawn || w->group != NULL)
		return;
	c = TAILQ_PREV(c, claim_list, in_owner);
	before = c != NULL ? waiter_seen(c) : NULL;
	if (before == NULL || before->lock != l || !before->withdrawn)
		waiter_ungranted(core, w);
}

void
unlock_timer(struct core *core, struct timer *t)
{
	struct hold *h = container_of(t, struct hold_rare, bound)->hold;
	const struct owner *owner = h->holding.owner;
	struct lock *l = h->lock;

	/* The bound begins to count when a grant is told; and a forfeited hold
	 * has none. */
	if (!hold_was_told(h) || h->rare->forfeited) {
		core_arm(
		    core, &h->rare->bound, core->now_ms + h->rare->hold_ms);
		return;
	}
	hold_lose(core, h, "hold", NULL);
	wait_on(core, l, owner);
	lock_next(core, l);
}
