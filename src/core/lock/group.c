/*
 * Several names at once.  See group.h for the rules.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/lease/lease.h"
#include "core/lock/deadlock.h"
#include "core/lock/fit.h"
#include "core/lock/group.h"
#include "core/lock/hold.h"
#include "core/lock/lock.h"
#include "core/lock/measured.h"
#include "core/lock/queue.h"
#include "core/turn/emit.h"
#include "core/turn/work.h"

/* How many waiters of a queue have the other names of their groups touched. */
#define GROUPS_TOUCHED 3

/* The session has the name in a mode that will do: it only re-enters. */
static bool
has_already(const struct core *core, const struct waiter *w)
{
	return tenure_vouched(core, &w->lock->lease.tenure) &&
	       lock_reenters(core, w->lock, w);
}

static bool
member_free(const struct core *core, const struct waiter *w)
{
	return has_already(core, w) ||
	       (lock_free_for(core, w->lock, w) && lock_compatible(w->lock, w));
}

static int
order(const struct lock *a, const struct lock *b)
{
	size_t n = a->name_len < b->name_len ? a->name_len : b->name_len;
	int c = memcmp(a->name, b->name, n);

	return c != 0 ? c : (int)a->name_len - (int)b->name_len;
}

/* A tombstone that only the session can take up is as good as a lease. */
static bool
lingers_for(const struct core *core, const struct waiter *w)
{
	const struct lock *l = w->lock;

	return (l->lease.state == LEASE_LINGERING ||
		   l->lease.state == LEASE_CONFIRMING) &&
	       lock_lingers_for(core, l, w->owner);
}

/* In its queue, may w pass everybody who stands before it? */
static bool
member_first(const struct core *core, const struct waiter *w)
{
	const struct waiter *other, *blocker = NULL;
	unsigned looked = 0;

	if (has_already(core, w))
		return true;
	TAILQ_FOREACH (other, &w->lock->queue, in_lock) {
		if (other == w)
			break;
		core_visit(core, 1);
		if (other->group == NULL || ++looked == GROUPS_FIRST)
			return false;
		blocker = group_blocker(core, blocker, other);
	}
	return !group_blocked_by(blocker, w);
}

/* What a test may be content with, of a member; as bits. */
enum suffices {
	ANYTHING = 1,
	HAS = 2,     /* its session has the name */
	HERE = 4,    /* its lease is here, and not just taken up for another */
	LINGERS = 8, /* its name lingers for the session */
	OPEN = 16    /* it could be granted the name now */
};

/* What a test asks of the members before another one, in byte order of their
 * names, and of those behind it. */
static const struct test {
	unsigned before, behind;
} tests[GROUP_TESTS] = {
	[GROUP_HERE] = { HAS | HERE | LINGERS, ANYTHING },
	[GROUP_FREE] = { OPEN, OPEN },
	[GROUP_TURN] = { LINGERS | OPEN, ANYTHING },
	[GROUP_TAKES_UP] = { OPEN, LINGERS | OPEN },
};

static bool
will_do(const struct core *core, const struct waiter *m, unsigned suffices)
{
	return (suffices & ANYTHING) != 0 ||
	       ((suffices & HAS) != 0 && has_already(core, m)) ||
	       ((suffices & HERE) != 0 &&
		   tenure_vouched(core, &m->lock->lease.tenure) &&
		   (!TAILQ_EMPTY(&m->lock->holders) ||
		       !lock_lingers(core, m->lock, m))) ||
	       ((suffices & LINGERS) != 0 && lingers_for(core, m)) ||
	       ((suffices & OPEN) != 0 && member_free(core, m) &&
		   member_first(core, m));
}

/*
 * Is the group whole, and do all its members but w pass the test?  The member
 * that failed last time is tested first: mostly it fails again, so a waiting
 * group costs one look.
 */
static bool
others_pass(
    const struct core *core, const struct waiter *w, enum group_test test)
{
	const struct test *t = &tests[test];
	struct group *g = w->group;
	unsigned n, suffices, i = g->failed[test];
	const struct waiter *m;

	if (g->left < g->n)
		return false;
	for (n = 0; n < g->n; n++) {
		core_visit(core, 1);
		m = g->members[i];
		suffices = t->behind;
		if (t->before != t->behind && order(m->lock, w->lock) < 0)
			suffices = t->before;
		if (m != w && !will_do(core, m, suffices)) {
			g->failed[test] = (uint8_t)i;
			return false;
		}
		i = i + 1 < g->n ? i + 1 : 0;
	}
	return true;
}

bool
group_free_but(const struct core *core, const struct waiter *w)
{
	return others_pass(core, w, GROUP_FREE);
}

bool
group_starving(const struct core *core, const struct group *g)
{
	return core->now_ms - g->since_ms >= core->config.lease_ms;
}

const struct waiter *
group_blocker(const struct core *core, const struct waiter *blocker,
    const struct waiter *w)
{
	if (w->group == NULL || group_blocked_by(blocker, w) ||
	    !group_starving(core, w->group) ||
	    !others_pass(core, w, GROUP_HERE))
		return blocker;
	return w;
}

bool
group_blocked_by(const struct waiter *blocker, const struct waiter *w)
{
	return blocker != NULL && waiter_came_before(blocker, w);
}

