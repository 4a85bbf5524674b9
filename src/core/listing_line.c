/*
 * QUEUE kind=: who has permits of a semaphore, and who waits there, or at a
 * latch or a barrier.
 *
 *	holders of permits, the first one first -> those who wait
 */
#include "config.h"

#include "base/xmalloc.h"
#include "core/listing_state.h"
#include "core/session/owner.h"
#include "core/sync/line.h"
#include "core/sync/semaphore.h"

/* Only permits are counted: who waits at a latch or a barrier is one. */
static void
tell_line(
    struct listing *g, const char *role, uint64_t permits, int64_t since_ms)
{
	g->left--;
	if (permits > 0)
		row_num(&g->row, FIELD_PERMITS, permits);
	row_num(&g->row, FIELD_AGE, listing_age(g->now_ms, since_ms));
	row_finish(&g->row, role, NULL, 0);
}

static void
line_waiter(struct core *core, struct listing *g)
{
	const struct claim *c = g->left > 0 ? cursor_take(&g->next) : NULL;

	if (c == NULL) {
		g->stage = NULL;
		return;
	}
	if (c->leaving)
		return;
	listing_owner(core, g, c->owner);
	tell_line(g, "waiter", c->verb == VERB_ACQUIRE ? c->n : 0, c->since_ms);
}

static void
line_begin(struct core *core, struct listing *g)
{
	struct sync *y = sync_find(core, g->kind, g->name, g->name_len);

	g->stage = line_waiter;
	if (y != NULL)
		cursor_begin(&y->cursors, &g->next, line_first(&y->queue),
		    offsetof(struct claim, in_sync));
}

static void
line_holder(struct core *core, struct listing *g)
{
	const struct permits *p = g->left > 0 ? cursor_take(&g->next) : NULL;

	if (p == NULL) {
		line_begin(core, g);
		return;
	}
	if (permits_are_lost(p))
		return;
	listing_owner(core, g, p->owner);
	tell_line(g, "holder", p->n, p->since_ms);
}

/* The waiters are counted as the list begins. */
struct listing *
core_line_begin(struct core *core, enum kind kind, const char *name,
    size_t name_len, size_t limit)
{
	struct listing *g = listing_new(line_holder);
	struct sync *y = sync_find(core, kind, name, name_len);

	g->left = limit;
	if (y == NULL)
		return g;
	g->kind = kind;
	g->name = xstrndup(name, name_len);
	g->name_len = name_len;
	if (kind == KIND_SEMAPHORE)
		cursor_begin(&y->cursors, &g->next, semaphore_holder(y),
		    offsetof(struct permits, in_sync));
	g->nparked = y->queue.n;
	return g;
}
