/*
 * The agenda.  Nothing here knows what a timer, a loss or a touch means; it
 * knows which comes first, and for how long.
 */
#include "config.h"

#include <string.h>

#include "base/xmalloc.h"
#include "core/agenda.h"
#include "core/force.h"
#include "core/guard.h"
#include "core/hold.h"
#include "core/kept.h"
#include "core/lease.h"
#include "core/leave.h"
#include "core/lock.h"
#include "core/message.h"
#include "core/queue.h"
#include "core/quorum.h"
#include "core/semaphore.h"
#include "core/session.h"
#include "core/status.h"
#include "core/stop.h"
#include "core/sync.h"
#include "core/unowned.h"
#include "core/watch.h"
#include "core/work.h"

/*
 * How much of what was left is done in a step: much, where there is nothing
 * else to do; with an event little, or the many events of a turn would each
 * pay for it.  Together they leave room for an event, and for the last thing
 * that is begun: CORE_WORK_MAX.
 */
static const struct share {
	unsigned bare, event;
} urgent = { 300, 50 }, patient = { 100, 25 }, leaving = { 100, 25 },
  rest = { 150, 25 }, own = { 150, 200 };

#define BUCKETS_A_VISIT 16 /* of a table; most are empty or near */

static void
allow(struct core *core, struct share share, bool bare)
{
	work_allow(core, bare ? share.bare : share.event);
}

void
agenda_init(struct core *core)
{
	unsigned i;

	for (i = 0; i < AGENDA_MAX; i++)
		heap_init(&core->timers[i]);
	TAILQ_INIT(&core->held);
	TAILQ_INIT(&core->held_briefly);
	TAILQ_INIT(&core->sweeping);
	TAILQ_INIT(&core->kept_over);
	TAILQ_INIT(&core->withdrawing);
	TAILQ_INIT(&core->letting_go);
}

void
agenda_fini(struct core *core)
{
	unsigned i;

	while (!TAILQ_EMPTY(&core->kept_over)) {
		work_begin(core);
		work_allow(core, CORE_WORK_MAX);
		kept_free_over(core);
	}
	for (i = 0; i < AGENDA_MAX; i++)
		heap_fini(&core->timers[i]);
	free(core->touched);
}

/* Timers. */

/* Semaphores come first, since their timers may tell of a loss. */
static const enum agenda agendas[TIMER_MAX] = {
	[TIMER_SYNC] = AGENDA_SYNC,
	[TIMER_LEASE] = AGENDA_URGENT,
	[TIMER_HOLD] = AGENDA_URGENT,
	[TIMER_PERMITS] = AGENDA_URGENT,
	[TIMER_GUARD] = AGENDA_URGENT,
	[TIMER_VOTE] = AGENDA_URGENT,
	[TIMER_WAITER] = AGENDA_PATIENT,
	[TIMER_CLAIM] = AGENDA_PATIENT,
	[TIMER_SESSION] = AGENDA_PATIENT,
	[TIMER_WATCH] = AGENDA_PATIENT,
	[TIMER_FORCE] = AGENDA_PATIENT,
	[TIMER_ASK] = AGENDA_PATIENT,
	[TIMER_STOP] = AGENDA_PATIENT,
	[TIMER_MADE] = AGENDA_PATIENT,
};

void
core_arm(struct core *core, struct timer *t, int64_t at_ms)
{
	heap_set(&core->timers[agendas[t->kind]], t, at_ms);
}

void
core_disarm(struct core *core, struct timer *t)
{
	heap_remove(&core->timers[agendas[t->kind]], t);
}

int64_t
core_armed_ms(const struct core *core, const struct timer *t)
{
	return heap_at_ms(&core->timers[agendas[t->kind]], t);
}

