/*
 * Several names at once: how they are asked for, granted and told.  See group.h
 * for the rules.
 *
 * A group is granted in one step, but its names have leases that end one by
 * one.  So until the FLUSH has told the grant, the loss of one hold takes all
 * others back with it: the client has all names or none.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lock/admit.h"
#include "core/kernel/lock/fit.h"
#include "core/kernel/lock/grant.h"
#include "core/kernel/lock/group.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/lock/queue.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/part.h"
#include "core/kernel/turn/work.h"

/* Does the lease of a member fit?  If not, asks the store for what it lacks. */
static bool
member_fits(struct core *core, struct waiter *w)
{
	struct lock *l = w->lock;
	const struct pending_op *asked = l->lease.pending;

	if (lock_prepare(core, l, w))
		return true;
	if (l->lease.pending != asked)
		lock_touch(core, l);
	return false;
}

/* Asks for everything that is lacking, and does not stop at the first name that
 * does not fit: all of it comes back in one round trip. */
bool
group_grant(struct core *core, struct group *g)
{
	struct owner *owner = g->owner;
	bool fit = true;
	unsigned i;

	assert(g->left == g->n);
	core_visit(core, g->n);
	for (i = 0; i < g->n; i++)
		if (!member_fits(core, g->members[i]))
			fit = false;
	for (i = 0; fit && i < g->n; i++)
		fit = lock_may_grant(core, g->members[i]->lock, g->members[i]);
	if (!fit)
		return false;
	for (i = 0; i < g->n; i++) {
		lock_touch(core, g->members[i]->lock);
		lock_grant(core, g->members[i]);
	}
	deadlock_check(core, owner);
	return true;
}

/* A hold was lost before the grant was told: the group waits again for all. */
static void
withdraw(struct core *core, struct group *g)
{
	struct hold *h;
	unsigned i;

	assert(g->left == g->n);
	for (i = 0; i < g->n; i++) {
		h = g->members[i]->hold;
		if (h != NULL && !hold_take_back(h, g->members[i])) {
			hold_promise_told(h);
			hold_end(core, h, true);
		}
		waiter_ungranted(core, g->members[i]);
	}
}

/* Looks at all leases before anything is told, because each of them may have
 * run out since the grant. */
void
group_tell(struct core *core, struct group *g)
{
	unsigned i;

	assert(g->left == g->n);
	core_visit(core, g->n);
	for (i = 0; i < g->n; i++) {
		lock_look(core, g->members[i]->lock, g->owner);
		if (!g->members[i]->withdrawn)
			continue;
		withdraw(core, g);
		return;
	}
	emit_reply(core, g->owner->id, g->ref, STATUS_OK);
	for (i = 0; i < g->n; i++)
		emit_num(core, FIELD_FENCE, g->members[i]->fence);
	for (i = 0; i < g->n; i++)
		emit_num(core, FIELD_DEPTH, g->members[i]->depth);
	for (i = 0; i < g->n; i++)
		hold_told(core, g->members[i]);
	group_free(core, g, waiter_free);
}

/* All waiters are made before the first is put into a queue: code that looks at
 * one finds the group whole. */
static struct group *
group_new(struct core *core, struct owner *owner, const struct core_request *rq,
    struct lock *const *locks)
{
	struct group *g = xcalloc(1, sizeof(*g));
	struct waiter *w;
	unsigned i;

	g->owner = owner;
	g->ref = rq->ref;
	g->since_ms = core->now_ms;
	g->n = g->left = rq->nnames;
	for (i = 0; i < g->n; i++) {
		w = waiter_new(core, owner, locks[i], rq);
		w->group = g;
		w->place = i;
		g->members[i] = w;
	}
	for (i = 0; i < g->n; i++) {
		waiter_enqueue(core, g->members[i], rq->wait_ms);
		lock_touch(core, locks[i]);
	}
	return g;
}

/* Returns one of the names that others here hold; NULL: there is none, so the
 * store must be asked. */
static const struct lock *
held_by_others(const struct core *core, const struct owner *owner,
    const struct core_request *rq, struct lock *const *locks)
{
	unsigned i;

	for (i = 0; i < rq->nnames; i++)
		if (!TAILQ_EMPTY(&locks[i]->holders) &&
		    hold_find(core, locks[i], owner) == NULL &&
		    !(rq->shared && locks[i]->shared_hold))
			return locks[i];
	return NULL;
}

/* Does the session have all the names already? */
static bool
all_held(const struct core *core, const struct group *g)
{
	unsigned i;

	for (i = 0; i < g->n; i++)
		if (!group_has_already(core, g->members[i]))
			return false;
	return true;
}

/*
 * A TRYLOCK that cannot succeed is answered before it is in any queue, so that
 * no name is asked for in vain.  If the session has all the names already,
 * nothing is asked of the store, unless a key must live longer.
 */
void
group_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	struct lock *locks[CORE_NAMES_MAX];
	const struct lock *held;
	struct group *g;
	unsigned i;

	assert(rq->nnames > 1);
	assert(rq->nnames <= CORE_NAMES_MAX);
	if (!lock_allowed(core, owner, rq,
		lock_find(core, rq->names[0].p, rq->names[0].n)))
		return;
	for (i = 0; i < rq->nnames; i++) {
		locks[i] = lock_get(core, rq->names[i].p, rq->names[i].n);
		lock_look(core, locks[i], owner);
		lock_touch(core, locks[i]);
	}
	if (lock_refuse_deadlock(core, owner, rq, locks))
		return;
	held = rq->wait_ms > 0 ? NULL : held_by_others(core, owner, rq, locks);
	if (held != NULL) {
		emit_reply(core, owner->id, rq->ref, STATUS_BUSY);
		PARTS_CALL(refused, core, owner, KIND_LOCK, held->name,
		    held->name_len, queue_of(held)->n);
		LOCK_HOOK(busy, core, locks, rq->nnames);
		return;
	}
	g = group_new(core, owner, rq, locks);
	if (all_held(core, g))
		group_grant(core, g);
}
