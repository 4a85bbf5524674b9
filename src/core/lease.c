/*
 * Leases: the state machine between a name here and its key in the store.
 *
 *	none --> acquiring --> held <--> at-risk
 *	  ^        |   |        | ^         |
 *	  |        v   |        v |         v
 *	  |     queued-+-> confirming ... ending --> lingering
 *	  +----------------------------------+-----------+
 *
 * lease_next() looks at the state, at who holds and waits, and does the one
 * thing that comes next.  At most one operation is in flight for a name: while
 * there is one, lease_next() does nothing, and its outcome comes back here.
 *
 * An outcome that is unknown changes no state: the same operation with the
 * same token is sent again when the store answers, or the lease is ended,
 * which is right in either case.
 */
#include "config.h"

#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/group.h"
#include "core/guard/gain.h"
#include "core/guard/guard.h"
#include "core/guard/quorum.h"
#include "core/hold.h"
#include "core/lease.h"
#include "core/lease_parts.h"
#include "core/lock.h"
#include "core/pace.h"
#include "core/parting.h"
#include "core/queue.h"
#include "core/turn/work.h"
#include "core/unowned.h"
#include "core/votes.h"
#include "core/wait.h"
#include "core/watch.h"

#define FENCES_LOW 8	   /* where many wait, more are drawn by then */
#define IDLE_YIELD_MS 50   /* a lease kept for a group stays so long */
#define OUT_OF_ORDER_MAX 8 /* how far an answer is put in order */
#define WANTED_MAX 100 /* how far in a queue one is looked for who wants it */
#define WALLED_MS 250  /* between tries for who may not have it yet */

#define TO(state) (1u << LEASE_##state)

static const unsigned legal[LEASE_MAX] = {
	[LEASE_NONE] = TO(ACQUIRING) | TO(ENDING),
	[LEASE_ACQUIRING] = TO(HELD) | TO(QUEUED) | TO(NONE) | TO(ENDING),
	[LEASE_QUEUED] = TO(HELD) | TO(CONFIRMING) | TO(NONE) | TO(ENDING),
	[LEASE_CONFIRMING] = TO(HELD) | TO(NONE) | TO(ENDING) | TO(LINGERING),
	[LEASE_HELD] = TO(ATRISK) | TO(ENDING) | TO(NONE),
	[LEASE_ATRISK] = TO(HELD) | TO(ENDING) | TO(NONE),
	[LEASE_ENDING] = TO(NONE) | TO(QUEUED) | TO(LINGERING),
	[LEASE_LINGERING] = TO(CONFIRMING) | TO(ENDING) | TO(NONE),
};

void
leases_init(struct core *core)
{
	core->leases = xcalloc(1, sizeof(*core->leases));
	TAILQ_INIT(&core->leases->held);
	TAILQ_INIT(&core->leases->held_briefly);
	TAILQ_INIT(&core->leases->votes);
}

void
leases_fini(struct core *core)
{
	assert(TAILQ_EMPTY(&core->leases->held));
	assert(TAILQ_EMPTY(&core->leases->held_briefly));
	votes_fini(core);
	free(core->leases);
}

void
lease_disown(struct core *core, struct lock *l)
{
	if (l->vouched)
		TAILQ_REMOVE(&core->leases->held, l, in_held);
	else if (l->vouched_briefly)
		TAILQ_REMOVE(&core->leases->held_briefly, l, in_held);
	l->vouched = l->vouched_briefly = false;
}

/*
 * Leases are confirmed in the order in which they were sent, or nearly; so this
 * line is in the order in which they run out, or nearly.  One that is out of
 * order by more is found by its timer.
 */
