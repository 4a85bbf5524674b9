/*
 * The counters of work.h.
 */
#include "config.h"

#include "core/work.h"

/*
 * What a step does of what was left to it: with an event to take, little, or
 * the many events of a turn would each pay for it.  The rest of CORE_WORK_MAX
 * is for the last thing that is begun, and for the event.
 */
#define BUDGET_BARE (CORE_WORK_MAX / 2)
#define BUDGET_EVENT (CORE_WORK_MAX / 10)

void
work_begin(struct core *core, bool bare)
{
	struct work *work = core->work;

	work->step = 0;
	work->budget = bare ? BUDGET_BARE : BUDGET_EVENT;
	if (core->config.work > 0)
		work->budget = core->config.work;
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
