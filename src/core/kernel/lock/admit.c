/*
 * May a request wait for names?
 *
 * All is asked before the request is in any queue, and one refusal refuses
 * all of it: so there is nothing to be undone.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/lock/admit.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/lock/queue.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"

/*
 * A walk goes breadth first through the wait-for graph: from the names that are
 * asked for to their holders, to the names that these wait for, and so on.  It
 * visits each session once, and writes into it how it was reached.  A walk can
 * take as long as the longest list of sharers of a name; so there is none for a
 * session that no one waits for.
 */

/* A walk reaches no more sessions.  One with more holds counts as waited for,
 * without a look at them. */
#define WALK_MAX 300

/* Sessions that the walk has reached; it has gone on from those before head. */
struct walk {
	struct owner **v;
	size_t head, n, size;
};

static void
walk_push(struct walk *walk, struct owner *owner)
{
	if (walk->n == walk->size) {
		walk->size = walk->size == 0 ? 16 : 2 * walk->size;
		walk->v =
		    xrealloc(walk->v, walk->size * sizeof(struct owner *));
	}
	walk->v[walk->n++] = owner;
}

/*
 * Goes on to the holders of a name.  Returns true if that leads back to the
 * start; at the first step, the start's own hold of the name does not count.
 */
static bool
visit(struct core *core, struct walk *walk, const struct lock *l,
    struct owner *from, const struct owner *start)
{
	const struct holding *h;
	struct owner *owner;

	TAILQ_FOREACH (h, &l->holders, in_holders) {
		if (walk->n >= WALK_MAX)
			return false;
		core_visit(core, 1);
		owner = h->owner;
		if (owner == from ||
		    (owner->walk == core->locks->walks && owner != start))
			continue;
		owner->walk = core->locks->walks;
		owner->walk_via = l;
		owner->walk_from = from;
		if (owner == start)
			return true;
		walk_push(walk, owner);
	}
	return false;
}

/* Goes on to the holders of what a session waits for, untagged. */
static bool
follow(struct core *core, struct walk *walk, struct owner *owner,
    const struct owner *start)
{
	const struct waiter *w;
	const struct claim *c;

	/* The names of one request: CORE_NAMES_MAX at most. */
	TAILQ_FOREACH (c, &owner->waiting, in_owner) {
		if (!c->untagged)
			break;
		w = waiter_seen(c);
		if (w != NULL && visit(core, walk, w->lock, owner, start))
			return true;
	}
	return false;
}

/* Writes `a -> b -> a`, by going back from the name that the start holds. */
static void
write_circle(const struct owner *start, struct buf *out)
{
	const struct lock *first = start->walk_via, *l;
	const struct owner *owner;
	const struct lock *names[32] = { first };
	size_t n = 1;

	for (owner = start->walk_from; owner != start && n < 32;
	     owner = owner->walk_from)
		names[n++] = owner->walk_via;
	buf_add(out, first->name, first->name_len);
	while (n > 0) {
		l = names[--n];
		buf_adds(out, " -> ");
		buf_add(out, l->name, l->name_len);
	}
}

/* Could a path lead back: does anyone wait for what the session holds? */
static bool
is_waited_for(const struct core *core, const struct owner *owner)
{
	const struct holding *h;

	if (owner->nheld[HOLDING_NAME] > WALK_MAX)
		return true;
	core_visit(core, owner->nheld[HOLDING_NAME]);
	TAILQ_FOREACH (h, &owner->holdings[HOLDING_NAME], in_owner)
		if (queue_of(hold_seen(h)->lock)->n > 0)
			return true;
	return false;
}

/*
 * Looks for a circle through the session, which waits (or is about to wait) for
 * these names.  If there is one, appends it to `circle` as `a -> b -> a` and
 * returns true.
 */
static bool
deadlock_find(struct core *core, struct owner *owner, struct lock *const *locks,
    unsigned n, struct buf *circle)
{
	struct walk walk = { NULL, 0, 0, 0 };
	bool found = false;
	unsigned i;

	if (!is_waited_for(core, owner))
		return false;
	core->locks->walks++;
	for (i = 0; i < n; i++)
		visit(core, &walk, locks[i], owner, owner);
	while (!found && walk.head < walk.n)
		found = follow(core, &walk, walk.v[walk.head++], owner);
	if (found)
		write_circle(owner, circle);
	free(walk.v);
	return found;
}

void
deadlock_check(struct core *core, struct owner *owner)
{
	struct claim *c, *next;
	struct waiter *w;
	struct buf circle;

	c = TAILQ_FIRST(&owner->waiting);
	if (c == NULL || !c->untagged)
		return;
	buf_init(&circle);
	for (; c != NULL && c->untagged; c = next) {
		next = TAILQ_NEXT(c, in_owner);
		w = waiter_of(c);
		if (w == NULL ||
		    !deadlock_find(core, owner, &w->lock, 1, &circle))
			continue;
		waiter_circle(core, w,
		    (struct span){ buf_data(&circle), buf_len(&circle) });
		break;
	}
	buf_fini(&circle);
}

/* A request with wait=0 takes no place in the queue for long, so limits.waiters
 * does not apply to it. */
static bool
has_room(struct core *core, const struct owner *owner,
    const struct core_request *rq, const struct lock *l)
{
	if (l == NULL || rq->wait_ms == 0 ||
	    queue_of(l)->n < core->config.limits.waiters)
		return true;
	emit_error(core, owner->id, rq->ref, ERR_LIMIT,
	    "%u requests are already waiting for %.*s (limits.waiters)",
	    queue_of(l)->n, (int)l->name_len, l->name);
	return false;
}

bool
lock_allowed(struct core *core, struct owner *owner,
    const struct core_request *rq, const struct lock *first)
{
	unsigned i;

	assert(first == NULL || first->name_len == rq->names[0].n);
	if (!quota_admits(core, owner, rq, rq->nnames) ||
	    !quota_grants(core, owner, rq->ref) ||
	    !has_room(core, owner, rq, first))
		return false;
	for (i = 1; i < rq->nnames; i++)
		if (!has_room(core, owner, rq,
			lock_find(core, rq->names[i].p, rq->names[i].n)))
			return false;
	return true;
}

/* A tagged request leaves its session free to release what it has, so it closes
 * no circle; neither does one that does not wait. */
bool
lock_refuse_deadlock(struct core *core, struct owner *owner,
    const struct core_request *rq, struct lock *const *locks)
{
	struct buf circle;
	bool found;

	if (!rq->untagged || rq->wait_ms == 0)
		return false;
	buf_init(&circle);
	found = deadlock_find(core, owner, locks, rq->nnames, &circle);
	if (found)
		emit_circle(core, owner->id, rq->ref,
		    (struct span){ buf_data(&circle), buf_len(&circle) });
	buf_fini(&circle);
	return found;
}