static void
timer_run(struct core *core, struct timer *t)
{
	switch ((enum timer_kind)t->kind) {
	case TIMER_LEASE:
		lease_timer(core, container_of(t, struct lock, timer));
		return;
	case TIMER_WAITER:
		waiter_timer(core, container_of(t, struct waiter, deadline));
		return;
	case TIMER_HOLD:
		hold_timer(core, container_of(t, struct terms, bound)->hold);
		return;
	case TIMER_SESSION:
		session_timer(core, container_of(t, struct session, end));
		return;
	case TIMER_GUARD:
		guard_timer(core, container_of(t, struct guard, timer));
		return;
	case TIMER_ASK:
		status_timer(core, container_of(t, struct ask, deadline));
		return;
	case TIMER_SYNC:
		sync_timer(core, container_of(t, struct sync, timer));
		return;
	case TIMER_CLAIM:
		claim_timer(core, container_of(t, struct claim, deadline));
		return;
	case TIMER_PERMITS:
		permits_timer(core, container_of(t, struct permits, bound));
		return;
	case TIMER_WATCH:
		watch_timer(core, watch_of_timer(t));
		return;
	case TIMER_FORCE:
		force_timer(core, force_of_timer(t));
		return;
	case TIMER_VOTE:
		quorum_timer(core, t);
		return;
	case TIMER_STOP:
		stop_timer(core);
		return;
	case TIMER_MADE:
		unowned_latch_timer(core, t);
		return;
	case TIMER_MAX:
		break;
	}
	abort();
}

static void
run_timers(struct core *core, enum agenda which)
{
	struct heap *heap = &core->timers[which];
	struct timer *t;

	while (work_left(core) && (t = heap_first(heap)) != NULL &&
	       heap_at_ms(heap, t) <= core->now_ms) {
		core_visit(core, 1);
		heap_remove(heap, t);
		timer_run(core, t);
	}
}

/* Losses. */

/* The lease that was confirmed longest ago, if it has run out. */
static struct lock *
first_overdue(const struct core *core, int64_t now_ms)
{
	struct lock *l = TAILQ_FIRST(&core->held);

	if (l != NULL && lease_deadline_ms(core, l) <= now_ms)
		return l;
	l = TAILQ_FIRST(&core->held_briefly);
	return l != NULL && lease_deadline_ms(core, l) <= now_ms ? l : NULL;
}

bool
core_has_losses(const struct core *core, int64_t now_ms)
{
	const struct heap *heap = &core->timers[AGENDA_SYNC];
	const struct timer *t = heap_first(heap);

	return first_overdue(core, now_ms) != NULL ||
	       !TAILQ_EMPTY(&core->withdrawing) ||
	       (t != NULL && heap_at_ms(heap, t) <= now_ms);
}

/*
 * What was lost is told before anything else that is due, whatever was due
 * first, and before what comes of it: the answers to those who wait.  Where it
 * takes several steps, the driver has no others in between (core_has_losses());
 * and whoever comes by such a name tells its loss first (lock_look()).
 */
static void
tell_losses(struct core *core)
{
	struct lock *l;

	while (work_left(core) &&
	       (l = first_overdue(core, core->now_ms)) != NULL) {
		core_visit(core, 1);
		lease_run_out(core, l);
	}
}

/* Names that were touched: a ring, in the order of touching. */

static struct lock **
touched_at(const struct core *core, uint32_t i)
{
	return &core->touched[i & (core->touched_size - 1)];
}

static void
grow_touched(struct core *core)
{
	uint32_t i, size = core->touched_size > 0 ? 2 * core->touched_size : 16;
	struct lock **v = xmalloc(size * sizeof(struct lock *));

	for (i = core->touched_first; i != core->touched_end; i++)
		v[i & (size - 1)] = *touched_at(core, i);
	free(core->touched);
	core->touched = v;
	core->touched_size = size;
}

void
core_touch(struct core *core, struct lock *l)
{
	if (l->touched)
		return;
	if (core->touched_end - core->touched_first == core->touched_size)
		grow_touched(core);
	l->touched = true;
	l->touched_at = core->touched_end;
	*touched_at(core, core->touched_end++) = l;
}

