/*
 * The end of a broker.
 *
 *	stop --> refuse what waits --> release what no client counts on
 *	              --> a second, in which the others may give back
 *	                    --> release the rest: it lingers for its valid=
 *
 * A client that was told a `valid=` counts on it by its own clock, and perhaps
 * cannot be told otherwise: the network may be cut without the broker knowing.
 * So if such a session does not release its holds, no other client gets them
 * before the `valid=` has expired.
 */
#include "config.h"

#include <assert.h>

#include "base/xmalloc.h"
#include "core/kernel/leave.h"
#include "core/kernel/session/claim.h"
#include "core/kernel/stop.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"

#define STOP_GIVE_BACK_MS 1000

/*
 * This many sessions are told in a millisecond that the broker leaves: each
 * notice is a write, and others are served meanwhile.
 */
#define STOP_TELLS 50

/* The walks over all sessions.  When the broker leaves: it tells them.  When it
 * stops: it refuses requests; it releases what no client counts on; and after a
 * second, the rest. */
enum stop_walk { STOP_NONE, STOP_LEAVE, STOP_REFUSE, STOP_RELEASE, STOP_REST };

struct stop {
	enum stop_walk walk; /* under way */
	struct cursor next;  /* how far it has come */
	bool again;	     /* STOP_LEAVE: there is one more to turn away */
	bool paused;	     /* STOP_LEAVE: enough were told for now */
	unsigned told;	     /* since the last pause */
	struct timer
	    timer; /* armed for the second that clients have, or paused */
};

void
stop_init(struct core *core)
{
	core->stop = xcalloc(1, sizeof(*core->stop));
	core->stop->timer.kind = TIMER_STOP;
}

void
stop_fini(struct core *core)
{
	core_disarm(core, &core->stop->timer);
	free(core->stop);
}

bool
stop_all_over(const struct core *core)
{
	return core->stop->walk == STOP_NONE && !core->stop->again;
}

/* Does the client count on what the session holds, and is it there to release
 * it? */
static bool
may_give_back(const struct core *core, const struct session *s)
{
	return !s->detached && s->valid_ms > core->now_ms &&
	       owner_has(&s->owner) > 0;
}

/* Refuses the session's requests, so that no released name can go to one of
 * them.  Returns true when none is left. */
static bool
refuse_waiting(struct core *core, struct session *s)
{
	if (s->over)
		return true;
	if (!s->refused)
		emit_event(core, s->owner.id, EVENT_SHUTDOWN, "", 0);
	s->refused = true;
	return claims_refuse(core, &s->owner);
}

static void
tell_leaving(struct core *core, struct session *s)
{
	int64_t left_ms = core->leave_ms - core->now_ms;

	if (!s->leaving) {
		emit_event(core, s->owner.id, EVENT_LEAVING, "", 0);
		if (core->leave_ms < INT64_MAX)
			emit_num(core, FIELD_LEFT,
			    left_ms > 0 ? (uint64_t)left_ms : 0);
		core->stop->told++;
	}
	s->leaving = true;
}

/* Returns false if the session has more requests to refuse. */
static bool
turn_away(struct core *core, struct session *s)
{
	if (s->over)
		return true;
	tell_leaving(core, s);
	return !core->draining || owner_has(&s->owner) > 0 ||
	       claims_refuse(core, &s->owner);
}

static void
release(struct core *core, struct session *s)
{
	leave_outlive(core, s);
	if (s->detached)
		leave_end(core, s, false);
	else if (!s->over)
		leave_let_go(core, s, false);
}

/* Returns false if the session has more requests to refuse. */
static bool
visit(struct core *core, struct session *s)
{
	if (core->stop->walk == STOP_LEAVE)
		return turn_away(core, s);
	if (core->stop->walk == STOP_REFUSE)
		return refuse_waiting(core, s);
	cursor_take(&core->stop->next);
	if (core->stop->walk == STOP_REST || !may_give_back(core, s))
		release(core, s);
	else if (!timer_armed(&core->stop->timer))
		core_arm(
		    core, &core->stop->timer, core->now_ms + STOP_GIVE_BACK_MS);
	return true;
}

static void
walk(struct core *core, enum stop_walk which)
{
	core->stop->walk = which;
	core->stop->again = false;
	core->stop->paused = false;
	core->stop->told = 0;
	cursor_begin(&core->sessions->cursors, &core->stop->next,
	    TAILQ_FIRST(&core->sessions->all),
	    offsetof(struct session, in_all));
}

bool
stop_has_more(const struct core *core)
{
	return !stop_all_over(core) && !core->stop->paused;
}

static void
pause_telling(struct core *core)
{
	if (core->stop->walk != STOP_LEAVE || core->stop->told < STOP_TELLS)
		return;
	core->stop->paused = true;
	core->stop->told = 0;
	core_arm(core, &core->stop->timer, core->now_ms + 1);
}

/* Goes to the next session only if nothing is left to refuse in this one;
 * otherwise the next step visits it again. */
bool
stop_on(struct core *core)
{
	struct session *s;

	if (core->stop->walk == STOP_NONE && core->stop->again)
		walk(core, STOP_LEAVE);
	while (work_left(core) && core->stop->walk != STOP_NONE &&
	       !core->stop->paused) {
		s = core->stop->next.at;
		if (s == NULL) {
			if (core->stop->walk == STOP_REFUSE)
				walk(core, STOP_RELEASE);
			else
				core->stop->walk = STOP_NONE;
			continue;
		}
		if (!visit(core, s))
			break;
		if (core->stop->walk <= STOP_REFUSE)
			cursor_take(&core->stop->next);
		core_visit(core, 1);
		pause_telling(core);
	}
	return stop_has_more(core);
}

void
stop_leave(struct core *core)
{
	walk(core, STOP_LEAVE);
	job_run(core, JOB_STOP);
}

void
stop_stay(struct core *core)
{
	assert(core->stop->walk <= STOP_LEAVE);
	cursor_end(&core->stop->next);
	core_disarm(core, &core->stop->timer);
	core->stop->walk = STOP_NONE;
	core->stop->again = core->stop->paused = false;
	job_run(core, JOB_STOP);
}

void
stop_opened(struct core *core, struct session *s)
{
	if (core->leaving && !core->stopping)
		tell_leaving(core, s);
}

void
stop_bare(struct core *core, const struct owner *owner)
{
	if (core->draining && !core->stopping && owner->nwaiting > 0) {
		core->stop->again = true;
		job_set(core, JOB_STOP, stop_has_more(core));
	}
}

void
stop_begin(struct core *core)
{
	core_disarm(core, &core->stop->timer);
	walk(core, STOP_REFUSE);
	job_run(core, JOB_STOP);
}

void
stop_timer(struct core *core, struct timer *t)
{
	(void)t;
	if (core->stop->paused)
		core->stop->paused = false;
	else
		walk(core, STOP_REST);
	job_run(core, JOB_STOP);
}