/*
 * It is not enough that the earlier names are here: one may be kept for another
 * group, which waits for a name of the broker that waits for this one.
 */
bool
group_in_turn(const struct core *core, const struct waiter *w)
{
	return others_pass(core, w, GROUP_HERE) &&
	       others_pass(core, w, GROUP_TURN);
}

bool
group_takes_up(const struct core *core, const struct waiter *w)
{
	return others_pass(core, w, GROUP_TAKES_UP);
}

/* `absent`: only those whose leases are not here and not asked for. */
static void
touch_members(struct core *core, const struct group *g, bool absent)
{
	struct lock *l;
	unsigned i;

	core_visit(core, g->n);
	for (i = 0; i < g->n; i++) {
		l = g->members[i]->lock;
		if (!absent ||
		    (l->lease.state == LEASE_NONE && l->lease.pending == NULL))
			lock_touch(core, l);
	}
}

void
group_has(struct core *core, const struct group *g)
{
	if (g->left == g->n)
		touch_members(core, g, true);
}

static void
touch_groups(struct core *core, const struct lock *l, bool absent)
{
	const struct waiter *w;
	unsigned looked = 0;

	TAILQ_FOREACH (w, &l->queue, in_lock) {
		if (++looked > GROUPS_TOUCHED)
			return;
		if (w->group != NULL && w->group->left == w->group->n)
			touch_members(core, w->group, absent);
	}
}

void
group_arrived(struct core *core, struct lock *l)
{
	touch_groups(core, l, false);
}

void
group_idle(struct core *core, struct lock *l)
{
	touch_groups(core, l, true);
}

/* Does the lease of a member fit?  If not, asks the store for what it lacks. */
static bool
member_fits(struct core *core, struct waiter *w)
{
	struct lock *l = w->lock;
	const struct pending_op *asked = l->lease.pending;

	if (lock_fits(core, l, w))
		return true;
	if (l->lease.pending != asked)
		lock_touch(core, l);
	return false;
}

bool
group_grant(struct core *core, struct group *g)
{
	struct owner *owner = g->owner;
	bool fit = true;
	unsigned i;

	core_visit(core, g->n);
	for (i = 0; i < g->n; i++)
		if (!member_fits(core, g->members[i]))
			fit = false;
	if (!fit)
		return false;
	for (i = 0; i < g->n; i++) {
		lock_touch(core, g->members[i]->lock);
		lock_grant(core, g->members[i]);
	}
	deadlock_check(core, owner);
	return true;
}

void
group_forget(struct waiter *w)
{
	struct group *g = w->group;

	assert(g->members[w->place] == w && g->left > 0);
	g->members[w->place] = NULL;
	g->left--;
	if (g->left == 0)
		free(g);
}

void
group_free(struct core *core, struct group *g,
    void (*free_one)(struct core *core, struct waiter *w))
{
	unsigned i, n = g->n, left = g->left;

	for (i = 0; i < n && left > 0; i++) {
		if (g->members[i] == NULL)
			continue;
		left--;
		free_one(core, g->members[i]);
	}
}

/* A hold was lost before the grant was told: the group waits again for all. */
static void
withdraw(struct core *core, struct group *g)
{
	struct hold *h;
	unsigned i;

	for (i = 0; i < g->n; i++) {
		h = g->members[i]->hold;
		if (h != NULL && !hold_take_back(h, g->members[i])) {
			hold_promise_nothing(h);
			hold_end(core, h, true);
		}
		waiter_ungranted(core, g->members[i]);
	}
}

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

/* Do others here hold one of the names?  Then the store need not be asked. */
static bool
held_by_others(const struct core *core, const struct owner *owner,
    const struct core_request *rq, struct lock *const *locks)
{
	unsigned i;

	for (i = 0; i < rq->nnames; i++)
		if (!TAILQ_EMPTY(&locks[i]->holders) &&
		    hold_find(core, locks[i], owner) == NULL &&
		    !(rq->shared && locks[i]->shared_hold))
			return true;
	return false;
}

/* Does the session have all the names already? */
static bool
all_held(const struct core *core, const struct group *g)
{
	unsigned i;

	for (i = 0; i < g->n; i++)
		if (!has_already(core, g->members[i]))
			return false;
	return true;
}

void
group_request(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	struct lock *locks[CORE_NAMES_MAX];
	struct group *g;
	unsigned i;

	assert(rq->nnames <= CORE_NAMES_MAX);
	if (!lock_allowed(core, owner, rq))
		return;
	for (i = 0; i < rq->nnames; i++) {
		locks[i] = lock_get(core, rq->names[i].p, rq->names[i].n);
		lock_look(core, locks[i], owner);
		lock_touch(core, locks[i]);
	}
	if (lock_refuse_deadlock(core, owner, rq, locks))
		return;
	if (rq->wait_ms == 0 && held_by_others(core, owner, rq, locks)) {
		emit_reply(core, owner->id, rq->ref, STATUS_BUSY);
		measured_busy(core, locks, rq->nnames);
		return;
	}
	g = group_new(core, owner, rq, locks);
	if (all_held(core, g))
		group_grant(core, g);
}
