/*
 * Semaphores, latches and barriers as a part of the core.
 */
#include "config.h"

#include "core/parts/ids.h"
#include "core/parts/sync/semaphore.h"
#include "core/parts/sync/sync.h"

static const struct sync_class *const classes[KIND_MAX] = {
	[KIND_SEMAPHORE] = &semaphore_class,
	[KIND_LATCH] = &latch_class,
	[KIND_BARRIER] = &barrier_class,
};

static void
init(struct core *core)
{
	sync_init(core, classes);
	permits_init(core);
}

static void
fini(struct core *core)
{
	latch_count_fini(core);
	sync_fini(core);
}

/* Its objects count for all guards: few brokers have any. */
static bool
has_nothing(const struct core *core, uint32_t shard)
{
	(void)shard;
	return sync_all_over(core);
}

static uint64_t
held(const struct core *core)
{
	return syncs_of(core)->npermits;
}

static uint64_t
waiting(const struct core *core)
{
	return syncs_of(core)->nentries;
}

static const struct part_timer timers[] = {
	{ TIMER_SYNC, { AGENDA_URGENT, sync_timer } },
	{ TIMER_PERMITS, { AGENDA_URGENT, permits_timer } },
	{ TIMER_LATCH_COUNT, { AGENDA_PATIENT, latch_count_timer } },
	{ 0 },
};

static const struct part_slot slots[] = {
	{ SLOT_SYNC, { .outcome = sync_outcome } },
	{ 0 },
};

static const struct part_job jobs[] = {
	{ JOB_TOUCHED_SYNCS, sync_settle },
	{ 0 },
};

const struct core_part sync_part = {
	.id = PART_SYNC,
	.init = init,
	.fini = fini,
	.timers = timers,
	.slots = slots,
	.jobs = jobs,
	.holding = &permits_class,
	.term = &semaphore_of_term,
	.swept_first = &syncs_swept,
	.message = sync_message,
	.all_over = sync_all_over,
	.has_nothing = has_nothing,
	.held = held,
	.waiting = waiting,
	.check = sync_check,
};
