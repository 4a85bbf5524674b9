/*
 * The agenda.  This file does not know what a timer, a loss or a job does; it
 * decides only which of them comes first, and how much of it.
 */
#include "config.h"

#include "core/kernel/agenda.h"
#include "core/kernel/lease/term.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"

/*
 * How much of its agenda a step does: much if it has nothing else to do, little
 * with an event, because otherwise each of the many events of a turn would pay
 * for it.  The sum leaves room below CORE_WORK_MAX for an event, and for
 * finishing the last thing that was begun.
 */
static const struct share {
	unsigned bare, event;
} budget_urgent = { 300, 50 }, budget_patient = { 100, 25 },
  budget_leaving = { 100, 25 }, budget_sweep = { 150, 25 },
  budget_event = { 150, 200 }, budget_tell = { 75, 25 };

static void
allow(struct core *core, struct share share, bool bare)
{
	work_allow(core, bare ? share.bare : share.event);
}

/* Losses. */

bool
core_has_losses(const struct core *core, int64_t now_ms)
{
	return jobs_queued(core, JOB_RETELL, JOB_WITHDRAW) ||
	       term_first_overdue(core, now_ms) != NULL;
}

/*
 * Reports losses before everything else that is due, even if that was due
 * first, and before the results of a loss: the answers to waiting requests.  If
 * this takes several steps, the driver sends no other event in between
 * (core_has_losses()); and code that looks at such a name reports its loss
 * first (lock_look()).
 */
static void
tell_losses(struct core *core)
{
	struct term *t;

	jobs_run(core, JOB_LOSE, JOB_LOSE);
	while (work_left(core) &&
	       (t = term_first_overdue(core, core->now_ms)) != NULL) {
		core_visit(core, 1);
		term_run_out(core, t);
	}
}

/* All together. */

/* Is there nothing to do before the event?  True in most steps. */
static bool
is_empty(const struct core *core)
{
	return core->jobs == 0 && turn_timer_ms(core) > core->now_ms &&
	       term_first_overdue(core, core->now_ms) == NULL;
}

void
agenda_run(struct core *core, bool bare)
{
	if (is_empty(core)) {
		allow(core, budget_event, bare);
		return;
	}
	allow(core, budget_urgent, bare);
	/* Events to repeat come before new ones, to keep their order. */
	jobs_run(core, JOB_RETELL, JOB_RETELL);
	if (job_queued(core, JOB_RETELL))
		return;
	tell_losses(core);
	jobs_run(core, JOB_WITHDRAW, JOB_WITHDRAW);
	/* More steps are needed for that.  Nothing else may come in between,
	 * and nothing that follows from a loss either. */
	if (core_has_losses(core, core->now_ms))
		return;
	turn_run_timers(core, AGENDA_URGENT);
	allow(core, budget_patient, bare);
	turn_run_timers(core, AGENDA_PATIENT);
	allow(core, budget_leaving, bare);
	jobs_run(core, JOB_STOP, JOB_REENTER);
	allow(core, budget_sweep, bare);
	/* JOB_FORCE waits for the end of the step: the event may end more. */
	jobs_run(core, JOB_SWEEP, JOB_TOUCHED_SYNCS);
	jobs_run(core, JOB_GUARD_WAITS, JOB_VOUCH);
	allow(core, budget_event, bare);
}

/* An event may bring a loss, for example when a server's clock turns out to
 * have gained.  Then names are looked at in a later step, after the loss. */
void
agenda_settle(struct core *core)
{
	if (!jobs_queued(core, JOB_TOUCHED_LOCKS, JOB_FORCE) ||
	    core_has_losses(core, core->now_ms))
		return;
	jobs_run(core, JOB_TOUCHED_LOCKS, JOB_FORCE);
}

/* All holders are told of a loss before any other client. */
void
agenda_tell(struct core *core, bool bare)
{
	allow(core, budget_tell, bare);
	if (!jobs_queued(core, JOB_WARN, JOB_WATCHERS) ||
	    core_has_losses(core, core->now_ms))
		return;
	jobs_run(core, JOB_WARN, JOB_WATCHERS);
}

/* Work that a step has left is due at once.  Otherwise the next step is due
 * with the first timer of either agenda. */
int64_t
core_deadline(const struct core *core)
{
	if (core->jobs != 0)
		return core->now_ms;
	return turn_timer_ms(core);
}
