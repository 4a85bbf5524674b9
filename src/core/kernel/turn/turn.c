/*
 * The time, the random numbers and the timers of a step.
 *
 * There are two heaps of timers (enum agenda), and the kind of a timer says
 * which of them it belongs to: so a flood of requests whose time is up at once
 * delays no lease.
 */
#include "config.h"

#include <stdlib.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/turn/slot.h"
#include "core/kernel/turn/tally.h"
#include "core/kernel/turn/turn.h"
#include "core/kernel/turn/work.h"

#define RETRY_LOST_MS 50     /* after an unknown outcome, and by default */
#define RETRY_REFUSED_MS 500 /* after a refusal; as much again of jitter */

void
turn_init(struct core *core, const struct turn_listener *above)
{
	unsigned i;

	core->above = above;
	rng_init(&core->rng, core->config.seed[0], core->config.seed[1] | 1);
	core->work = xcalloc(1, sizeof(*core->work));
	for (i = 0; i < AGENDA_MAX; i++)
		heap_init(&core->timers[i]);
	slot_init(core);
	core->tallies = xcalloc(1, sizeof(*core->tallies));
}

/* Each module disarms what it frees.  A timer that is left here would be in
 * memory that is gone. */
void
turn_fini(struct core *core)
{
	unsigned i;

	free(core->tallies);
	slot_fini(core);
	for (i = 0; i < AGENDA_MAX; i++) {
		assert(heap_first(&core->timers[i]) == NULL);
		heap_fini(&core->timers[i]);
	}
	free(core->work);
}

void
turn_begin(struct core *core, int64_t now_ms, struct effects *fx)
{
	assert(core->fx == NULL && fx != NULL);
	/* Never back: a term that was found to be over could count as vouched
	 * for again. */
	if (now_ms > core->now_ms)
		core->now_ms = now_ms;
	if (core->began_ms == 0)
		core->began_ms = core->now_ms;
	core->fx = fx;
	core->fx_first = fx->n;
	work_begin(core);
}

void
turn_end(struct core *core)
{
	work_end(core);
	core->fx = NULL;
}

int64_t
core_jitter(struct core *core, int64_t ms)
{
	return ms <= 1 ? 0 : (int64_t)(rng_next(&core->rng) % (uint64_t)ms);
}

/* A refusal (memory is full, a right is missing) mostly lasts for a while, and
 * meets all brokers at once: hence the longer pause and the jitter. */
int64_t
core_pause_ms(struct core *core, const struct outcome *o)
{
	if (o->status == OUTCOME_PENDING)
		return 0; /* the guard knows when to go on */
	if (o->status == OUTCOME_REFUSED)
		return RETRY_REFUSED_MS + core_jitter(core, RETRY_REFUSED_MS);
	return RETRY_LOST_MS;
}

/* Timers. */

static const struct timer_row *
row_of(const struct core *core, const struct timer *t)
{
	assert(core->above->timers[t->kind].run != NULL);
	return &core->above->timers[t->kind];
}

void
core_arm(struct core *core, struct timer *t, int64_t at_ms)
{
	heap_set(&core->timers[row_of(core, t)->agenda], t, at_ms);
}

void
core_disarm(struct core *core, struct timer *t)
{
	heap_remove(&core->timers[row_of(core, t)->agenda], t);
}

int64_t
core_armed_ms(const struct core *core, const struct timer *t)
{
	return heap_at_ms(&core->timers[row_of(core, t)->agenda], t);
}

/*
 * A timer is taken out before it runs, because its run may free the struct that
 * it is in, or may arm it again.  If it is armed for the present again, the
 * bound on work ends the loop.
 */
void
turn_run_timers(struct core *core, enum agenda which)
{
	struct heap *heap = &core->timers[which];
	struct timer *t;

	while (work_left(core) && heap_first_ms(heap) <= core->now_ms) {
		t = heap_first(heap);
		core_visit(core, 1);
		heap_remove(heap, t);
		row_of(core, t)->run(core, t);
	}
}

int64_t
turn_timer_ms(const struct core *core)
{
	return min_ms(heap_first_ms(&core->timers[AGENDA_URGENT]),
	    heap_first_ms(&core->timers[AGENDA_PATIENT]));
}

/*
 * The counters of work.h.
 *
 * A step begins with nothing allowed.  agenda.c then allows one share after the
 * other, each from what has been done by then: a part that did more than its
 * share takes nothing away from the parts after it.
 */

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
	/* For tests: a share so small that everything is left to a later step
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
