/*
 * The run queue is one word: a bit for each job.  So queueing a job costs
 * nothing, and a step with nothing left looks at the word, and goes on.
 */
#include "config.h"

#include "core/kernel/turn/job.h"

_Static_assert(JOB_MAX <= 31, "a bit for each job");

void
job_run(struct core *core, enum job job)
{
	job_set(core, job, core->above->jobs[job](core));
}

void
jobs_run(struct core *core, enum job first, enum job last)
{
	unsigned job;

	while (jobs_queued(core, first, last)) {
		job = first + (unsigned)__builtin_ctz(core->jobs >> first);
		job_run(core, job);
		if (job == last)
			break;
		first = job + 1;
	}
}
