/*
 * The timer heap.  It owns the array of pointers, never the timers.
 *
 * The order of equal deadlines is the order in which they were set: two runs
 * that set the same timers fire them in the same order.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/xmalloc.h"

#define HEAP_SIZE_MIN 16

void
heap_init(struct heap *h)
{
	memset(h, 0, sizeof(*h));
}

void
heap_fini(struct heap *h)
{
	uint32_t i;

	for (i = 0; i < h->len; i++)
		h->slots[i]->slot = 0;
	free(h->slots);
	heap_init(h);
}

static bool
timer_before(const struct timer *a, const struct timer *b)
{
	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms;
	return a->order < b->order;
}

static void
heap_put(struct heap *h, uint32_t i, struct timer *t)
{
	h->slots[i] = t;
	t->slot = i + 1;
}

/* Moves the hole at i up to where t belongs, and fills it with t. */
static void
heap_sift_up(struct heap *h, uint32_t i, struct timer *t)
{
	uint32_t parent;

	while (i > 0) {
		parent = (i - 1) / 2;
		if (!timer_before(t, h->slots[parent]))
			break;
		heap_put(h, i, h->slots[parent]);
		i = parent;
	}
	heap_put(h, i, t);
}

/* Moves the hole at i down to where t belongs, and fills it with t. */
static void
heap_sift_down(struct heap *h, uint32_t i, struct timer *t)
{
	uint32_t child;

	for (;;) {
		child = 2 * i + 1;
		if (child >= h->len)
			break;
		if (child + 1 < h->len &&
		    timer_before(h->slots[child + 1], h->slots[child]))
			child++;
		if (!timer_before(h->slots[child], t))
			break;
		heap_put(h, i, h->slots[child]);
		i = child;
	}
	heap_put(h, i, t);
}

static void
heap_place(struct heap *h, uint32_t i, struct timer *t)
{
	if (i > 0 && timer_before(t, h->slots[(i - 1) / 2]))
		heap_sift_up(h, i, t);
	else
		heap_sift_down(h, i, t);
}

void
heap_set(struct heap *h, struct timer *t, int64_t at_ms)
{
	t->at_ms = at_ms;
	t->order = h->next_order++;
	if (t->slot != 0) {
		assert(t->slot <= h->len && h->slots[t->slot - 1] == t);
		heap_place(h, t->slot - 1, t);
		return;
	}
	if (h->len == h->size) {
		assert(h->size <= UINT32_MAX / 4);
		h->size = h->size > 0 ? h->size * 2 : HEAP_SIZE_MIN;
		h->slots = xrealloc(h->slots, h->size * sizeof(*h->slots));
	}
	heap_sift_up(h, h->len++, t);
}

void
heap_remove(struct heap *h, struct timer *t)
{
	uint32_t i = t->slot - 1;
	struct timer *last;

	if (t->slot == 0)
		return;
	assert(i < h->len && h->slots[i] == t);
	t->slot = 0;
	last = h->slots[--h->len];
	if (last != t)
		heap_place(h, i, last);
}