void
lease_vouch(struct core *core, struct lock *l)
{
	struct held_list *line =
	    l->brief ? &core->leases->held_briefly : &core->leases->held;
	struct lock *last;
	unsigned i;

	lease_disown(core, l);
	last = TAILQ_LAST(line, held_list);
	for (i = 0; i < OUT_OF_ORDER_MAX && last != NULL &&
		    last->confirmed_ms > l->confirmed_ms;
	     i++)
		last = TAILQ_PREV(last, held_list, in_held);
	if (last != NULL)
		TAILQ_INSERT_AFTER(line, last, l, in_held);
	else
		TAILQ_INSERT_HEAD(line, l, in_held);
	l->vouched = !l->brief;
	l->vouched_briefly = l->brief;
}

void
lease_set_state(struct core *core, struct lock *l, enum lease_state state)
{
	if (l->state == state)
		return;
	assert(legal[l->state] & (1u << state));
	core->leases->nlingering +=
	    (state == LEASE_LINGERING) - (l->state == LEASE_LINGERING);
	l->state = state;
	if (!lease_is_held(l))
		lease_disown(core, l);
	if (state != LEASE_ATRISK)
		l->wake_ms = 0;
	l->walled = false;
}

bool
lease_is_held(const struct lock *l)
{
	return l->state == LEASE_HELD || l->state == LEASE_ATRISK;
}

/* How long what keeps the lease is good for. */
static int64_t
term_ms(const struct core *core, const struct lock *l)
{
	return l->brief ? core->pad_ms : core->config.lease_ms;
}

int64_t
lease_deadline_ms(const struct core *core, const struct lock *l)
{
	return l->confirmed_ms + times_vouch_ms(term_ms(core, l)) -
	       gain_since(core, l->shard, l->confirmed_ms);
}

int64_t
lease_risk_ms(const struct core *core, const struct lock *l)
{
	return l->confirmed_ms + term_ms(core, l) / 2;
}

bool
lease_overdue(const struct core *core, const struct lock *l)
{
	return lease_is_held(l) && core->now_ms >= lease_deadline_ms(core, l);
}

bool
lease_vouched(const struct core *core, const struct lock *l)
{
	return lease_is_held(l) && core->now_ms < lease_deadline_ms(core, l);
}

/* Timing. */

void
lease_plan_renewal(struct core *core, struct lock *l, bool first)
{
	l->wake_ms = pace_plan(core, l, l->confirmed_ms, first);
	if (l->spell == guard_spell(core, l->shard))
		return;
	l->wake_ms = core->now_ms;
	lock_unproved(core, l->shard);
}

static void
arm(struct core *core, struct lock *l, int64_t at_ms)
{
	core_arm(core, &l->timer, max_ms(at_ms, core->now_ms));
}

/* The next moment at which a lease that is held wants attention. */
static void
arm_held(struct core *core, struct lock *l)
{
	int64_t at_ms = lease_deadline_ms(core, l);

	if (l->state == LEASE_HELD)
		at_ms = min_ms(at_ms, lease_risk_ms(core, l));
	/* What is due waits for the guard then, which does not arm it. */
	if (l->asked == NULL &&
	    (l->wake_ms > core->now_ms || guard_up(core, l->shard)))
		at_ms = min_ms(at_ms, l->wake_ms);
	if (more_of(l)->remote_ms != 0 && more_of(l)->idle_ms != 0 &&
	    more_of(l)->idle_ms + IDLE_YIELD_MS > core->now_ms)
		at_ms = min_ms(at_ms, more_of(l)->idle_ms + IDLE_YIELD_MS);
	if (more_of(l)->linger_ms > core->now_ms)
		at_ms = min_ms(at_ms, more_of(l)->linger_ms);
	arm(core, l, at_ms);
}

/* Waits for the guard or the end of a pause; true: nothing to wait for. */
static bool
may_ask(struct core *core, struct lock *l, bool ready)
{
	if (!ready) {
		lock_block(core, l);
		return false;
	}
	if (l->wake_ms > core->now_ms) {
		arm(core, l, l->wake_ms);
		return false;
	}
	return true;
}

/* Decisions, one function a state.  They return whether to look again. */

/*
 * Does anybody want the lease now?  Members of groups that are not in turn for
 * it are tried for once.  Who may not pass a group is `walled`.
 */
