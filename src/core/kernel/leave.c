/*
 * Sessions that leave: sessions.withdrawing, then sessions.letting_go.
 *
 * Each list is worked off from its head, one session after the other, so that a
 * step need not look at a session for which it has no work left.  A session
 * that only lets go (the broker stops) stays; one that is over is freed at the
 * end.
 */
#include "config.h"

#include "core/kernel/leave.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/session/claim.h"
#include "core/kernel/session/holding.h"
#include "core/kernel/session/notify.h"
#include "core/kernel/session/place.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/part.h"
#include "core/kernel/turn/work.h"

/* Requests. */

/* The session no longer waits for anything; its holds may go. */
static void
withdrawn(struct core *core, struct session *s)
{
	if (!s->withdrawing)
		return;
	s->withdrawing = false;
	TAILQ_REMOVE(&core->sessions->withdrawing, s, in_withdrawing);
	job_set(core, JOB_WITHDRAW, !TAILQ_EMPTY(&core->sessions->withdrawing));
}

bool
leave_withdraw_on(struct core *core)
{
	struct session *s;

	while ((s = TAILQ_FIRST(&core->sessions->withdrawing)) != NULL) {
		if (!claims_withdraw(core, &s->owner))
			return true;
		core_visit(core, 1);
		withdrawn(core, s);
	}
	return false;
}

void
leave_withdraw(struct core *core, struct session *s)
{
	if (!s->withdrawing)
		TAILQ_INSERT_TAIL(
		    &core->sessions->withdrawing, s, in_withdrawing);
	s->withdrawing = true;
	job_run(core, JOB_WITHDRAW);
}

/* What it has. */

/* Permits go first, then holds; each in the order in which they were granted. */
static struct holding *
first_of(const struct owner *owner)
{
	struct holding *h = TAILQ_FIRST(&owner->holdings[HOLDING_PERMITS]);

	return h != NULL ? h : TAILQ_FIRST(&owner->holdings[HOLDING_NAME]);
}

static void
let_go(struct core *core, const struct session *s, struct holding *h)
{
	const struct holding_class *class = holding_class(core, h);

	core_visit(core, 1);
	if (s->outlived)
		class->outlive(core, h, s->valid_ms);
	class->let_go(core, h, s->clean);
}

/* Lets go a part of what it has.  Returns true when nothing is left. */
static bool
let_go_some(struct core *core, struct session *s)
{
	struct holding *h;

	while (work_left(core) && (h = first_of(&s->owner)) != NULL)
		let_go(core, s, h);
	if (owner_has(&s->owner) > 0)
		return false;
	/* A session that lives on keeps its watches, and is told of its
	 * losses. */
	return !s->over || (PARTS_ALL(leave, core, &s->owner) &&
			       owner_forget_lost(core, &s->owner));
}

static void
let_all_go(struct core *core, struct session *s)
{
	if (!s->letting_go)
		return;
	s->letting_go = false;
	TAILQ_REMOVE(&core->sessions->letting_go, s, in_letting_go);
	job_set(core, JOB_LET_GO, !TAILQ_EMPTY(&core->sessions->letting_go));
}

static void
session_free(struct core *core, struct session *s)
{
	withdrawn(core, s);
	let_all_go(core, s);
	notify_session(core, NOTICE_SESSION_ENDS, &s->owner);
	PARTS_CALL(closed, core, s);
	session_delete(core, s);
}

bool
leave_let_go_on(struct core *core)
{
	struct session *s;

	while (work_left(core) &&
	       (s = TAILQ_FIRST(&core->sessions->letting_go)) != NULL) {
		/* Nothing that it holds may be granted to a request of
		 * its own. */
		if (s->withdrawing || !let_go_some(core, s))
			break;
		core_visit(core, 1);
		let_all_go(core, s);
		if (s->over)
			session_free(core, s);
	}
	return !TAILQ_EMPTY(&core->sessions->letting_go);
}

void
leave_let_go(struct core *core, struct session *s, bool clean)
{
	s->clean = clean;
	if (!s->letting_go)
		TAILQ_INSERT_TAIL(
		    &core->sessions->letting_go, s, in_letting_go);
	s->letting_go = true;
	job_run(core, JOB_LET_GO);
}

/*
 * The session's names linger until the valid= has run out, and then for their
 * delay, as if it had held them so long.  If the clock of Redis jumps, nobody
 * is left to write them again: hence the pad, as after a lease.
 */
void
leave_outlive(struct core *core, struct session *s)
{
	if (s->valid_ms <= core->now_ms)
		return;
	if (owner_has(&s->owner) > 0 && s->valid_ms > core->sessions->left_ms)
		core->sessions->left_ms = s->valid_ms;
	s->outlived = true;
}

void
leave_end(struct core *core, struct session *s, bool clean)
{
	assert(!s->over);
	s->over = true;
	/* From now on no client receives its events. */
	s->conn = 0;
	core_disarm(core, &s->end);
	s->detached = false;
	place_look(core, s);
	leave_let_go(core, s, clean);
}

/* The end of a session in one piece, whatever the work, for core_free(). */
static void
drop(struct core *core, struct session *s)
{
	struct holding *h;
	bool done;

	do {
		work_begin(core);
		work_allow(core, CORE_WORK_MAX);
		done = claims_withdraw(core, &s->owner);
	} while (!done);
	while ((h = first_of(&s->owner)) != NULL)
		holding_class(core, h)->drop(core, h);
	do {
		work_begin(core);
		work_allow(core, CORE_WORK_MAX);
		done = PARTS_ALL(leave, core, &s->owner) &&
		       owner_forget_lost(core, &s->owner);
	} while (!done);
}

/* Names go after all sessions: a name may be reserved, or have a lease that is
 * on its way back. */
void
leave_drop_all(struct core *core)
{
	struct session *s, *next;
	struct lock_walk walk;
	struct lock *l;

	TAILQ_FOREACH_SAFE (s, &core->sessions->all, in_all, next) {
		drop(core, s);
		session_free(core, s);
	}
	for (l = names_first(core, &walk); l != NULL; l = names_next(&walk))
		lock_free(core, l);
}
