/*
 * The busiest of many names: in the order of how many wait, then of how often
 * the name changed hands, then of the names.  A heap has as many as are wanted,
 * with the least busy on top: it is the one that a busier name replaces.
 */
#ifndef LOCKBROKER_CORE_BUSIEST_H
#define LOCKBROKER_CORE_BUSIEST_H

#include "core/lock/state.h"

/* A name as it was when it was offered; it may be gone by now. */
struct busy {
	uint64_t handovers;
	int64_t since_ms;  /* when the oldest waiter came; 0: nobody waits */
	const char *state; /* a word */
	uint32_t nwaiting;
	uint8_t name_len;
	char name[];
};

struct busiest {
	struct busy **v; /* owned, with what it points to */
	size_t n, size;
	size_t most;   /* so many are wanted */
	size_t nheap;  /* so many are not in order yet */
	size_t ntaken; /* so many were taken */
};

void busiest_init(struct busiest *b, size_t most);
void busiest_fini(struct busiest *b);

void busiest_offer(struct busiest *b, const struct lock *l);

/* After all were offered, brings one more into order.  Returns false if all
 * are. */
bool busiest_order(struct busiest *b);

/* Returns the next, the busiest first, or NULL.  Requires that all are in
 * order.  It lives until the next call. */
const struct busy *busiest_take(struct busiest *b);

#endif
