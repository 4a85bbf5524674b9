/*
 * The run queue: work that a step has left, and that goes on in the next one.
 *
 * A job is one kind of such work: a list that is worked off, or a walk.  It is
 * queued while anything of it is left, so a step runs what has work, and asks
 * nothing else.  Code that puts something on the list of a job, or takes the
 * last thing off it, says so with job_set(); core_check() compares the two.
 */
#ifndef LOCKBROKER_CORE_KERNEL_TURN_JOB_H
#define LOCKBROKER_CORE_KERNEL_TURN_JOB_H

#include "core/kernel/turn/turn.h"

/* In the order in which a step runs them; agenda.c has the shares. */
enum job {
	/* Nothing else happens before these are done. */
	JOB_RETELL,   /* events, to sessions that are back: replay.c */
	JOB_LOSE,     /* losses of names or permits: lease/tell.h */
	JOB_WITHDRAW, /* requests of sessions that leave: leave.h */
	/* Sessions that leave, and their requests. */
	JOB_STOP,    /* the broker leaves or stops: stop.h */
	JOB_LET_GO,  /* holds of sessions that leave: leave.h */
	JOB_HASTEN,  /* requests that wait no more: life.h */
	JOB_GONE,    /* holds whose client is gone: unowned/unowned.c */
	JOB_REENTER, /* requests that may re-enter: lock/grant.h */
	/* All that is on a guard. */
	JOB_SWEEP, /* guard/sweep.h */
	/* What was touched. */
	JOB_TOUCHED_LOCKS, /* lock/lock.h */
	JOB_TOUCHED_SYNCS, /* sync/sync.h */
	JOB_FORCE,	   /* forced releases: force/force.h */
	/* What can wait longest. */
	JOB_GUARD_WAITS,   /* requests to be tried again: guard/guard_wait.h */
	JOB_TOKEN_RECORDS, /* to be left, as the broker stops */
	JOB_FORGET,	   /* events that no client will get: replay.c */
	JOB_VOUCH,	   /* bounds of what sessions hold: session/valid.h */
	/* News that is no loss. */
	JOB_WARN,     /* of a risk, or that it is over: lease/tell.h */
	JOB_WATCHED,  /* watched names that were touched: watch/watch.h */
	JOB_WATCHERS, /* and those who watch them */
	JOB_MAX
};

/* Queues the job, or takes it off the queue: is anything left of it? */
static inline void
job_set(struct core *core, enum job job, bool more)
{
	core->jobs = (core->jobs & ~(1U << job)) | (uint32_t)more << job;
}

static inline bool
job_queued(const struct core *core, enum job job)
{
	return (core->jobs >> job & 1) != 0;
}

/* Is any job queued from the first to the last of these? */
static inline bool
jobs_queued(const struct core *core, enum job first, enum job last)
{
	return (core->jobs & ((2U << last) - (1U << first))) != 0;
}

/* Is the job queued just if something is left of it?  For tests; aborts if not.
 */
static inline void
job_check(const struct core *core, enum job job, bool more)
{
	assert(job_queued(core, job) == more);
}

/* Runs the job at once, as far as the step has work for it. */
void job_run(struct core *core, enum job job);

/* Runs what is queued, from the first to the last of these, each once.  A job
 * that an earlier one queues is run, too. */
void jobs_run(struct core *core, enum job first, enum job last);

#endif
