/*
 * HISTORY: the holders of a name, and the former ones.
 *
 *	token hold -> holders -> past holds
 *
 * The latest comes first.
 */
#include "config.h"

#include "base/xmalloc.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/names.h"
#include "core/parts/ids.h"
#include "core/parts/observe/measure.h"
#include "core/parts/token/state.h"
#include "core/parts/views/listing_state.h"

static void
history_ended(
    const struct listing *g, struct row *r, const struct measure_hold *h)
{
	if (h->session != 0)
		row_num(r, FIELD_SESSION, h->session);
	if (h->label != NULL)
		row_str(r, FIELD_LABEL, h->label);
	row_str(r, FIELD_PEER, h->peer);
	if (h->user != NULL)
		row_str(r, FIELD_USER, h->user);
	row_str(r, FIELD_MODE, listing_mode(h->shared));
	row_num(r, FIELD_FENCE, h->fence);
	row_num(r, FIELD_WAITED, (uint64_t)h->waited_ms);
	row_num(r, FIELD_HELD, listing_age(h->ended_ms, h->granted_ms));
	row_str(r, FIELD_END, h->end);
	if (h->by != NULL)
		row_str(r, FIELD_BY, h->by);
	if (h->trace != NULL)
		row_str(r, FIELD_TRACE, h->trace);
	row_num(r, FIELD_AGO, listing_age(g->now_ms, h->ended_ms));
	row_finish(r, "hold", NULL, 0);
}

/* They are few, and one call lists them all: none goes away meanwhile. */
static void
history_past(struct core *core, struct listing *g)
{
	struct measure_hold h;
	const void *place = NULL;

	for (; g->left > 0 && measure_past_of(measure_of(core), g->name,
				  g->name_len, &place, &h);
	     g->left--)
		history_ended(g, &g->row, &h);
	g->stage = NULL;
}

/* The present holders come first, as the latest. */
static void
history_holder(struct core *core, struct listing *g)
{
	const struct hold *h =
	    g->left > 0 ? hold_of(cursor_take(&g->next)) : NULL;
	struct row *r = &g->row;

	if (h == NULL) {
		g->stage = history_past;
		return;
	}
	g->left--;
	listing_session(core, g, h->holding.owner, h->lock->shared_hold);
	if (h->holding.owner->user != NULL)
		row_str(r, FIELD_USER, h->holding.owner->user);
	row_num(r, FIELD_FENCE, h->fence);
	row_num(r, FIELD_WAITED, (uint64_t)hold_waited_ms(h));
	row_num(r, FIELD_HELD, listing_age(g->now_ms, h->holding.since_ms));
	row_str(r, FIELD_END, "held");
	row_note(core, r, FIELD_TRACE, h, NOTE_TRACE);
	row_num(r, FIELD_AGO, 0);
	row_finish(r, "hold", NULL, 0);
}

/* The token hold that is looked after here. */
static void
history_token(struct core *core, struct listing *g)
{
	const struct token_record *w =
	    token_record_find(core, g->name, g->name_len);
	struct measure_hold h;

	g->stage = history_holder;
	if (w == NULL || g->left == 0)
		return;
	g->left--;
	h = token_record_hold(w, g->now_ms);
	history_ended(g, &g->row, &h);
}

struct listing *
core_history_begin(
    struct core *core, const char *name, size_t name_len, size_t limit)
{
	struct listing *g = listing_new(history_token);
	struct lock *l;

	g->left = limit;
	g->name = xstrndup(name, name_len);
	g->name_len = name_len;
	l = lock_find(core, name, name_len);
	if (l != NULL)
		cursor_begin(&lock_need_rare(l)->cursors, &g->next,
		    TAILQ_FIRST(&l->holders),
		    offsetof(struct holding, in_holders));
	return g;
}
