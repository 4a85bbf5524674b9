/*
 * What is to be done in a step beside its event: what is due, what was lost,
 * what was touched, and what former steps have left.
 *
 * All of it is bounded (work.h).  First comes what can't wait: losses, then
 * leases and what else is vouched for, then those who wait, then the names
 * that were touched and the walks over all names of a guard.
 */
#ifndef LOCKBROKER_CORE_AGENDA_H
#define LOCKBROKER_CORE_AGENDA_H

#include "core/state.h"

void agenda_init(struct core *core);
void agenda_fini(struct core *core);

/* Before the event. */
void agenda_run(struct core *core, bool bare);

/* Behind it: what it has touched. */
void agenda_settle(struct core *core);

/* When there is something to do; the present: something was left. */
int64_t agenda_deadline(const struct core *core);

/*
 * What shall be done for all names of a guard: those that there are now.  Walks
 * come by each at least once, a part of them a step.
 */
enum sweep {
	SWEEP_REASSERT = 1, /* the history has changed: write them again */
	SWEEP_UNBLOCK = 2,  /* those that wait for the guard go on, once */
	SWEEP_LOOK = 4	    /* messages were missed: look who has them */
};

void agenda_sweep(struct core *core, struct guard *g, enum sweep what);

#endif
