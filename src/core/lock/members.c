/*
 * The names of a group: its memory, and which names to look at when one of them
 * has changed.
 */
#include "config.h"

#include <stdlib.h>

#include "core/lock/group.h"
#include "core/lock/names.h"
#include "core/turn/work.h"

/* How many waiters of a queue have the other names of their groups touched. */
#define GROUPS_TOUCHED 3

bool
group_starving(const struct core *core, const struct group *g)
{
	return core->now_ms - g->since_ms >= core->config.lease_ms;
}

/* A group that lacks a member is being answered; until it is freed, nobody
 * grants it, or looks at its other names (left < n). */
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
