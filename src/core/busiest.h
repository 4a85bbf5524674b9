/*
 * The busiest of many names: who waits, then how much it changed hands, then by
 * name.  A heap of as many as are wanted, with the least busy of them on top:
 * it is the one that has to go.
 */
#ifndef LOCKBROKER_CORE_BUSIEST_H
#define LOCKBROKER_CORE_BUSIEST_H

#include "core/lock/state.h"

/* What was seen of a name; the name may be over by now. */
struct busy {
	uint64_t handovers;
	int64_t since_ms;  /* the first of those who wait came; 0: nobody */
	const char *state; /* a word */
	uint32_t nwaiting;
	uint8_t name_len;
	char name[];
};

struct busiest {
	struct busy **v; /* owned, and so are they */
	size_t n, size;
	size_t most;   /* are wanted */
	size_t nheap;  /* of them are not in order yet */
	size_t ntaken; /* were taken */
};

void busiest_init(struct busiest *b, size_t most);
void busiest_fini(struct busiest *b);

void busiest_offer(struct busiest *b, const struct lock *l);

/* When all were offered: a bit of the work.  False: they are in order. */
bool busiest_order(struct busiest *b);

/* Then they can be taken, the busiest first; NULL at the end. */
const struct busy *busiest_take(struct busiest *b);

#endif
