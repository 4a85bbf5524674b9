/*
 * The members of a group: which group comes next, and whom it lets pass (group.h
 * has the rules); which names to look at when one of them has changed; and their
 * memory.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/kernel/lease/lease.h"
#include "core/kernel/lock/fit.h"
#include "core/kernel/lock/group.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/turn/work.h"

/* How many waiters of a queue have the other names of their groups touched. */
#define GROUPS_TOUCHED 3

/* Turns. */

bool
group_has_already(const struct core *core, const struct waiter *w)
{
	return term_vouched(core, &w->lock->lease.term) &&
	       lock_reenters(core, w->lock, w);
}

/* Has the session the name already, or could it be granted it as far as turn,
 * linger and holders go?  The lease need not fit yet. */
static bool
member_free(const struct core *core, const struct waiter *w)
{
	return group_has_already(core, w) ||
	       (lock_free_for(core, w->lock, w) && lock_compatible(w->lock, w));
}

/* Byte order, which all brokers have in common. */
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
	       lock_lingers_for(core, l, w->claim.owner);
}

/* In its queue, may w pass everybody who stands before it? */
static bool
member_first(const struct core *core, const struct waiter *w)
{
	const struct waiter *other, *blocker = NULL;
	unsigned looked = 0;

	if (group_has_already(core, w))
		return true;
	TAILQ_FOREACH (other, &queue_of(w->lock)->waiters, in_lock) {
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

/*
 * What a test asks of the members before another one, in byte order of their
 * names, and of those behind it.  HERE is (2) of what makes a blocker
 * (group.h).  FREE: the group lacks no other name.  TURN: all names before this
 * one are the group's to have.  TAKES_UP: a name that lingers is taken up when
 * those before it can be had, and those behind it can be had, or linger, too.
 */
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
	       ((suffices & HAS) != 0 && group_has_already(core, m)) ||
	       ((suffices & HERE) != 0 &&
		   term_vouched(core, &m->lock->lease.term) &&
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

	assert(i < w->group->n);
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

/* Names that have changed. */

/* `absent`: only those whose leases are not here and not asked for. */
static void
touch_members(struct core *core, const struct group *g, bool absent)
{
	struct lock *l;
	unsigned i;

	assert(g->left == g->n);
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

	TAILQ_FOREACH (w, &queue_of(l)->waiters, in_lock) {
		if (++looked > GROUPS_TOUCHED)
			return;
		if (w->group != NULL && w->group->left == w->group->n)
			touch_members(core, w->group, absent);
	}
}

/* All its names may fit together now, so each is looked at. */
void
group_arrived(struct core *core, struct lock *l)
{
	touch_groups(core, l, false);
}

/* Names that are here or asked for need no push. */
void
group_idle(struct core *core, struct lock *l)
{
	touch_groups(core, l, true);
}

/* Memory. */

/* A group that lacks a member is being answered; until it is freed, it is not
 * granted, and its other names are not looked at (left < n). */
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

/* Counts, because the group is gone with its last member. */
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
