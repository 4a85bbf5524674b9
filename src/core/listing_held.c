/*
 * LIST: what a session has.
 *
 *	holds -> permits -> places at barriers
 */
#include "config.h"

#include "core/listing_state.h"
#include "core/lock/hold.h"
#include "core/session/owner.h"
#include "core/sync/line.h"
#include "core/sync/semaphore.h"

/* Lists places at barriers; other claims only wait, and are not listed. */
static void
list_claim(struct core *core, struct listing *g)
{
	const struct claim *c = g->claim;

	(void)core;
	if (c == NULL) {
		g->stage = NULL;
		return;
	}
	g->claim = TAILQ_NEXT(c, in_owner);
	if (c->verb != VERB_BARRIER || c->leaving ||
	    line_state(c) != CLAIM_PARKED)
		return;
	row_num(&g->row, FIELD_AGE, listing_age(g->now_ms, c->since_ms));
	row_finish(&g->row, "barrier", c->sync->name, c->sync->name_len);
}

static void
list_permits(struct core *core, struct listing *g)
{
	const struct permits *p = g->permits;

	(void)core;
	if (p == NULL) {
		g->stage = list_claim;
		if (g->owner != NULL)
			g->claim = TAILQ_FIRST(&g->owner->claims);
		return;
	}
	g->permits = TAILQ_NEXT(p, in_owner);
	row_num(&g->row, FIELD_PERMITS, p->n);
	row_num(&g->row, FIELD_AGE, listing_age(g->now_ms, p->since_ms));
	row_finish(&g->row, "semaphore", p->sync->name, p->sync->name_len);
}

static const struct hold *
later_of_session(const struct hold *h)
{
	return TAILQ_NEXT(h, in_owner);
}

static void
list_hold(struct core *core, struct listing *g)
{
	const struct hold *h = g->hold;

	(void)core;
	if (h == NULL) {
		g->stage = list_permits;
		if (g->owner != NULL)
			g->permits = TAILQ_FIRST(&g->owner->permits);
		return;
	}
	g->hold = later_of_session(h);
	row_str(&g->row, FIELD_MODE, listing_mode(h->lock->shared_hold));
	row_num(&g->row, FIELD_DEPTH, hold_depth(h));
	row_num(&g->row, FIELD_FENCE, h->fence);
	row_num(&g->row, FIELD_AGE, listing_age(g->now_ms, h->since_ms));
	row_finish(&g->row, "lock", h->lock->name, h->lock->name_len);
}

/* The client hears of a loss before it has the list, so the list must not have
 * the hold: begins again. */
static void
begin_again(struct listing *g)
{
	g->spoilt = false;
	g->anew++;
	g->stage = list_hold;
	g->hold = g->owner != NULL ? TAILQ_FIRST(&g->owner->holds) : NULL;
	g->permits = NULL;
	g->claim = NULL;
	g->row.count = 0;
	g->row.fn(g->row.arg, NULL);
}

struct listing *
core_list_begin(struct core *core, uint64_t session)
{
	struct listing *g = listing_new(core, list_hold);

	g->after = later_of_session;
	g->again = begin_again;
	g->owner = owner_find(core, session);
	if (g->owner != NULL)
		g->hold = TAILQ_FIRST(&g->owner->holds);
	return g;
}

/* Makes the whole list at once, for callers that can wait. */
size_t
core_list(struct core *core, int64_t now_ms, uint64_t session, core_row_fn fn,
    void *arg)
{
	struct listing *g = core_list_begin(core, session);
	size_t n;

	while (core_listing_part(core, g, now_ms, fn, arg))
		;
	n = g->row.count;
	core_listing_end(g);
	return n;
}
