/*
 * UNLOCK-FORCE as a part of the core; and UNLOCK-FORCE of another broker, by
 * message:
 *
 *	force-by SEQ WHO NAME, and after it
 *	force SEQ SECONDS MICROSECONDS HISTORY NAME, or
 *	force-if SEQ FENCE SECONDS MICROSECONDS HISTORY NAME
 */
#include "config.h"

#include <stdio.h>

#include "core/kernel/guard/clock.h"
#include "core/kernel/lock/broker_message.h"
#include "core/kernel/lock/hooks.h"
#include "core/parts/force/force_state.h"
#include "core/parts/ids.h"

/* Says who asks for a forced release, for the log; a "force" follows.  The two
 * are compared by their number, in case one of them was lost. */
static void
on_force_by_message(struct core *core, struct lock *l, const struct message *m)
{
	(void)l;
	snprintf(core->leases->asker, sizeof(core->leases->asker), "%.*s",
	    (int)m->more[0].n, m->more[0].p);
	core->leases->asker_seq = m->seq;
}

/* A message that cannot be dated ends no hold: it may be meant for a holder
 * that is gone, and would hit the next one. */
static void
end_dated(
    struct core *core, struct lock *l, const struct message *m, unsigned i)
{
	const char *by =
	    core->leases->asker_seq == m->seq ? core->leases->asker : "";
	int64_t server_ms, asked_ms;

	if (!message_time(m, i, &server_ms))
		return;
	asked_ms = clock_latest_ms(
	    core, l->lease.term.shard, m->more[i + 2].p, server_ms);
	if (asked_ms >= 0)
		force_message(core, l, asked_ms, by);
}

static void
on_force_message(struct core *core, struct lock *l, const struct message *m)
{
	end_dated(core, l, m, 0);
}

/* It is meant for the hold with that fence, and no other. */
static void
on_force_if_message(struct core *core, struct lock *l, const struct message *m)
{
	uint64_t fence;

	if (message_number(m, 0, FENCE_MAX, &fence) && force_is_of(l, fence))
		end_dated(core, l, m, 1);
}

static const struct message_word words[] = {
	{ "force", 3, TO_TOKEN, on_force_message },
	{ "force-if", 4, TO_TOKEN, on_force_if_message },
	{ "force-by", 1, TO_TOKEN, on_force_by_message },
	{ .word = NULL },
};

/* As a part. */

static size_t
check_forces(const struct core *core)
{
	job_check(core, JOB_FORCE, !TAILQ_EMPTY(&forces_of(core)->touched));
	return 0;
}

static const struct part_timer timers[] = {
	{ TIMER_FORCE, { AGENDA_PATIENT, force_timer } },
	{ 0 },
};

static const struct part_slot slots[] = {
	{ SLOT_FORCE, { .outcome = force_outcome,
			  .told = force_told,
			  .again = force_again } },
	{ 0 },
};

static const struct part_job jobs[] = {
	{ JOB_FORCE, force_run },
	{ 0 },
};

static const struct lock_hooks hooks = {
	.changed = force_touch,
	.freed = force_leave,
	.words = words,
};

const struct core_part force_part = {
	.id = PART_FORCE,
	.lock = &hooks,
	.init = force_init,
	.fini = force_fini,
	.check = check_forces,
	.timers = timers,
	.slots = slots,
	.jobs = jobs,
};
