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

#include "base/parse.h"
#include "base/xmalloc.h"
#include "core/emit.h"
#include "core/group.h"
#include "core/guard.h"
#include "core/hold.h"
#include "core/lease.h"
#include "core/lock.h"
#include "core/queue.h"
#include "core/unlock.h"

#define RESERVE_MAX 64	     /* fences drawn at once */
#define KEEP_SLACK_MS 1000   /* a keep begins at most so long after its key */
#define RENEW_TICK_MS 10     /* renewals due within it go out together */
#define RETRY_LOST_MS 50     /* after an unknown outcome, if nothing else */
#define RETRY_REFUSED_MS 500 /* after a refusal; as much again of jitter */
#define FOREIGN_LOOK_MS 750  /* at a plain client's key; 500 of jitter */
#define IDLE_YIELD_MS 50     /* a lease kept for a group stays so long */
#define LOOK_SLACK_MS 2	     /* behind the end of another's key */

static const char *const state_names[LEASE_MAX] = {
#define STATE(id, word) [LEASE_##id] = word,
	LEASE_STATES(STATE)
#undef STATE
};

#define TO(state) (1u << LEASE_##state)

static const unsigned legal[LEASE_MAX] = {
	[LEASE_NONE] = TO(ACQUIRING) | TO(ENDING),
	[LEASE_ACQUIRING] = TO(HELD) | TO(QUEUED) | TO(NONE) | TO(ENDING),
	[LEASE_QUEUED] = TO(HELD) | TO(CONFIRMING) | TO(NONE) | TO(ENDING),
	[LEASE_CONFIRMING] = TO(HELD) | TO(NONE) | TO(ENDING),
	[LEASE_HELD] = TO(ATRISK) | TO(ENDING) | TO(NONE),
	[LEASE_ATRISK] = TO(HELD) | TO(ENDING) | TO(NONE),
	[LEASE_ENDING] = TO(NONE) | TO(LINGERING),
	[LEASE_LINGERING] = TO(CONFIRMING) | TO(ENDING) | TO(NONE),
};

const char *
lease_state_name(enum lease_state state)
{
	return state_names[state];
}

static void
set_state(struct lock *l, enum lease_state state)
{
	if (l->state == state)
		return;
	assert(legal[l->state] & (1u << state));
	l->state = state;
	if (state != LEASE_ATRISK)
		l->wake_ms = 0;
}

static bool
is_held(const struct lock *l)
{
	return l->state == LEASE_HELD || l->state == LEASE_ATRISK;
}

int64_t
lease_deadline_ms(const struct core *core, const struct lock *l)
{
	return l->confirmed_ms + core->vouch_ms;
}

bool
lease_vouched(const struct core *core, const struct lock *l)
{
	return is_held(l) && core->now_ms < lease_deadline_ms(core, l);
}