static bool
wanted(const struct core *core, const struct lock *l, bool *walled)
{
	const struct waiter *w, *wall = NULL;
	unsigned looked = 0;

	*walled = false;
	TAILQ_FOREACH (w, &l->queue, in_lock) {
		if (looked++ == WANTED_MAX)
			break;
		core_visit(core, 1);
		if (w->group != NULL && (!w->tried || group_in_turn(core, w)))
			return true;
		if (w->group == NULL && !w->impatient && group_walled(wall, w))
			*walled = true;
		else if (w->group == NULL)
			return true;
		wall = group_wall(core, wall, w);
	}
	return false;
}

/*
 * Those who are walled would not be granted it.  Two brokers that took it for
 * them would hand it to and fro, so it is asked for now and then.
 */
static bool
wanted_in_time(struct core *core, struct lock *l)
{
	bool walled, now = wanted(core, l, &walled);

	if (now && l->walled)
		l->wake_ms = 0;
	if (!now && walled && !l->walled)
		l->wake_ms = max_ms(l->wake_ms, core->now_ms + WALLED_MS);
	l->walled = !now && walled;
	return now || walled;
}

static bool
next_none(struct core *core, struct lock *l)
{
	if (!wanted_in_time(core, l) ||
	    !may_ask(core, l, guard_ready(core, l->shard)))
		return false;
	lock_set_why(l, NULL);
	wait_over(l);
	l->seq = ++core->last_seq;
	l->hint = l->given = l->foreign = l->early_waits = false;
	l->key_end_ms = 0;
	lease_set_state(core, l, LEASE_ACQUIRING);
	lease_ask_acquire(core, l);
	return false;
}

static bool
next_acquiring(struct core *core, struct lock *l)
{
	const struct waiter *w = lock_in_line(core, l);

	/* One token is asked for in one mode: it may be ours in that already. */
	if (w == NULL || w->shared != l->asked_shared) {
		lease_set_state(core, l, LEASE_ENDING);
		return true;
	}
	if (may_ask(core, l, guard_ready(core, l->shard)))
		lease_ask_acquire(core, l);
	return false;
}

static bool
next_queued(struct core *core, struct lock *l)
{
	if (TAILQ_EMPTY(&l->queue)) {
		lease_set_state(core, l, LEASE_ENDING);
		return true;
	}
	if (l->hint && guard_ready(core, l->shard)) {
		if (!lease_take_given(core, l))
			lease_set_state(core, l, LEASE_CONFIRMING);
		return true;
	}
	if (may_ask(core, l, guard_ready(core, l->shard)))
		lease_ask_acquire(core, l);
	return false;
}

static bool
next_confirming(struct core *core, struct lock *l)
{
	if (TAILQ_EMPTY(&l->queue)) {
		lease_set_state(core, l, LEASE_ENDING);
		return true;
	}
	/* A tombstone is written again first, if that must be. */
	if (lease_unasserted(core, l)) {
		lease_set_state(core, l, LEASE_LINGERING);
		return true;
	}
	if (may_ask(core, l, guard_ready(core, l->shard)))
		lease_ask_confirm(core, l);
	return false;
}

/* Has another broker waited long enough (protocol, section 5, "Queue")? */
static bool
turn_over(const struct core *core, const struct lock *l)
{
	return more_of(l)->remote_ms != 0 &&
	       (more_of(l)->row >= core->config.locks.handovers ||
		   core->now_ms - more_of(l)->remote_ms >=
		       core->config.lease_ms);
}

bool
lease_lingers(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return more_of(l)->linger_ms > core->now_ms &&
	       (w == NULL || w->session->id != more_of(l)->linger_session);
}

/*
 * Is it kept for w, a member of a firm group, though another broker waits?  Not
 * for a group that came after that broker: one after the other, they could keep
 * it waiting for ever.
 */
