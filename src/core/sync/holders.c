/*
 * Tells all holders of a semaphore's permits something, in parts (work.h).
 *
 * All of them lose their permits in one moment: from then on no permit counts
 * as used, and a session that does something about its permits loses them
 * first.  Only the telling takes several steps, and nothing else happens
 * between these (core_has_losses()).  So it is as if all had been told at once.
 *
 * Warnings, "at risk" and "safe again", go out between other events.  At worst
 * a holder hears that its permits are safe and had not heard of the risk.
 */
#include "config.h"

#include "core/sync/notify.h"
#include "core/sync/semaphore_state.h"
#include "core/turn/emit.h"
#include "core/turn/job.h"
#include "core/turn/work.h"

/* So many holders are told at once, whatever else the step has done. */
#define FEW 8

/* Tells a part of the losers, but at least `few`.  Returns true if that was
 * all. */
static bool
lose_some(struct core *core, struct semaphore *m, unsigned few)
{
	while (!TAILQ_EMPTY(&m->losers)) {
		if (few == 0 && !work_left(core))
			return false;
		few -= few > 0;
		core_visit(core, 1);
		permits_lose(core, TAILQ_FIRST(&m->losers), m->why_lost);
	}
	return true;
}

void
holders_lose(struct core *core, struct semaphore *m, const char *reason)
{
	warning_stop(core, m);
	semaphore_use(core, m, -(int64_t)m->used);
	m->losses++;
	m->why_lost = reason;
	/* Behind those that an earlier loss has left to tell. */
	TAILQ_CONCAT(&m->losers, &m->holders, in_sync);
	if (lose_some(core, m, FEW) || m->losing)
		return;
	m->losing = true;
	TAILQ_INSERT_TAIL(&core->syncs->losing, &m->y, in_losing);
	job_set(core, JOB_LOSE_PERMITS, true);
}

/* The semaphore may be idle: what was left of it were the losers. */
static void
told_all(struct core *core, struct semaphore *m)
{
	m->losing = false;
	TAILQ_REMOVE(&core->syncs->losing, &m->y, in_losing);
	sync_touch(core, &m->y);
}

bool
holders_lose_on(struct core *core)
{
	struct semaphore *m;

	while (work_left(core) && !TAILQ_EMPTY(&core->syncs->losing)) {
		m = semaphore_of(TAILQ_FIRST(&core->syncs->losing));
		core_visit(core, 1);
		if (!lose_some(core, m, 1))
			break;
		told_all(core, m);
	}
	return !TAILQ_EMPTY(&core->syncs->losing);
}

/* Warnings. */

static void
warn_holder(
    struct core *core, const struct semaphore *m, const struct permits *p)
{
	int64_t left_ms = term_deadline_ms(core, &m->term) - core->now_ms;

	if (left_ms < 0)
		left_ms = 0;
	core_visit(core, 1);
	permits_tell(core, p, m->warning);
	if (m->warning == EVENT_ATRISK)
		emit_num(core, FIELD_LEFT, (uint64_t)left_ms);
	notify_permits_risk(core, p, m->warning == EVENT_SAFE, left_ms);
}

/* Tells a part of the holders, but at least `few`.  Returns true if that was
 * all. */
static bool
tell_some(struct core *core, struct semaphore *m, unsigned few)
{
	while (m->warned_next.at != NULL) {
		if (few == 0 && !work_left(core))
			return false;
		few -= few > 0;
		warn_holder(core, m, cursor_take(&m->warned_next));
	}
	return true;
}

void
warning_stop(struct core *core, struct semaphore *m)
{
	cursor_end(&m->warned_next);
	if (!m->warned)
		return;
	m->warned = false;
	TAILQ_REMOVE(&core->syncs->warning, &m->y, in_warning);
	job_set(core, JOB_WARN_PERMITS, !TAILQ_EMPTY(&core->syncs->warning));
}

void
holders_tell(struct core *core, struct semaphore *m, enum event_id event)
{
	warning_stop(core, m);
	m->warning = event;
	cursor_begin(&m->y.cursors, &m->warned_next, TAILQ_FIRST(&m->holders),
	    offsetof(struct permits, in_sync));
	if (tell_some(core, m, FEW))
		return;
	m->warned = true;
	TAILQ_INSERT_TAIL(&core->syncs->warning, &m->y, in_warning);
	job_set(core, JOB_WARN_PERMITS, true);
}

bool
holders_tell_on(struct core *core)
{
	struct semaphore *m;

	while (work_left(core) && !TAILQ_EMPTY(&core->syncs->warning)) {
		m = semaphore_of(TAILQ_FIRST(&core->syncs->warning));
		core_visit(core, 1);
		if (!tell_some(core, m, 1))
			break;
		warning_stop(core, m);
	}
	return !TAILQ_EMPTY(&core->syncs->warning);
}
