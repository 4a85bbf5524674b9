/*
 * Requests that wait until their guards let them go on, in the order in which
 * they came.  Things in a table wait by sweep_block() instead.
 */
#ifndef LOCKBROKER_CORE_KERNEL_GUARD_GUARD_WAIT_H
#define LOCKBROKER_CORE_KERNEL_GUARD_GUARD_WAIT_H

#include "core/kernel/turn/turn.h"

/* Embedded in what waits. */
struct guard_wait {
	TAILQ_ENTRY(guard_wait) link;
	bool waits; /* it is in the list */
	/* Some guard has changed, and the request no longer waits: tries it
	 * again, and makes it wait again if it still cannot go on. */
	void (*retry)(struct core *core, struct guard_wait *w);
};

void guard_waits_init(struct core *core);
void guard_waits_fini(struct core *core); /* requires that none is left */

/* Begins to wait, at the end of the list; ends that.  No-op if it waits
 * already, or does not wait. */
void guard_wait_begin(struct core *core, struct guard_wait *w);
void guard_wait_end(struct core *core, struct guard_wait *w);

/* A guard has changed: each that waits at this moment is tried once, from the
 * next step on. */
void guard_waits_retry(struct core *core);

/* A job: goes on with that. */
bool guard_waits_run(struct core *core);

/* Do the counters agree with the list?  For tests; aborts if not. */
void guard_waits_check(const struct core *core);

#endif