static int64_t
min64(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
max64(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Operations. */

static struct op *
submit(struct core *core, struct lock *l, enum op_kind kind)
{
	struct slot *slot;
	struct op *op = slot_submit(
	    core, &slot, kind, SLOT_LEASE, l->shard, l->name, l->name_len);

	assert(l->op == 0);
	slot->lock = l;
	op->seq = l->seq;
	l->op = op->id;
	l->asked_spell = core->guards[l->shard].spell;
	return op;
}

/*
 * How long the key must live: the lease and its pad, the delay of those who
 * hold or come next, and what is left of any keep.  It is written ahead, so
 * that it holds even when this broker dies.
 */
static void
set_ttl(struct core *core, struct lock *l, struct op *op)
{
	const struct waiter *w = TAILQ_FIRST(&l->queue);
	const struct hold *h;
	int64_t delay_ms = 0, keep_ms = 0;

	TAILQ_FOREACH (h, &l->holders, in_lock) {
		delay_ms = max64(delay_ms, h->delay_ms);
		keep_ms = max64(keep_ms, h->keep_until_ms - core->now_ms);
	}
	if (w != NULL) {
		delay_ms = max64(delay_ms, w->delay_ms);
		if (w->keep_ms > 0)
			keep_ms = max64(keep_ms, w->keep_ms + KEEP_SLACK_MS);
	}
	keep_ms = max64(keep_ms, l->linger_ms - core->now_ms);
	l->asked_delay_ms = delay_ms;
	l->asked_ttl_ms =
	    max64(core->config.lease_ms + core->pad_ms + delay_ms, keep_ms);
	l->key_end_ms = max64(l->key_end_ms, core->now_ms + l->asked_ttl_ms);
	op->ttl_ms = l->asked_ttl_ms;
}

/* A phase of sharing has one fence, however many share. */
static void
set_reserve(struct lock *l, struct op *op, bool shared)
{
	l->asked_shared = shared;
	if (shared) {
		op->flags |= OP_SHARED;
		op->reserve = l->asked_reserve = 1;
		return;
	}
	l->asked_reserve =
	    l->nwaiting < RESERVE_MAX ? l->nwaiting : RESERVE_MAX;
	if (l->asked_reserve == 0)
		l->asked_reserve = 1;
	op->reserve = l->asked_reserve;
}

static void
ask_acquire(struct core *core, struct lock *l)
{
	struct op *op = submit(core, l, OP_ACQUIRE);
	const struct waiter *w = TAILQ_FIRST(&l->queue);
	bool queued = l->state == LEASE_QUEUED;

	/* One token has one place in the queue, of one kind. */
	set_reserve(l, op, queued ? l->asked_shared : w->shared);
	l->asked_queue = queued;
	TAILQ_FOREACH (w, &l->queue, in_lock) {
		if (w->try_only || w->queue_limit == 0 || w->session->draining)
			continue;
		l->asked_queue = true;
		break;
	}
	if (l->asked_queue)
		op->flags |= OP_QUEUE;
	set_ttl(core, l, op);
}

static void
ask_confirm(struct core *core, struct lock *l)
{
	struct op *op = submit(core, l, OP_CONFIRM);

	set_ttl(core, l, op);
	set_reserve(l, op, false);
}

static void
ask_convert(struct core *core, struct lock *l, bool shared)
{
	struct op *op = submit(core, l, OP_CONVERT);

	set_ttl(core, l, op);
	set_reserve(l, op, shared);
}

static void
ask_renew(struct core *core, struct lock *l, bool draw)
{
	struct op *op = submit(core, l, OP_RENEW);

	set_ttl(core, l, op);
	op->fence = l->fence_end - 1;
	op->timeout_ms = min64(op->timeout_ms, core->config.lease_ms / 6);
	l->asked_reserve = 0;
	if (l->shared)
		op->flags |= OP_SHARED;
	else if (draw)
		set_reserve(l, op, false);
}

static void
ask_end(struct core *core, struct lock *l)
{
	struct op *op = submit(core, l, OP_END);

	op->linger_ms = max64(l->linger_ms - core->now_ms, 0);
}

/* Timing. */

/*
 * Renewals are due every third of the lease.  The first is brought forward by
 * up to a sixth, the others by up to a 24th, so that leases taken in a burst
 * don't stay one.
 */
static void
plan_renewal(struct core *core, struct lock *l, bool first)
{
	int64_t lease_ms = core->config.lease_ms;
	int64_t at_ms = l->confirmed_ms + lease_ms / 3;

	at_ms -= core_jitter(core, first ? lease_ms / 6 : lease_ms / 24);
	l->wake_ms = at_ms - at_ms % RENEW_TICK_MS;
	if (l->spell != core->guards[l->shard].spell)
		l->wake_ms = core->now_ms;
}

static void
arm(struct core *core, struct lock *l, int64_t at_ms)
{
	core_arm(core, &l->timer, max64(at_ms, core->now_ms));
}

/* The next moment at which a lease that is held wants attention. */
static void
arm_held(struct core *core, struct lock *l)
{
	int64_t at_ms = lease_deadline_ms(core, l);

	if (l->state == LEASE_HELD)
		at_ms =
		    min64(at_ms, l->confirmed_ms + core->config.lease_ms / 2);
	if (l->op == 0 && !l->blocked)
		at_ms = min64(at_ms, l->wake_ms);
	if (l->remote_ms != 0 && TAILQ_EMPTY(&l->holders) &&
	    core->now_ms - l->remote_ms < IDLE_YIELD_MS)
		at_ms = min64(at_ms, l->remote_ms + IDLE_YIELD_MS);
	arm(core, l, at_ms);
}

/* Waits for the guard or the end of a pause; true: nothing to wait for. */
static bool
may_ask(struct core *core, struct lock *l, bool ready)
{
	if (!ready) {
		guard_block(core, l);
		return false;
	}
	if (l->wake_ms > core->now_ms) {
		arm(core, l, l->wake_ms);
		return false;
	}
	return true;
}

/* Decisions, one function a state.  They return whether to look again. */

static void
end(struct lock *l)
{
	set_state(l, LEASE_ENDING);
}

static bool
next_none(struct core *core, struct lock *l)
{
	if (TAILQ_EMPTY(&l->queue) ||
	    !may_ask(core, l, guard_ready(core, l->shard)))
		return false;
	free(l->why);
	l->why = NULL;
	l->seq = ++core->last_seq;
	l->hint = l->foreign = false;
	l->key_end_ms = 0;
	set_state(l, LEASE_ACQUIRING);
	ask_acquire(core, l);
	return false;
}

static bool
next_acquiring(struct core *core, struct lock *l)
{
	if (TAILQ_EMPTY(&l->queue)) {
		end(l);
		return true;
	}
	if (may_ask(core, l, guard_ready(core, l->shard)))
		ask_acquire(core, l);
	return false;
}

static bool
next_queued(struct core *core, struct lock *l)
{
	if (TAILQ_EMPTY(&l->queue)) {
		end(l);
		return true;
	}
	if (l->hint && guard_ready(core, l->shard)) {
		set_state(l, LEASE_CONFIRMING);
		return true;
	}
	if (may_ask(core, l, guard_ready(core, l->shard)))
		ask_acquire(core, l);
	return false;
}

static bool
next_confirming(struct core *core, struct lock *l)
{
	if (TAILQ_EMPTY(&l->queue)) {
		end(l);
		return true;
	}
	if (may_ask(core, l, guard_ready(core, l->shard)))
		ask_confirm(core, l);
	return false;
}

/* Has another broker waited long enough (protocol, section 5, "Queue")? */
static bool
turn_over(const struct core *core, const struct lock *l)
{
	return l->remote_ms != 0 &&
	       (l->row >= core->config.handovers ||
		   core->now_ms - l->remote_ms >= core->config.lease_ms);
}

/* Does it linger for another than this one? */
static bool
lingers(const struct core *core, const struct lock *l, const struct waiter *w)
{
	return l->linger_ms > core->now_ms &&
	       (w == NULL || w->session->id != l->linger_session);
}

bool
lease_free_for(
    const struct core *core, const struct lock *l, const struct waiter *w)
{
	return lease_vouched(core, l) && !turn_over(core, l) &&
	       !lingers(core, l, w);
}

/* Does the key live long enough for what the next grant promises? */
static bool
covers(const struct core *core, const struct lock *l, const struct waiter *w)
{
	return w->delay_ms <= l->delay_ms &&
	       (w->keep_ms == 0 || l->key_end_ms >= core->now_ms + w->keep_ms);
}

/* Can an operation be sent now?  Else it waits for the guard or a pause. */
static bool
can_send(struct core *core, struct lock *l)
{
	if (l->op != 0)
		return false;
	if (!guard_up(core, l->shard)) {
		guard_block(core, l);
		return false;
	}
	return l->why == NULL || l->wake_ms <= core->now_ms;
}

bool
lease_fits(struct core *core, struct lock *l, const struct waiter *w)
{
	bool joins = !TAILQ_EMPTY(&l->holders) && l->shared_hold && w->shared;
	bool same = joins || l->shared == w->shared;

	if (!lease_vouched(core, l) || (joins && turn_over(core, l)))
		return false;
	if (same && (joins || l->fence_next < l->fence_end) &&
	    covers(core, l, w))
		return true;
	if (!can_send(core, l))
		return false;
	if (!same)
		ask_convert(core, l, w->shared);
	else
		ask_renew(core, l, true);
	return false;
}

static void
renew(struct core *core, struct lock *l, bool draw)
{
	if (!can_send(core, l))
		return;
	if (core->renewals_left == 0) {
		l->wake_ms = core->now_ms + 1;
		return;
	}
	core->renewals_left--;
	ask_renew(core, l, draw);
}

static bool
kept_for_group(const struct core *core, const struct lock *l)
{
	const struct waiter *w;

	TAILQ_FOREACH (w, &l->queue, in_lock)
		if (w->group != NULL && group_keeps(core, w->group, l))
			return true;
	return false;
}

/*
 * The lease is here, nobody has the name, and only groups wait for it that
 * can't be granted yet.  It stays until another broker asks.
 */
static bool
next_idle(struct core *core, struct lock *l)
{
	if (l->remote_ms != 0 && core->now_ms - l->remote_ms >= IDLE_YIELD_MS &&
	    !kept_for_group(core, l)) {
		end(l);
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
	    lingers(core, l, TAILQ_FIRST(&l->queue)) ||
	    (turn_over(core, l) && !kept_for_group(core, l))) {
		end(l);
		return true;
	}
	if (lock_grant_next(core, l))
		return true;
	return l->op == 0 && next_idle(core, l);
}

static bool
next_held(struct core *core, struct lock *l)
{
	uint64_t left = l->fence_end - l->fence_next;

	if (TAILQ_EMPTY(&l->holders))
		return next_free(core, l);
	if (l->nwaiting > 0 && lock_grant_next(core, l))
		return true;
	if (l->op != 0)
		return false;
	if (l->wake_ms <= core->now_ms)
		renew(core, l, left * 4 < l->nwaiting);
	else if (l->nwaiting > 0 && left == 0 && !l->shared)
		renew(core, l, true);
	return false;
}

static bool
next_ending(struct core *core, struct lock *l)
{
	if (l->key_end_ms <= core->now_ms) {
		unlock_parted(core, l, true);
		set_state(l, LEASE_NONE);
		return true;
	}
	arm(core, l, l->key_end_ms);
	if (may_ask(core, l, guard_up(core, l->shard)))
		ask_end(core, l);
	return false;
}

static bool
next_lingering(struct core *core, struct lock *l)
{
	const struct waiter *w = TAILQ_FIRST(&l->queue);

	if (l->linger_ms <= core->now_ms) {
		l->linger_ms = 0;
		if (w == NULL && l->remote_ms == 0)
			set_state(l, LEASE_NONE);
		else
			end(l);
		return true;
	}
	if (w != NULL && w->session->id == l->linger_session &&
	    guard_ready(core, l->shard)) {
		set_state(l, LEASE_CONFIRMING);
		return true;
	}
	arm(core, l, l->linger_ms);
	if (lease_unasserted(core, l)) {
		if (may_ask(core, l, guard_up(core, l->shard)))
			ask_renew(core, l, false);
	} else if (w != NULL && w->session->id == l->linger_session)
		guard_block(core, l);
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
	return l->state == LEASE_NONE && l->op == 0 && TAILQ_EMPTY(&l->queue) &&
	       TAILQ_EMPTY(&l->holders);
}

bool
lease_next(struct core *core, struct lock *l)
{
	while (l->op == 0 && nexts[l->state](core, l))
		;
	queue_settle(core, l, false);
	while (l->op == 0 && TAILQ_EMPTY(&l->queue) && nexts[l->state](core, l))
		;
	if (is_idle(l)) {
		lock_free(core, l);
		return false;
	}
	if (is_held(l))
		arm_held(core, l);
	return true;
}

/* Outcomes. */

/* Nothing is known, or nothing can be done now: again, a little later. */
static void
try_later(struct core *core, struct lock *l, const struct outcome *o)
{
	int64_t pause_ms = RETRY_LOST_MS;

	if (o->status == OUTCOME_REFUSED) {
		free(l->why);
		l->why = xstrndup(o->text, o->text_len);
		pause_ms =
		    RETRY_REFUSED_MS + core_jitter(core, RETRY_REFUSED_MS);
	}
	if (o->status == OUTCOME_PENDING)
		pause_ms = 0;
	l->wake_ms = core->now_ms + pause_ms;
}

static void
told_waiting(struct core *core, struct lock *l, bool waiting)
{
	if (!waiting)
		l->remote_ms = 0;
	else if (l->remote_ms == 0) {
		l->remote_ms = core->now_ms;
		l->row = 0;
	}
}

/* What the operation wrote is what the key promises now. */
static void
confirmed(
    struct core *core, struct lock *l, int64_t sent_ms, const struct outcome *o)
{
	l->confirmed_ms = sent_ms;
	l->delay_ms = l->asked_delay_ms;
	l->key_end_ms = sent_ms + l->asked_ttl_ms;
	l->spell = l->asked_spell;
	if (o->fence != 0) {
		l->fence_next = o->fence;
		l->fence_end = o->fence + l->asked_reserve;
	}
	told_waiting(core, l, o->waiting);
	free(l->why);
	l->why = NULL;
}

static void
on_granted(
    struct core *core, struct lock *l, int64_t sent_ms, const struct outcome *o)
{
	assert(o->fence != 0);
	set_state(l, LEASE_HELD);
	l->shared = l->asked_shared;
	l->handed = l->hint = l->foreign = false;
	l->remote_ms = 0;
	l->row = 0;
	confirmed(core, l, sent_ms, o);
	plan_renewal(core, l, true);
}

/* When to look at another's key: when it ends, or once a lease. */
static void
plan_look(struct core *core, struct lock *l, const struct outcome *o)
{
	int64_t pause_ms = core->config.lease_ms;

	if (o->ttl_ms >= 0)
		pause_ms = min64(pause_ms, o->ttl_ms + LOOK_SLACK_MS);
	if (l->foreign && !o->waiting)
		pause_ms =
		    min64(pause_ms, FOREIGN_LOOK_MS + core_jitter(core, 500));
	l->wake_ms = core->now_ms + pause_ms;
}

static void
on_acquire(
    struct core *core, struct lock *l, int64_t sent_ms, const struct outcome *o)
{
	switch (o->status) {
	case OUTCOME_GRANTED:
		on_granted(core, l, sent_ms, o);
		return;
	case OUTCOME_QUEUED:
	case OUTCOME_BUSY:
	case OUTCOME_FOREIGN:
		l->foreign = o->status == OUTCOME_FOREIGN;
		set_state(l, l->asked_queue ? LEASE_QUEUED : LEASE_NONE);
		plan_look(core, l, o);
		if (!l->asked_queue)
			l->wake_ms = 0;
		queue_settle(core, l, true);
		return;
	default:
		try_later(core, l, o);
	}
}

static void
on_confirm(
    struct core *core, struct lock *l, int64_t sent_ms, const struct outcome *o)
{
	if (o->status == OUTCOME_GRANTED) {
		l->asked_shared = o->text_len == 1 && o->text[0] == 's';
		if (l->asked_shared)
			l->asked_reserve = 1;
		on_granted(core, l, sent_ms, o);
	} else if (o->status == OUTCOME_LOST) {
		l->linger_ms = 0;
		set_state(l, LEASE_NONE);
	} else
		try_later(core, l, o);
}

static void
lose_holders(struct core *core, struct lock *l, const char *reason)
{
	while (!TAILQ_EMPTY(&l->holders))
		hold_lose(core, TAILQ_FIRST(&l->holders), reason);
}

static void
tell_holders(struct core *core, struct lock *l, enum event_id event)
{
	const struct hold *h;
	int64_t left_ms = lease_deadline_ms(core, l) - core->now_ms;

	TAILQ_FOREACH (h, &l->holders, in_lock) {
		emit_event(core, h->session->id, event, l->name, l->name_len);
		emit_num(core, FIELD_FENCE, h->fence);
		if (event == EVENT_ATRISK)
			emit_num(core, FIELD_LEFT, (uint64_t)max64(left_ms, 0));
	}
}

/* The key is not ours any more. */
static void
taken(struct core *core, struct lock *l)
{
	bool moved = l->spell != core->guards[l->shard].spell;

	lose_holders(core, l, moved ? "failover" : "taken");
	l->linger_ms = 0;
	set_state(l, LEASE_NONE);
}

/* What was at risk is safe again, and the next renewal is planned. */
static void
kept(struct core *core, struct lock *l)
{
	if (l->state == LEASE_ATRISK && lease_vouched(core, l)) {
		set_state(l, LEASE_HELD);
		tell_holders(core, l, EVENT_SAFE);
	}
	if (is_held(l))
		plan_renewal(core, l, false);
}

static void
on_renew(
    struct core *core, struct lock *l, int64_t sent_ms, const struct outcome *o)
{
	if (l->state == LEASE_ENDING)
		return;
	if (o->status == OUTCOME_LOST) {
		taken(core, l);
		return;
	}
	if (o->status != OUTCOME_RENEWED) {
		try_later(core, l, o);
		return;
	}
	if (l->spell != core->guards[l->shard].spell)
		core->stats.reasserted++;
	core->stats.renewals++;
	confirmed(core, l, sent_ms, o);
	kept(core, l);
}

static void
on_convert(
    struct core *core, struct lock *l, int64_t sent_ms, const struct outcome *o)
{
	if (l->state == LEASE_ENDING)
		return;
	switch (o->status) {
	case OUTCOME_GRANTED:
		l->shared = l->asked_shared;
		confirmed(core, l, sent_ms, o);
		kept(core, l);
		return;
	case OUTCOME_BUSY:
		told_waiting(core, l, true);
		if (TAILQ_EMPTY(&l->holders))
			end(l); /* behind those who share it, like anybody */
		else
			lock_upgrade_refused(core, l);
		return;
	case OUTCOME_LOST:
		taken(core, l);
		return;
	default:
		try_later(core, l, o);
	}
}

static void
on_end(
    struct core *core, struct lock *l, int64_t sent_ms, const struct outcome *o)
{
	(void)sent_ms;
	assert(l->state == LEASE_ENDING);
	if (o->status != OUTCOME_ENDED && o->status != OUTCOME_GONE) {
		unlock_parted(core, l, true);
		try_later(core, l, o);
		return;
	}
	unlock_parted(core, l, false);
	if (o->status == OUTCOME_ENDED && l->linger_ms > core->now_ms) {
		set_state(l, LEASE_LINGERING);
		l->confirmed_ms = sent_ms;
		return;
	}
	l->linger_ms = 0;
	l->remote_ms = 0;
	set_state(l, LEASE_NONE);
}

void
lease_outcome(struct core *core, struct lock *l, enum op_kind op,
    int64_t sent_ms, const struct outcome *o)
{
	l->op = 0;
	if (op == OP_ACQUIRE)
		on_acquire(core, l, sent_ms, o);
	else if (op == OP_CONFIRM)
		on_confirm(core, l, sent_ms, o);
	else if (op == OP_RENEW)
		on_renew(core, l, sent_ms, o);
	else if (op == OP_CONVERT)
		on_convert(core, l, sent_ms, o);
	else
		on_end(core, l, sent_ms, o);
	lease_next(core, l);
}

/* Time. */

void
lease_timer(struct core *core, struct lock *l)
{
	if (is_held(l) && core->now_ms >= lease_deadline_ms(core, l)) {
		lose_holders(core, l, "unreachable");
		set_state(l, LEASE_ENDING);
	} else if (l->state == LEASE_HELD &&
		   core->now_ms >=
		       l->confirmed_ms + core->config.lease_ms / 2) {
		set_state(l, LEASE_ATRISK);
		tell_holders(core, l, EVENT_ATRISK);
	}
	lease_next(core, l);
}

/* Servers that forget. */

bool
lease_unasserted(const struct core *core, const struct lock *l)
{
	return (is_held(l) || l->state == LEASE_LINGERING) &&
	       l->spell != core->guards[l->shard].spell;
}

void
lease_reassert(struct core *core, struct lock *l)
{
	if (!lease_unasserted(core, l))
		return;
	l->wake_ms = core->now_ms;
	arm(core, l, core->now_ms);
}

/* Messages: hints, each of which may be lost, late, doubled or wrong. */

static void
on_grant_message(struct core *core, struct lock *l, uint64_t seq)
{
	(void)seq;
	l->hint = true;
	lease_next(core, l);
}

static void
on_waits_message(struct core *core, struct lock *l, uint64_t seq)
{
	(void)seq;
	if (!is_held(l))
		return;
	told_waiting(core, l, true);
	lease_next(core, l);
}

static void
on_look_message(struct core *core, struct lock *l, uint64_t seq)
{
	(void)seq;
	if (l->state != LEASE_QUEUED)
		return;
	l->wake_ms =
	    min64(l->wake_ms, core->now_ms + core->pad_ms + LOOK_SLACK_MS);
	lease_next(core, l);
}

/*
 * A name was handed to a place in the queue that we no longer know to have:
 * what an ending that was given up has left.  Pass it on.
 */
static void
stray(struct core *core, const char *name, size_t len, uint64_t seq)
{
	struct lock *l = lock_get(core, name, len);

	l->seq = seq;
	l->key_end_ms = core->now_ms + core->pad_ms;
	set_state(l, LEASE_ENDING);
	lease_next(core, l);
}

static const struct {
	const char *word;
	void (*run)(struct core *core, struct lock *l, uint64_t seq);
} messages[] = {
	{ "grant", on_grant_message },
	{ "waits", on_waits_message },
	{ "look", on_look_message },
};

static void
dispatch(
    struct core *core, size_t kind, uint64_t seq, const char *name, size_t len)
{
	struct lock *l = lock_find(core, name, len);

	if (l != NULL && l->seq == seq)
		messages[kind].run(core, l, seq);
	else if (l == NULL && messages[kind].run == on_grant_message)
		stray(core, name, len, seq);
}

/* `WORD SEQ NAME`; anything else is none of ours and ignored. */
void
lease_message(struct core *core, const char *text, size_t len)
{
	const char *seq, *name, *end = text + len;
	uint64_t number;
	size_t i, n;

	for (i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
		n = strlen(messages[i].word);
		if (len <= n || memcmp(text, messages[i].word, n) != 0 ||
		    text[n] != ' ')
			continue;
		seq = text + n + 1;
		name = memchr(seq, ' ', (size_t)(end - seq));
		if (name == NULL || name + 1 == end ||
		    end - name - 1 > UINT8_MAX ||
		    !parse_number(
			seq, (size_t)(name - seq), UINT64_MAX, &number))
			return;
		dispatch(core, i, number, name + 1, (size_t)(end - name - 1));
		return;
	}
}

/* Messages may have been missed: look at every queued name, spread out. */
void
lease_look_all(struct core *core)
{
	struct lock *l, *next;

	HASH_ITER (hh, core->locks, l, next) {
		if (l->state != LEASE_QUEUED)
			continue;
		l->wake_ms = min64(l->wake_ms,
		    core->now_ms + core_jitter(core, core->pad_ms / 2));
		lease_next(core, l);
	}
}
