/*
 * LIST: the holds of a session.
 *
 *	holds -> permits -> places at barriers
 */
#include "config.h"

#include "core/kernel/lock/hold.h"
#include "core/kernel/session/owner.h"
#include "core/parts/sync/line.h"
#include "core/parts/sync/permit_slots.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/views/listing_state.h"

/* Lists places at barriers; other requests only wait, and are not listed. */
static void
list_entry(struct core *core, struct listing *g)
{
	const struct claim *c = cursor_take(&g->next);
	const struct entry *e;

	(void)core;
	if (c == NULL) {
		g->stage = NULL;
		return;
	}
	e = entry_seen(c);
	if (e == NULL || e->verb != VERB_BARRIER || e->leaving ||
	    line_state(e) != ENTRY_PARKED)
		return;
	row_num(&g->row, FIELD_AGE, listing_age(g->now_ms, c->since_ms));
	row_finish(&g->row, "barrier", e->sync->name, e->sync->name_len);
}

static void
list_permits(struct core *core, struct listing *g)
{
	const struct permits *p = permits_of(cursor_take(&g->next));
	struct owner *owner;

	if (p == NULL) {
		g->stage = list_entry;
		owner = owner_find(core, g->session);
		if (owner != NULL)
			cursor_begin(&owner->cursors, &g->next,
			    TAILQ_FIRST(&owner->waiting),
			    offsetof(struct claim, in_owner));
		return;
	}
	row_num(&g->row, FIELD_PERMITS, p->n);
	if (p->slot != NO_SLOT)
		row_num(&g->row, FIELD_SLOT, p->slot);
	row_num(
	    &g->row, FIELD_AGE, listing_age(g->now_ms, p->holding.since_ms));
	row_finish(&g->row, "semaphore", p->sync->name, p->sync->name_len);
}

static void
list_hold(struct core *core, struct listing *g)
{
	const struct hold *h = hold_of(cursor_take(&g->next));
	struct owner *owner;

	if (h == NULL) {
		g->stage = list_permits;
		owner = owner_find(core, g->session);
		if (owner != NULL)
			cursor_begin(&owner->cursors, &g->next,
			    TAILQ_FIRST(&owner->holdings[HOLDING_PERMITS]),
			    offsetof(struct holding, in_owner));
		return;
	}
	/* Its session was told of the loss. */
	if (hold_rare(h)->forfeited)
		return;
	row_str(&g->row, FIELD_MODE, listing_mode(h->lock->shared_hold));
	row_num(&g->row, FIELD_DEPTH, hold_depth(h));
	row_num(&g->row, FIELD_FENCE, h->fence);
	row_num(
	    &g->row, FIELD_AGE, listing_age(g->now_ms, h->holding.since_ms));
	row_finish(&g->row, "lock", h->lock->name, h->lock->name_len);
}

static void
begin_part(struct core *core, struct listing *g)
{
	struct owner *owner = owner_find(core, g->session);

	g->stage = list_hold;
	cursor_end(&g->next);
	if (owner == NULL)
		return;
	g->nended = owner->nended;
	cursor_begin(&owner->cursors, &g->next,
	    TAILQ_FIRST(&owner->holdings[HOLDING_NAME]),
	    offsetof(struct holding, in_owner));
}

/* The client is told of a loss before it has the list, so the list must not
 * have the hold. */
static bool
begin_again(struct core *core, struct listing *g)
{
	const struct owner *owner = owner_find(core, g->session);

	if (g->row.count == 0 || (owner != NULL && owner->nended == g->nended))
		return false;
	g->row.count = 0;
	g->row.fn(g->row.arg, NULL);
	begin_part(core, g);
	return true;
}

struct listing *
core_list_begin(struct core *core, uint64_t session)
{
	struct listing *g = listing_new(list_hold);

	g->spoilt = begin_again;
	g->session = session;
	begin_part(core, g);
	return g;
}
