/*
 * The counters of work.h.
 *
 * A step begins with nothing allowed.  agenda.c then allows one share after the
 * other, each from what has been done by then: a part that did more than its
 * share takes nothing away from those behind it.
 */
#include "config.h"

#include "core/turn/work.h"

void
work_begin(struct core *core)
{
	core->work->step = 0;
	core->work->budget = 0;
}

void
work_allow(struct core *core, uint64_t n)
{
	struct work *work = core->work;

	work->budget = work->step + n;
	/* For tests: so small a share that everything is left to a later step
	 * at some time. */
	if (core->config.work > 0)
		work->budget = work->step + core->config.work;
}

void
work_end(struct core *core)
{
	struct work *work = core->work;

	if (work->step > work->most)
		work->most = work->step;
	core->stats.step_visits_max = work->most;
}

struct core_work
core_work(const struct core *core)
{
	return (struct core_work){ core->work->step, core->work->most };
}

void
core_work_bound(struct core *core, uint64_t most)
{
	core->work->bound = most;
}
