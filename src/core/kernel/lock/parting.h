/*
 * Names on their way back to the store, for which an UNLOCK waits.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_PARTING_H
#define LOCKBROKER_CORE_KERNEL_LOCK_PARTING_H

#include "core/kernel/lock/state.h"

/* An UNLOCK whose names are being released in the store.  It is answered, and
 * this is freed, when the last of them is over. */
struct parting {
	uint64_t session; /* id */
	uint64_t ref;
	unsigned left; /* names still under way, and 1 while it begins */
	unsigned n;
	bool deferred;	  /* the store has not confirmed all of it */
	uint32_t depth[]; /* left of each name, in the order of the request */
};

/* Counts one down: answers and frees the parting with the last. */
void parting_drop(struct core *core, struct parting *p);

/* The release of a name is over; `deferred`: the store has not confirmed it. */
static inline void
parting_over(struct core *core, struct lock *l, bool deferred)
{
	struct parting *p = l->parting;

	if (p == NULL)
		return;
	l->parting = NULL;
	if (deferred)
		p->deferred = true;
	parting_drop(core, p);
}

#endif
