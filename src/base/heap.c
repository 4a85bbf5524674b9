/*
 * The timer heap.  It owns the array of pointers, never the timers.
 *
 * The order of equal deadlines is the order in which they were set: two runs
 * that set the same timers fire them in the same order.
 *
 * Each slot has four children, and holds deadline and order as well as the
 * pointer: with 100,000 timers, cache misses cost most, and this way a timer
 * moves past others without access to them, for one or two cache lines a level.
 * Leases that are taken or renewed together are due in the same millisecond, so
 * orders are compared as often as deadlines.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/heap.h"
#include "base/xmalloc.h"

#define HEAP_SIZE_MIN 16
#define CHILDREN 4

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
		h->slots[i].timer->slot = 0;
	free(h->slots);
	heap_init(h);
}

static bool
heap_has(const struct heap *h, const struct timer *t)
{
	return t->slot != 0 && t->slot <= h->len &&
	       h->slots[t->slot - 1].timer == t;
}

static bool
slot_before(const struct heap_slot *a, const struct heap_slot *b)
{
	if (a->at_ms != b->at_ms)
		return a->at_ms < b->at_ms;
	return a->order < b->order;
}

static void
heap_put(struct heap *h, uint32_t i, struct heap_slot s)
{
	h->slots[i] = s;
	s.timer->slot = (i + 1) & TIMERS_MAX;
}

/* Moves the hole at i up to where s belongs, and fills it with s. */
static void
heap_sift_up(struct heap *h, uint32_t i, struct heap_slot s)
{
	uint32_t parent;

	while (i > 0) {
		parent = (i - 1) / CHILDREN;
		if (!slot_before(&s, &h->slots[parent]))
			break;
		heap_put(h, i, h->slots[parent]);
		i = parent;
	}
	heap_put(h, i, s);
}

/* Returns the first child of i, or i itself if it has none. */
static uint32_t
heap_first_child(const struct heap *h, uint32_t i)
{
	uint32_t child = CHILDREN * i + 1, end = child + CHILDREN, first;

	if (child >= h->len)
		return i;
	if (end > h->len)
		end = h->len;
	for (first = child++; child < end; child++)
		if (slot_before(&h->slots[child], &h->slots[first]))
			first = child;
	return first;
}

/* Moves the hole at i down to where s belongs, and fills it with s. */
static void
heap_sift_down(struct heap *h, uint32_t i, struct heap_slot s)
{
	uint32_t child;

	for (;;) {
		child = heap_first_child(h, i);
		if (child == i || !slot_before(&h->slots[child], &s))
			break;
		heap_put(h, i, h->slots[child]);
		i = child;
	}
	heap_put(h, i, s);
}

static void
heap_place(struct heap *h, uint32_t i, struct heap_slot s)
{
	if (i > 0 && slot_before(&s, &h->slots[(i - 1) / CHILDREN]))
		heap_sift_up(h, i, s);
	else
		heap_sift_down(h, i, s);
}

void
heap_set(struct heap *h, struct timer *t, int64_t at_ms)
{
	struct heap_slot s = { at_ms, h->next_order++, t };

	if (t->slot != 0) {
		assert(heap_has(h, t));
		heap_place(h, t->slot - 1, s);
		return;
	}
	if (h->len == h->size) {
		assert(h->len < TIMERS_MAX);
		h->size = h->size > 0 ? h->size * 2 : HEAP_SIZE_MIN;
		h->slots = xrealloc(h->slots, h->size * sizeof(*h->slots));
	}
	heap_sift_up(h, h->len++, s);
}

void
heap_remove(struct heap *h, struct timer *t)
{
	uint32_t i = t->slot - 1;
	struct heap_slot last;

	if (t->slot == 0)
		return;
	assert(heap_has(h, t));
	t->slot = 0;
	last = h->slots[--h->len];
	if (last.timer != t)
		heap_place(h, i, last);
}

int64_t
heap_at_ms(const struct heap *h, const struct timer *t)
{
	assert(heap_has(h, t));
	return h->slots[t->slot - 1].at_ms;
}
