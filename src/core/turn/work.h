/*
 * Work is bounded: no step of the core takes over a millisecond, and so none
 * looks at more than CORE_WORK_MAX things (names, waiters, holds, sessions,
 * timers, kept events, ...).  What is larger goes on in the next step, for
 * which core_deadline() asks at once.
 *
 * Every loop over such things says so with core_visit(), once for each.  A loop
 * that can be long goes on while work_left() says so, and leaves behind from
 * where to go on.  Growing an array or a table is not counted: it is paid once
 * for each thing that was made.
 *
 * core_work() (core.h) tells the counters; core_work_bound() has the core abort
 * in the very loop that goes beyond a bound.
 */
#ifndef LOCKBROKER_CORE_TURN_WORK_H
#define LOCKBROKER_CORE_TURN_WORK_H

#include "core/turn/turn.h"

/* Things looked at. */
struct work {
	uint64_t step;	 /* by the present step */
	uint64_t most;	 /* by one step, ever */
	uint64_t budget; /* what can wait waits when so many were */
	uint64_t bound;	 /* a test is to fail beyond it; 0: none */
};

/* `n` things have been looked at. */
static inline void
core_visit(const struct core *core, uint64_t n)
{
	struct work *work = core->work;

	work->step += n;
	assert(work->bound == 0 || work->step <= work->bound);
}

/* May the step look at more of what can wait for the next one? */
static inline bool
work_left(const struct core *core)
{
	return core->work->step < core->work->budget;
}

/* A step begins; of what comes next, it may look at so much; it ends. */
void work_begin(struct core *core);
void work_allow(struct core *core, uint64_t n);
void work_end(struct core *core);

#endif
