/*
 * Work is bounded: no step of the core takes over a millisecond, and so none
 * looks at more than CORE_WORK_MAX things (names, waiters, holds, sessions,
 * timers, kept events, ...).  Larger work goes on in the next step, for which
 * core_deadline() asks at once.
 *
 * Every loop over such things calls core_visit() for each of them.  A loop that
 * can be long runs only while work_left(), and notes where the next step shall
 * go on.  Growing an array or a table is not counted: its cost is spread over
 * the things that were made.
 *
 * core_work() (core.h) returns the counters; core_work_bound() makes the core
 * abort in the very loop that goes beyond a bound.
 */
#ifndef LOCKBROKER_CORE_KERNEL_TURN_WORK_H
#define LOCKBROKER_CORE_KERNEL_TURN_WORK_H

#include "core/kernel/turn/turn.h"

/* Things looked at. */
struct work {
	uint64_t step;	 /* by the present step */
	uint64_t most;	 /* by one step, ever */
	uint64_t budget; /* after this many, the rest waits if it can */
	uint64_t bound;	 /* for tests: abort beyond it; 0: none */
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

/* A step begins; it may look at n more things from now on; it ends. */
void work_begin(struct core *core);
void work_allow(struct core *core, uint64_t n);
void work_end(struct core *core);

#endif
