/*
 * QUEUE kind=: who has permits of a semaphore, and who waits there, or at a
 * latch or a barrier.
 *
 *	holders of permits, the first one first -> those who wait
 */
#include "config.h"

#include "core/listing_state.h"
#include "core/session/owner.h"
#include "core/sync/line.h"
#include "core/sync/semaphore.h"

/* Only permits are counted: who waits at a latch or a barrier is one. */
static void
tell(struct listing *g, const char *role, uint64_t permits, int64_t since_ms)
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
	const struct claim *c = g->in_line;

	if (c == NULL || g->left == 0) {
		g->stage = NULL;
		return;
	}
	g->in_line = TAILQ_NEXT(c, in_sync);
	if (c->leaving)
		return;
	listing_owner(core, g, c->owner);
	tell(g, "waiter", c->verb == VERB_ACQUIRE ? c->n : 0, c->since_ms);
}

static void
line_holder(struct core *core, struct listing *g)
{
	const struct permits *p = g->holding;

	if (p == NULL || g->left == 0) {
		g->stage = line_waiter;
		return;
	}
	g->holding = permits_later(p);
	listing_owner(core, g, p->owner);
	tell(g, "holder", p->n, p->since_ms);
}

/* The waiters are counted as the list begins. */
struct listing *
core_line_begin(struct core *core, enum kind kind, const char *name,
    size_t name_len, size_t limit)
{
	struct listing *g = listing_new(core, line_holder);
	const struct sync *y = sync_find(core, kind, name, name_len);

	g->left = limit;
	if (y == NULL)
		return g;
	if (kind == KIND_SEMAPHORE)
		g->holding = semaphore_holder(y);
	g->in_line = line_first(&y->queue);
	g->nparked = y->queue.n;
	return g;
}
