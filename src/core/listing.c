/*
 * Lists of things of which there may be 100,000: LIST (listing_held.c), QUEUE
 * (listing_queue.c, listing_line.c), HISTORY (listing_history.c), NAMES (listing_names.c) and
 * BROKERS (listing_brokers.c).
 *
 * They are made in parts, between which the core goes on.  A row is as the
 * thing was when the list came by.  A list knows what comes next, and is told
 * when that goes away.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/listing.h"
#include "core/listing_state.h"
#include "core/lock/state.h"
#include "core/sync/semaphore.h"

/* Rows, names or comparisons of a part: some tenths of a millisecond. */
#define PART 256

/* A list that began again so often makes the rest in one part. */
#define ANEW_MAX 3

/* All unfinished lists. */
struct listings {
	LIST_HEAD(, listing) list;
};

void
listing_init(struct core *core)
{
	core->listings = xcalloc(1, sizeof(*core->listings));
	LIST_INIT(&core->listings->list);
}

void
listing_fini(struct core *core)
{
	assert(LIST_EMPTY(&core->listings->list));
	free(core->listings);
}

struct listing *
listing_new(struct core *core, stage_fn stage)
{
	struct listing *g = xcalloc(1, sizeof(*g));

	g->stage = stage;
	row_init(&g->row);
	LIST_INSERT_HEAD(&core->listings->list, g, link);
	return g;
}

void
core_listing_end(struct listing *g)
{
	LIST_REMOVE(g, link);
	busiest_fini(&g->busiest);
	free(g->name);
	free(g->pattern);
	buf_fini(&g->row.text);
	free(g);
}

/*
 * Nothing changes while a part is made, since the core makes no step.  A list
 * that is spoilt over and over makes the rest in one piece, or it would never
 * end.
 */
bool
core_listing_part(struct core *core, struct listing *g, int64_t now_ms,
    core_row_fn fn, void *arg)
{
	unsigned i;

	g->row.fn = fn;
	g->row.arg = arg;
	g->now_ms = now_ms;
	if (g->spoilt)
		g->again(g);
	for (i = 0; (i < PART || g->anew >= ANEW_MAX) && g->stage != NULL; i++)
		g->stage(core, g);
	return g->stage != NULL;
}

/* Things that go away. */

/* Few lists are unfinished: the driver makes one after the other
 * (daemon/lists.c). */
void
listing_leave_hold(struct core *core, const struct hold *h)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link) {
		/* A LIST of that session may have told this hold already. */
		if (g->owner == h->owner)
			g->spoilt = true;
		if (g->hold == h)
			g->hold = g->after(h);
	}
}

void
listing_leave_waiter(struct core *core, const struct waiter *w)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link)
		if (g->waiter == w)
			g->waiter = TAILQ_NEXT(w, in_lock);
}

void
listing_leave_permits(struct core *core, const struct permits *p)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link) {
		if (g->owner == p->owner)
			g->spoilt = true;
		if (g->permits == p)
			g->permits = TAILQ_NEXT(p, in_owner);
		if (g->holding == p)
			g->holding = permits_later(p);
	}
}

void
listing_leave_line(struct core *core, const struct claim *c)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link)
		if (g->in_line == c)
			g->in_line = TAILQ_NEXT(c, in_sync);
}

void
listing_leave_claim(struct core *core, const struct claim *c)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link)
		if (g->claim == c)
			g->claim = TAILQ_NEXT(c, in_owner);
}

/* Its holds and requests have gone before; the list ends. */
void
listing_leave_owner(struct core *core, const struct owner *owner)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link)
		if (g->owner == owner)
			g->owner = NULL;
}

/* All its holders and waiters have gone before. */
void
listing_leave_lock(struct core *core, const struct lock *l)
{
	struct listing *g;

	LIST_FOREACH (g, &core->listings->list, link)
		if (g->lock == l)
			g->lock = NULL;
}
