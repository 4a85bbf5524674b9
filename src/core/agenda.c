/*
 * The agenda.  This file does not know what a timer, a loss or a touch means;
 * it decides only which of them comes first, and how much of it.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/agenda.h"
#include "core/guard/guard.h"
#include "core/hasten.h"
#include "core/lease/lease.h"
#include "core/leave.h"
#include "core/life.h"
#include "core/lock/force.h"
#include "core/lock/hold.h"
#include "core/lock/lock.h"
#include "core/lock/message.h"
#include "core/lock/queue.h"
#include "core/lock/reenter.h"
#include "core/lock/sharers.h"
#include "core/lock/sweep.h"
#include "core/lock/unowned.h"
#include "core/lock/watch.h"
#include "core/replay.h"
#include "core/status.h"
#include "core/stop.h"
#include "core/sync/semaphore.h"
#include "core/sync/sync.h"
#include "core/token/call.h"
#include "core/turn/work.h"
#include "core/vouched.h"

/*
 * How much of its agenda a step does: much if it has nothing else to do, little
 * with an event, or each of the many events of a turn would pay for it.  The
 * sum leaves room below CORE_WORK_MAX for an event, and for finishing the last
 * thing that was begun.
 */
static const struct share {
	unsigned bare, event;
} urgent = { 300, 50 }, patient = { 100, 25 }, leaving = { 100, 25 },
  rest = { 150, 25 }, own = { 150, 200 }, telling = { 75, 25 };

static void
allow(struct core *core, struct share share, bool bare)
{
	work_allow(core, bare ? share.bare : share.event);
}

/* Losses. */

bool
core_has_losses(const struct core *core, int64_t now_ms)
{
	return kept_tells(core) || !TAILQ_EMPTY(&core->locks->losing) ||
	       tenure_first_overdue(core, now_ms) != NULL ||
	       !TAILQ_EMPTY(&core->sessions->withdrawing) ||
	       holders_lose_more(core);
}

/*
 * Tells losses before all else that is due, even if that was due first, and
 * before what follows from a loss: the answers to waiting requests.  If this
 * takes several steps, the driver has no other event in between
 * (core_has_losses()); and code that looks at such a name tells its loss first
 * (lock_look()).
 */
static void
tell_losses(struct core *core)
{
	struct tenure *t;

	sharers_lose_on(core);
	holders_lose_on(core);
	while (work_left(core) &&
	       (t = tenure_first_overdue(core, core->now_ms)) != NULL) {
		core_visit(core, 1);
		tenure_run_out(core, t);
	}
}

static void
run_touched(struct core *core)
{
	struct lock *l;

	while (work_left(core) &&
	       core->locks->touched_first != core->locks->touched_end) {
		core_visit(core, 1);
		l = lock_next_touched(core);
		if (l != NULL)
			lock_next(core, l);
	}
}

/* All together. */

void
agenda_run(struct core *core, bool bare)
{
	allow(core, urgent, bare);
	/* Events to tell again come before new ones, so that they are
	 * in order. */
	kept_tell_on(core);
	if (kept_tells(core))
		return;
	tell_losses(core);
	leave_withdraw_on(core);
	/* More steps are needed for that.  Nothing else may come in between,
	 * and nothing that follows from a loss either. */
	if (core_has_losses(core, core->now_ms))
		return;
	turn_run_timers(core, AGENDA_URGENT);
	allow(core, patient, bare);
	turn_run_timers(core, AGENDA_PATIENT);
	allow(core, leaving, bare);
	stop_on(core);
	leave_let_go_on(core);
	hasten_on(core);
	unowned_go_on(core);
	reenter_on(core);
	status_ask_on(core);
	allow(core, rest, bare);
	sweep_run(core);
	sync_sweep_on(core);
	run_touched(core);
	sync_settle(core);
	token_run(core);
	kept_free_over(core);
	vouched_run_on(core);
	allow(core, own, bare);
}

/* An event may bring a loss with it, as when a server's clock turns out to have
 * gained.  Then names are looked at in a later step, behind the loss. */
void
agenda_settle(struct core *core)
{
	if (core_has_losses(core, core->now_ms))
		return;
	run_touched(core);
	sync_settle(core);
	force_run(core);
}

/* All holders hear of a loss before anybody else does. */
void
agenda_tell(struct core *core, bool bare)
{
	allow(core, telling, bare);
	if (core_has_losses(core, core->now_ms))
		return;
	sharers_tell_on(core);
	holders_tell_on(core);
	watch_run(core);
}

/* Each of these lists is work that a step has left: the next step is due at
 * once.  Otherwise it is due with the first timer of either agenda. */
int64_t
agenda_deadline(const struct core *core)
{
	int64_t at_ms = INT64_MAX;
	unsigned i;

	if (core->locks->touched_first != core->locks->touched_end ||
	    core->syncs->rounds > 0 || !TAILQ_EMPTY(&core->syncs->touched) ||
	    !stop_all_over(core) ||
	    !TAILQ_EMPTY(&core->sessions->withdrawing) ||
	    !TAILQ_EMPTY(&core->sessions->letting_go) ||
	    !TAILQ_EMPTY(&core->locks->sweeping) || owner_walks(core) ||
	    force_has_more(core) || status_has_more(core) ||
	    !TAILQ_EMPTY(&core->sessions->kept_over) || kept_tells(core) ||
	    sharers_has_more(core) || holders_lose_more(core) ||
	    holders_tell_more(core) || vouched_has_more(core) ||
	    token_has_more(core) || watch_has_more(core))
		return core->now_ms;
	for (i = 0; i < AGENDA_MAX; i++)
		if (turn_timer_ms(core, i) < at_ms)
			at_ms = turn_timer_ms(core, i);
	return at_ms;
}