static bool
kept_for(const struct core *core, const struct lock *l, const struct waiter *w)
{
	return w->group != NULL && group_firm(core, w->group) &&
	       (more_of(l)->remote_ms == 0 ||
		   w->since_ms <= more_of(l)->remote_ms);
}

bool
lease_free_for(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return lease_vouched(core, l) &&
	       (!turn_over(core, l) || kept_for(core, l, w)) &&
	       !lease_lingers(core, l, w);
}

bool
lease_covers(const struct core *core, const struct lock *l, int64_t keep_ms,
    int64_t delay_ms)
{
	const struct more *m = more_of(l);
	int64_t ttl_ms =
	    l->brief ? 2 * core->pad_ms : core->config.lease_ms + core->pad_ms;
	int64_t sure_end_ms = l->confirmed_ms + ttl_ms + m->longer_ms;

	return delay_ms <= m->delay_ms &&
	       (keep_ms == 0 || sure_end_ms >= core->now_ms + keep_ms);
}

/* Does the key live long enough for what the next grant promises? */
static bool
covers(const struct core *core, const struct lock *l, const struct waiter *w)
{
	return lease_covers(core, l, w->keep_ms, w->delay_ms);
}

bool
lease_paused(const struct core *core, const struct lock *l)
{
	return l->paused && l->wake_ms > core->now_ms;
}

/* Can an operation be sent now?  Else it waits for the guard or a pause. */
static bool
can_send(struct core *core, struct lock *l)
{
	if (l->asked != NULL)
		return false;
	if (!guard_up(core, l->shard)) {
		lock_block(core, l);
		return false;
	}
	return !lease_paused(core, l);
}

/* The session has it, in a way that will do: only its hold grows. */
static bool
reenters(const struct lock *l, const struct waiter *w)
{
	return hold_find(l, w->session) != NULL &&
	       (w->shared || !l->shared_hold);
}

/* It comes to those who share it. */
static bool
joins(const struct lock *l, const struct waiter *w)
{
	return !LIST_EMPTY(&l->holders) && l->shared_hold && w->shared;
}

/* May it be had at all, whatever it lacks yet?  `again`: it is re-entered. */
static bool
can_suit(const struct core *core, const struct lock *l, const struct waiter *w,
    bool again)
{
	return lease_vouched(core, l) && !l->converting &&
	       (again || !joins(l, w) || !turn_over(core, l));
}

bool
lease_keeps_alone(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return w->shared && !l->shared &&
	       more_of(l)->linger_ms > core->now_ms &&
	       w->session->id == more_of(l)->linger_session;
}

static bool
mode_suits(const struct core *core, const struct lock *l,
    const struct waiter *w, bool again)
{
	return again || joins(l, w) ||
	       (!l->doubt &&
		   (l->shared == w->shared || lease_keeps_alone(core, l, w)));
}

/* Is there nothing to ask the store for? */
static bool
suits(const struct core *core, const struct lock *l, const struct waiter *w,
    bool again)
{
	return can_suit(core, l, w, again) && mode_suits(core, l, w, again) &&
	       (again || joins(l, w) || l->fences > 0) && covers(core, l, w);
}

bool
lease_suits(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return suits(core, l, w, reenters(l, w));
}

bool
lease_fits(struct core *core, struct lock *l, const struct waiter *w)
{
	bool again = reenters(l, w);

	if (suits(core, l, w, again))
		return true;
	if (!can_suit(core, l, w, again) || !can_send(core, l))
		return false;
	if (mode_suits(core, l, w, again))
		lease_ask_renew(core, l, true);
	else if (guard_ready(core, l->shard))
		lease_ask_convert(core, l, w->shared);
	else
		lock_block(core, l);
	return false;
}

static void
renew(struct core *core, struct lock *l, bool draw)
{
	if (!can_send(core, l))
		return;
	if (pace_room(core, l))
		lease_ask_renew(core, l, draw);
}

