/*
 * A binary heap of future events.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "events.h"

void
events_init(struct events *e)
{
	memset(e, 0, sizeof(*e));
}

void
events_fini(struct events *e)
{
	free(e->heap);
	events_init(e);
}

static bool
before(const struct happening *a, const struct happening *b)
{
	if (a->at_us != b->at_us)
		return a->at_us < b->at_us;
	return a->order < b->order;
}

void
events_at(
    struct events *e, int64_t at_us, event_fn *fn, void *object, uint64_t tag)
{
	struct happening h = { at_us, e->next_order++, fn, object, tag };
	size_t i, parent;

	if (h.at_us < e->now_us)
		h.at_us = e->now_us;
	if (e->n == e->size) {
		e->size = e->size > 0 ? e->size * 2 : 256;
		e->heap = xrealloc(e->heap, e->size * sizeof(*e->heap));
	}
	for (i = e->n++; i > 0; i = parent) {
		parent = (i - 1) / 2;
		if (!before(&h, &e->heap[parent]))
			break;
		e->heap[i] = e->heap[parent];
	}
	e->heap[i] = h;
}

static struct happening
events_pop(struct events *e)
{
	struct happening first = e->heap[0], last;
	size_t i = 0, child;

	last = e->heap[--e->n];
	for (;;) {
		child = 2 * i + 1;
		if (child >= e->n)
			break;
		if (child + 1 < e->n &&
		    before(&e->heap[child + 1], &e->heap[child]))
			child++;
		if (!before(&e->heap[child], &last))
			break;
		e->heap[i] = e->heap[child];
		i = child;
	}
	e->heap[i] = last;
	return first;
}

bool
events_step(struct events *e, int64_t until_us)
{
	struct happening h;

	if (e->n == 0 || e->heap[0].at_us > until_us)
		return false;
	h = events_pop(e);
	assert(h.at_us >= e->now_us);
	e->now_us = h.at_us;
	e->fired++;
	h.fn(h.object, h.tag);
	return true;
}
