/*
 * A min-heap of timers, ordered by deadline and, among equal deadlines, by
 * insertion (so that runs with one seed are the same).
 *
 * Intrusive: the object embeds a struct timer and the heap keeps pointers to
 * it.  An object must be taken out before it is freed.
 */
#ifndef LOCKBROKER_BASE_HEAP_H
#define LOCKBROKER_BASE_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMERS_MAX ((UINT32_C(1) << 27) - 1) /* in a heap */

/*
 * The timer is small, because every hold has one: the deadline is in the heap
 * only, see heap_at_ms().
 */
struct timer {
	uint32_t slot : 27; /* 1 + index in the heap; 0: not in a heap */
	uint32_t kind : 5;  /* set by the owner: the kind of object */
};

/* A timer, with everything that its position depends on: see heap.c. */
struct heap_slot {
	int64_t at_ms;	/* CLOCK_BOOTTIME milliseconds */
	uint64_t order; /* how many timers were set before it */
	struct timer *timer;
};

struct heap {
	struct heap_slot *slots; /* owned; the timers are not owned */
	uint32_t len;
	uint32_t size;
	uint64_t next_order;
};

void heap_init(struct heap *h);
void heap_fini(struct heap *h); /* forgets the timers in it */

/* Puts the timer in, or moves it, to fire at at_ms. */
void heap_set(struct heap *h, struct timer *t, int64_t at_ms);
void heap_remove(struct heap *h, struct timer *t); /* no-op if not in */

static inline bool
timer_armed(const struct timer *t)
{
	return t->slot != 0;
}

/* The deadline of a timer.  Requires that it is in the heap. */
int64_t heap_at_ms(const struct heap *h, const struct timer *t);

/* The earliest timer, still in the heap, or NULL. */
static inline struct timer *
heap_first(const struct heap *h)
{
	return h->len > 0 ? h->slots[0].timer : NULL;
}

/* Its deadline, or INT64_MAX. */
static inline int64_t
heap_first_ms(const struct heap *h)
{
	return h->len > 0 ? h->slots[0].at_ms : INT64_MAX;
}

#endif
