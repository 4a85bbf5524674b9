/*
 * Lists of things of which there may be 100,000: LIST (listing_held.c), QUEUE
 * (listing_queue.c, listing_line.c), HISTORY (listing_history.c), NAMES
 * (listing_names.c) and BROKERS (listing_brokers.c).
 *
 * They are made in parts, between which the core goes on.  A row is as the
 * thing was when the list came by.  A list knows what comes next by a cursor
 * (base/cursor.h), which goes on when that goes away.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/listing_state.h"
#include "core/lock/state.h"
#include "core/sync/semaphore.h"

/* Rows, names or comparisons of a part: some tenths of a millisecond. */
#define PART 256

/* A list that began again so often makes the rest in one part. */
#define ANEW_MAX 3

struct listing *
listing_new(stage_fn stage)
{
	struct listing *g = xcalloc(1, sizeof(*g));

	g->stage = stage;
	row_init(&g->row);
	return g;
}

void
core_listing_end(struct listing *g)
{
	cursor_end(&g->next);
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
	if (g->spoilt != NULL && g->spoilt(core, g))
		g->anew++;
	for (i = 0; (i < PART || g->anew >= ANEW_MAX) && g->stage != NULL; i++)
		g->stage(core, g);
	return g->stage != NULL;
}
