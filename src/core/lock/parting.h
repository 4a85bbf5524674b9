/*
 * Names on their way back: what an UNLOCK waits for.
 */
#ifndef LOCKBROKER_CORE_LOCK_PARTING_H
#define LOCKBROKER_CORE_LOCK_PARTING_H

#include "core/lock/state.h"

/* An UNLOCK whose names are being released in the store. */
struct parting {
	uint64_t session; /* id */
	uint64_t ref;
	unsigned left; /* names still under way, and 1 while it begins */
	unsigned n;
	bool deferred;
	uint32_t depth[]; /* as asked */
};

/* One of its names is over, or it has begun: answered and freed with the last. */
void parting_drop(struct core *core, struct parting *p);

/* A release has ended, in the store or by giving up. */
void parting_over(struct core *core, struct lock *l, bool deferred);

#endif