void
core_untouch(struct core *core, struct lock *l)
{
	if (!l->touched)
		return;
	l->touched = false;
	assert(*touched_at(core, l->touched_at) == l);
	*touched_at(core, l->touched_at) = NULL;
}

static void
run_touched(struct core *core)
{
	struct lock *l;

	while (work_left(core) && core->touched_first != core->touched_end) {
		core_visit(core, 1);
		l = *touched_at(core, core->touched_first++);
		if (l == NULL)
			continue;
		l->touched = false;
		lease_next(core, l);
	}
}

/* Walks over all names of a guard. */

static void
sweep_one(struct core *core, struct lock *l, unsigned what)
{
	bool next = false;

	core_visit(core, 1);
	if ((what & SWEEP_REASSERT) != 0)
		lease_reassert(core, l);
	if ((what & SWEEP_LOOK) != 0)
		next = message_missed(core, l);
	if ((what & SWEEP_UNBLOCK) != 0 && l->blocked) {
		guard_unblock(core, l);
		next = true;
	}
	if (next)
		lease_next(core, l);
}

/* True: it has come by all. */
static bool
sweep(struct core *core, struct guard *g)
{
	uint32_t head = g->sweep.head;
	struct table_link *link = table_go_on(&g->sweep);

	for (; link != NULL; link = table_next(&g->sweep)) {
		core_visit(core, (g->sweep.head - head) / BUCKETS_A_VISIT);
		head = g->sweep.head;
		sweep_one(core, lock_of(link), g->sweeping);
		if (!work_left(core) && table_rests(&g->sweep))
			return false;
	}
	return true;
}

static void
run_sweeps(struct core *core)
{
	struct guard *g;

	while (work_left(core) && (g = TAILQ_FIRST(&core->sweeping)) != NULL) {
		core_visit(core, 1);
		if (!sweep(core, g))
			return;
		g->sweeping = 0;
		TAILQ_REMOVE(&core->sweeping, g, in_sweeping);
	}
}

void
agenda_sweep(struct core *core, struct guard *g, enum sweep what)
{
	if (g->sweeping == 0)
		TAILQ_INSERT_TAIL(&core->sweeping, g, in_sweeping);
	g->sweeping |= what;
	table_rewind(&g->locks, &g->sweep);
	run_sweeps(core);
}

/* All together. */

void
agenda_run(struct core *core, bool bare)
{
	allow(core, urgent, bare);
	tell_losses(core);
	run_timers(core, AGENDA_SYNC);
	leave_withdraw_on(core);
	if (core_has_losses(core, core->now_ms))
		return;
	run_timers(core, AGENDA_URGENT);
	allow(core, patient, bare);
	run_timers(core, AGENDA_PATIENT);
	allow(core, leaving, bare);
	stop_on(core);
	leave_let_go_on(core);
	allow(core, rest, bare);
	run_sweeps(core);
	run_touched(core);
	sync_settle(core);
	kept_free_over(core);
	allow(core, own, bare);
}

void
agenda_settle(struct core *core)
{
	if (core_has_losses(core, core->now_ms))
		return;
	run_touched(core);
	sync_settle(core);
}

int64_t
agenda_deadline(const struct core *core)
{
	int64_t at_ms = INT64_MAX;
	const struct timer *t;
	unsigned i;

	if (core->touched_first != core->touched_end ||
	    !TAILQ_EMPTY(&core->sync_touched) || core->stop_walk != STOP_NONE ||
	    !TAILQ_EMPTY(&core->withdrawing) ||
	    !TAILQ_EMPTY(&core->letting_go) || !TAILQ_EMPTY(&core->sweeping) ||
	    !TAILQ_EMPTY(&core->kept_over))
		return core->now_ms;
	for (i = 0; i < AGENDA_MAX; i++) {
		t = heap_first(&core->timers[i]);
		if (t != NULL && heap_at_ms(&core->timers[i], t) < at_ms)
			at_ms = heap_at_ms(&core->timers[i], t);
	}
	return at_ms;
}