/* Nobody passes the groups for which it is kept; they are in turn for it. */
static bool
kept_for_group(const struct core *core, const struct lock *l, bool firm)
{
	const struct waiter *w;
	unsigned looked = 0;

	TAILQ_FOREACH (w, &l->queue, in_lock) {
		if (looked++ == GROUPS_FIRST)
			break;
		core_visit(core, 1);
		if (w->group != NULL && group_in_turn(core, w) &&
		    (!firm || kept_for(core, l, w)))
			return true;
	}
	return false;
}

/*
 * The lease is here, nobody has the name, and only groups wait for it that
 * can't be granted yet.  It stays until another broker asks, and a moment
 * longer for a group that is in turn.
 */
static bool
next_idle(struct core *core, struct lock *l)
{
	if (more_of(l)->idle_ms == 0)
		need_more(l)->idle_ms = core->now_ms;
	group_idle(core, l);
	if (more_of(l)->remote_ms != 0 && !kept_for_group(core, l, true) &&
	    (core->now_ms - more_of(l)->idle_ms >= IDLE_YIELD_MS ||
		!kept_for_group(core, l, false))) {
		lease_set_state(core, l, LEASE_ENDING);
		return true;
	}
	if (l->wake_ms <= core->now_ms)
		renew(core, l, false);
	return false;
}

/* The lease is here and nobody has the name: pass it on, or let it go. */
static bool
next_free(struct core *core, struct lock *l)
{
	if (TAILQ_EMPTY(&l->queue) || !lease_vouched(core, l) ||
	    lease_lingers(core, l, TAILQ_FIRST(&l->queue)) ||
	    (turn_over(core, l) && !kept_for_group(core, l, true))) {
		lease_set_state(core, l, LEASE_ENDING);
		return true;
	}
	if (lock_grant_next(core, l))
		return true;
	return l->asked == NULL && next_idle(core, l);
}

/*
 * Will there be no fence for the next handover, or soon none?  What is drawn
 * in time is here when it is needed.  A short lease whose turn is over ends
 * soon, and that would have to wait for what is drawn.
 */
static bool
runs_short(const struct core *core, const struct lock *l)
{
	bool many = l->nwaiting >= 2 * FENCES_LOW && !quorum_used(core);

	if (l->shared || l->nwaiting == 0)
		return false;
	if (turn_over(core, l))
		return l->fences == 0 && !l->brief;
	return l->fences == 0 || (many && l->fences <= FENCES_LOW);
}

/* One has been granted it: may more be in this step?  Else in the next. */
static bool
grants_on(struct core *core, struct lock *l)
{
	if (work_left(core))
		return true;
	lock_touch(core, l);
	return false;
}

static bool
next_held(struct core *core, struct lock *l)
{
	uint32_t left = l->fences;

	if (LIST_EMPTY(&l->holders))
		return next_free(core, l);
	if (l->nwaiting > 0 && lock_grant_next(core, l))
		return grants_on(core, l);
	if (l->nwaiting > 0 && TAILQ_FIRST(&l->queue)->group != NULL)
		group_idle(core, l);
	if (l->asked != NULL)
		return false;
	if (l->wake_ms <= core->now_ms)
		renew(core, l, left * 4 < l->nwaiting);
	else if (runs_short(core, l))
		renew(core, l, true);
	return false;
}

static bool
next_ending(struct core *core, struct lock *l)
{
	if (l->key_end_ms <= core->now_ms) {
		parting_over(core, l, true);
		if (!lease_queued_again(core, l))
			lease_set_state(core, l, LEASE_NONE);
		return true;
	}
	arm(core, l, l->key_end_ms);
	if (may_ask(core, l, guard_up(core, l->shard)))
		lease_ask_end(core, l);
	else
		parting_over(core, l, true);
	return false;
}

/* Does the session for which it lingers take it up? */
static bool
taken_up(const struct core *core, const struct lock *l)
{
	const struct waiter *w = TAILQ_FIRST(&l->queue);

	return w != NULL && w->session->id == more_of(l)->linger_session &&
	       (w->group == NULL || group_takes_up(core, w));
}

static bool
next_lingering(struct core *core, struct lock *l)
{
	const struct waiter *w = TAILQ_FIRST(&l->queue);
	bool up = taken_up(core, l);

	if (more_of(l)->linger_ms <= core->now_ms) {
		lock_linger_over(l);
		if (w == NULL && more_of(l)->remote_ms == 0 && !l->early_waits)
			lease_set_state(core, l, LEASE_NONE);
		else
			lease_set_state(core, l, LEASE_ENDING);
		return true;
	}
	if (up && more_of(l)->again_ms <= core->now_ms &&
	    guard_ready(core, l->shard) && !lease_unasserted(core, l)) {
		lease_set_state(core, l, LEASE_CONFIRMING);
		return true;
	}
	arm(core, l,
	    more_of(l)->again_ms > core->now_ms
		? min_ms(more_of(l)->again_ms, more_of(l)->linger_ms)
		: more_of(l)->linger_ms);
	if (lease_unasserted(core, l)) {
		if (may_ask(core, l, guard_up(core, l->shard)))
			lease_ask_renew(core, l, false);
	} else if (up)
		lock_block(core, l);
	return false;
}

static bool (*const nexts[LEASE_MAX])(struct core *core, struct lock *l) = {
	[LEASE_NONE] = next_none,
	[LEASE_ACQUIRING] = next_acquiring,
	[LEASE_QUEUED] = next_queued,
	[LEASE_CONFIRMING] = next_confirming,
	[LEASE_HELD] = next_held,
	[LEASE_ATRISK] = next_held,
	[LEASE_ENDING] = next_ending,
	[LEASE_LINGERING] = next_lingering,
};

static bool
is_idle(const struct lock *l)
{
	return l->state == LEASE_NONE && l->asked == NULL && l->nuntold == 0 &&
	       TAILQ_EMPTY(&l->queue) && LIST_EMPTY(&l->holders);
}

/*
 * While an operation is under way the name passes on here all the same, if
 * nothing has to be asked for that: a renewal changes nothing of what is
 * vouched for, and what it draws is above what is left of the reserve.
 */
static void
pass_on_meanwhile(struct core *core, struct lock *l)
{
	const struct waiter *w = TAILQ_FIRST(&l->queue);

	if (!lease_is_held(l) || !LIST_EMPTY(&l->holders) || w == NULL ||
	    w->group != NULL || !lease_free_for(core, l, w))
		return;
	(void)lock_grant_next(core, l);
}

bool
lease_next(struct core *core, struct lock *l)
{
	watch_touch(core, l);
	while (l->asked == NULL && nexts[l->state](core, l))
		;
	if (l->asked != NULL)
		pass_on_meanwhile(core, l);
	queue_settle(core, l, false);
	while (l->asked == NULL && TAILQ_EMPTY(&l->queue) &&
	       nexts[l->state](core, l))
		;
	/* Let go, and kept for who waits here: that is as good as passed on. */
	if (lease_is_held(l) && (l->asked == NULL || !TAILQ_EMPTY(&l->queue)))
		parting_over(core, l, false);
	if (is_idle(l)) {
		lock_free(core, l);
		return false;
	}
	unowned_look(core, l);
	if (lease_is_held(l))
		arm_held(core, l);
	return true;
}

/* Servers that forget. */

bool
lease_unasserted(const struct core *core, const struct lock *l)
{
	bool tombstone = l->state == LEASE_LINGERING ||
			 (l->state == LEASE_CONFIRMING &&
			     more_of(l)->linger_ms > core->now_ms);

	return (lease_is_held(l) || tombstone) &&
	       l->spell != guard_spell(core, l->shard);
}

void
lease_reassert(struct core *core, struct lock *l)
{
	if (!lease_unasserted(core, l))
		return;
	(void)pace_room(core, l);
	arm(core, l,
	    lease_is_held(l) ? min_ms(l->wake_ms, lease_deadline_ms(core, l))
			     : l->wake_ms);
}
