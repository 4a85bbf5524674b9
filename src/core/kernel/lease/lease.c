/*
 * Leases: the state machine between a name here and its key in the store.
 *
 *	none --> acquiring --> held ---------+
 *	  ^        |   |        ^            |
 *	  |        v   |        |            v
 *	  |     queued-+-> confirming ... ending --> lingering
 *	  +----------------------------------+-----------+
 *
 * lease_decide() looks at the state, at who holds and waits, and does the one
 * thing that comes next.  At most one operation is in flight for a name: until
 * its outcome comes (outcome.c), the lease decides nothing.
 *
 * An outcome that is unknown changes no state: the same operation with the
 * same token is sent again when the store answers, or the lease is ended,
 * which is right in either case.
 */
#include "config.h"

#include <stdlib.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/sweep.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/pace.h"
#include "core/kernel/lease/parts.h"

#define FENCES_LOW 8	 /* if many wait, draw more when so few are left */
#define IDLE_YIELD_MS 50 /* how long a lease is kept for a group */
#define WALLED_MS 250	 /* between tries for blocked requests */

void
leases_init(struct core *core, const struct lease_lessee *lessee,
    const struct lease_way *way)
{
	struct leases *leases = xcalloc(1, sizeof(*leases));

	core->leases = leases;
	leases->lessee = lessee;
	leases->way = way != NULL ? way : &way_direct;
	freelist_init(&leases->pending, sizeof(struct pending_op));
}

void
leases_fini(struct core *core)
{
	struct leases *leases = core->leases;

	assert(leases->n == 0 && leases->nlingering == 0);
	freelist_fini(&leases->pending);
	free(leases);
}

void
lease_init(struct core *core, struct lease *l, uint32_t shard)
{
	assert(l->state == LEASE_NONE && l->pending == NULL);
	term_init(core, &l->term, TERM_LEASE, shard);
	l->timer.kind = TIMER_LEASE;
	core->leases->n++;
}

void
lease_block(struct core *core, struct lease *l)
{
	l->blocked = sweep_block(core, l->term.shard, l->blocked, true);
}

void
lease_unblock(struct core *core, struct lease *l)
{
	l->blocked = sweep_block(core, l->term.shard, l->blocked, false);
}

/* May be called while an operation is in flight only when the core is freed:
 * its answer is not needed then. */
void
lease_fini(struct core *core, struct lease *l)
{
	assert(core->leases->n > 0);
	term_fini(core, &l->term);
	lease_unblock(core, l);
	core_disarm(core, &l->timer);
	core->leases->nlingering -= l->state == LEASE_LINGERING;
	core->leases->n--;
	lease_set_why(l, NULL);
	lease_set_elsewhere(l, NULL, 0);
	free(l->rare);
	freelist_give(&core->leases->pending, l->pending);
}

/* Timing. */

static void
arm(struct core *core, struct lease *l, int64_t at_ms)
{
	core_arm(core, &l->timer, max_ms(at_ms, core->now_ms));
}

/* When will it linger for fewer? */
static int64_t
linger_step_ms(const struct core *core, const struct lease *l)
{
	if (lease_rare(l)->others_ms > core->now_ms)
		return lease_rare(l)->others_ms;
	return lease_lingers(core, l) ? lease_rare(l)->linger_ms : INT64_MAX;
}

/*
 * The next moment at which a lease that is held wants attention: a renewal, a
 * risk, its end; the moment up to which it may be kept for groups while another
 * broker waits; the end of a keep or delay; or that of its warmth, for which it
 * is not renewed.
 */
void
lease_arm_held(struct core *core, struct lease *l)
{
	int64_t warm_ms = lease_rare(l)->warm_ms;
	int64_t at_ms =
	    term_due_ms(core, &l->term, l->pending == NULL && warm_ms == 0);

	assert(lease_is_held(l));
	if (lease_contended(l) && lease_rare(l)->idle_ms != 0 &&
	    lease_rare(l)->idle_ms + IDLE_YIELD_MS > core->now_ms)
		at_ms = min_ms(at_ms, lease_rare(l)->idle_ms + IDLE_YIELD_MS);
	if (warm_ms != 0 && l->pending == NULL)
		at_ms = min_ms(at_ms, warm_ms);
	arm(core, l, min_ms(at_ms, linger_step_ms(core, l)));
}

/* May the lease ask now?  If not, it waits for the guard, or out a pause. */
static bool
may_ask(struct core *core, struct lease *l, bool ready)
{
	if (!ready) {
		lease_block(core, l);
		return false;
	}
	if (l->term.wake_ms > core->now_ms) {
		arm(core, l, l->term.wake_ms);
		return false;
	}
	return true;
}

static bool
is_wanted(const struct core *core, const struct lease *l)
{
	return core->leases->lessee->nwaiting(l) > 0;
}

/* Decisions, one function a state.  They return whether to look again. */

static bool
become(struct core *core, struct lease *l, enum lease_state state)
{
	lease_set_state(core, l, state);
	return true;
}

/*
 * Blocked requests would not be granted the name.  Two brokers that took it for
 * such requests would pass it to and fro, so the broker asks for it on their
 * behalf only now and then.
 */
static bool
wanted_in_time(struct core *core, struct lease *l)
{
	enum lease_demand demand = core->leases->lessee->demand(core, l);
	bool blocked = demand == DEMAND_BLOCKED;

	if (demand == DEMAND_NOW && l->for_blocked)
		l->term.wake_ms = 0;
	if (blocked && !l->for_blocked)
		l->term.wake_ms =
		    max_ms(l->term.wake_ms, core->now_ms + WALLED_MS);
	l->for_blocked = blocked;
	return demand != DEMAND_NONE;
}

/*
 * Every attempt has a token of its own.  So a vote or a place in the queue that
 * an earlier attempt left behind is not taken for this one's, and a message
 * about it is known to be old.
 */
static bool
next_none(struct core *core, struct lease *l)
{
	if (!wanted_in_time(core, l) ||
	    !may_ask(core, l, guard_ready(core, l->term.shard)))
		return false;
	lease_set_why(l, NULL);
	if (l->rare != NULL)
		l->rare->rival = 0;
	l->seq = ++core->last_seq;
	lease_no_news(l);
	l->foreign = l->contended_early = false;
	l->key_end_ms = 0;
	lease_set_state(core, l, LEASE_ACQUIRING);
	lease_ask_acquire(core, l);
	return false;
}

static bool
next_acquiring(struct core *core, struct lease *l)
{
	enum lease_want asked = l->asked_shared ? WANT_SHARED : WANT_EXCLUSIVE;

	/* A token has one mode: it may be ours in the old mode already. */
	if (core->leases->lessee->mode(core, l) != asked)
		return become(core, l, LEASE_ENDING);
	if (may_ask(core, l, guard_ready(core, l->term.shard)))
		lease_ask_acquire(core, l);
	return false;
}

/*
 * A message only saves a question.  If it has all that is needed, the lease is
 * held at once, for a pad; if not, or if it is too old, a confirm asks whether
 * the key has our token.  Neither is done while the guard is pending, because
 * the server may have forgotten the handover.
 */
static bool
next_queued(struct core *core, struct lease *l)
{
	if (!is_wanted(core, l))
		return become(core, l, LEASE_ENDING);
	if (l->news != NEWS_NONE && guard_ready(core, l->term.shard)) {
		if (!lease_take_handover(core, l))
			lease_set_state(core, l, LEASE_CONFIRMING);
		return true;
	}
	if (may_ask(core, l, guard_ready(core, l->term.shard)))
		lease_ask_acquire(core, l);
	return false;
}

/*
 * Over a quorum only a tombstone is confirmed.  If it has run out on some
 * servers meanwhile, and others are out of reach, there may be no majority for
 * either answer, and each attempt would keep the remaining servers from all
 * brokers for another lease.  So when its time is up, the name is free for
 * whoever comes first.
 */
static bool
next_confirming(struct core *core, struct lease *l)
{
	if (!core->leases->way->queues && !lease_lingers(core, l)) {
		lease_linger_over(l);
		return become(core, l, LEASE_ENDING);
	}
	if (!is_wanted(core, l))
		return become(core, l, LEASE_ENDING);
	/* First write the tombstone again, if a new history asks for that. */
	if (lease_needs_reclaim(core, l))
		return become(core, l, LEASE_LINGERING);
	if (may_ask(core, l, guard_ready(core, l->term.shard)))
		lease_ask_confirm(core, l);
	return false;
}

bool
lease_must_yield(const struct core *core, const struct lease *l)
{
	return contention_must_yield(core, &lease_rare(l)->contention);
}

/*
 * The key was written after the call had been sent, so it lives for at least as
 * long as this says.  A delay must have been asked for with that call: if the
 * broker dies, the key alone keeps others away for that long.
 */
bool
lease_covers(const struct core *core, const struct lease *l, int64_t keep_ms,
    int64_t delay_ms)
{
	const struct lease_rare *m = lease_rare(l);
	int64_t ttl_ms = l->term.provisional
			     ? 2 * core->pad_ms
			     : core->config.lease_ms + core->pad_ms;
	int64_t sure_end_ms = l->term.confirmed_ms + ttl_ms + m->longer_ms;

	return delay_ms <= m->delay_ms &&
	       (keep_ms == 0 || sure_end_ms >= core->now_ms + keep_ms);
}

bool
lease_paused(const struct core *core, const struct lease *l)
{
	return l->paused && l->term.wake_ms > core->now_ms;
}

/* For operations that keep a lease: a server that is not blessed carries them
 * out as well, so it need only be up. */
bool
lease_can_send(struct core *core, struct lease *l)
{
	if (l->pending != NULL)
		return false;
	if (!guard_up(core, l->term.shard)) {
		lease_block(core, l);
		return false;
	}
	return !lease_paused(core, l);
}

/* A renewal that has to wait for room (pace.h) leaves wake_ms for later. */
static void
renew(struct core *core, struct lease *l, bool draw)
{
	if (!lease_can_send(core, l))
		return;
	if (pace_room(core, &l->term))
		lease_ask_renew(core, l, draw);
}

/*
 * The lease is here, nobody has the name, and only groups that cannot be
 * granted yet wait for it.  The lease stays until another broker asks for it, a
 * moment longer for a group that is in turn, and longer for a starving one.
 */
static bool
next_idle(struct core *core, struct lease *l)
{
	if (lease_rare(l)->idle_ms == 0)
		lease_need_rare(l)->idle_ms = core->now_ms;
	core->leases->lessee->idle(core, l);
	if (lease_contended(l) && !core->leases->lessee->keeps(core, l, true) &&
	    (core->now_ms - lease_rare(l)->idle_ms >= IDLE_YIELD_MS ||
		!core->leases->lessee->keeps(core, l, false)))
		return become(core, l, LEASE_ENDING);
	if (l->term.wake_ms <= core->now_ms)
		renew(core, l, false);
	return false;
}

/* Has this broker had its turn, or does another client here come before it? */
static bool
turn_is_over(struct core *core, struct lease *l)
{
	const struct lease_lessee *lessee = core->leases->lessee;

	if (!lease_contended(l) || lessee->taken_up(core, l) ||
	    lessee->keeps(core, l, true))
		return false;
	return lease_must_yield(core, l) || lessee->gives_way(core, l);
}

/* The lease is here and nobody has the name: grants it, keeps it warm, or lets
 * it go. */
static bool
next_free(struct core *core, struct lease *l)
{
	assert(!core->leases->lessee->in_use(l));
	if (!is_wanted(core, l) && core->leases->lessee->stays(core, l))
		return false;
	if (!is_wanted(core, l) || !term_vouched(core, &l->term) ||
	    core->leases->lessee->lingers(core, l) || turn_is_over(core, l))
		return become(core, l, LEASE_ENDING);
	if (core->leases->lessee->grant(core, l))
		return true;
	return l->pending == NULL && next_idle(core, l);
}

/*
 * Is there no fence for the next handover, or will there soon be none?  Fences
 * that are drawn in time are here when they are needed.  A provisional lease
 * whose turn is over ends soon, and its end would have to wait for the draw.
 */
static bool
runs_short(const struct core *core, const struct lease *l)
{
	uint32_t nwaiting = core->leases->lessee->nwaiting(l);
	bool many =
	    nwaiting >= 2 * FENCES_LOW && core->leases->way->draws > FENCES_LOW;

	if (l->shared || nwaiting == 0)
		return false;
	if (lease_must_yield(core, l))
		return l->fences == 0 && !l->term.provisional;
	return l->fences == 0 || (many && l->fences <= FENCES_LOW);
}

/*
 * The name is held here.  Others may get it, too, if it is shared, or if they
 * re-enter; then the lease is renewed if that is due, or earlier if fences run
 * short.
 */
static bool
next_held(struct core *core, struct lease *l)
{
	const struct lease_lessee *lessee = core->leases->lessee;
	uint32_t left = l->fences;

	if (!lessee->in_use(l))
		return next_free(core, l);
	if (is_wanted(core, l)) {
		if (lessee->grant(core, l))
			return lessee->grants_on(core, l);
		lessee->idle(core, l);
	}
	if (l->pending != NULL)
		return false;
	if (l->term.wake_ms <= core->now_ms)
		renew(core, l, left * 4 < lessee->nwaiting(l));
	else if (runs_short(core, l))
		renew(core, l, true);
	return false;
}

/*
 * Sends the end until an answer comes, or until the key has run out by itself,
 * which serves as well.  An UNLOCK does not wait for a server that is out of
 * reach: its reply says `deferred`.  The server need only be there, and not be
 * blessed: if it is not, the script hands nothing over.
 */
static bool
next_ending(struct core *core, struct lease *l)
{
	if (l->key_end_ms <= core->now_ms) {
		core->leases->lessee->ended(core, l, true);
		if (!lease_queued_again(core, l))
			lease_set_state(core, l, LEASE_NONE);
		return true;
	}
	arm(core, l, l->key_end_ms);
	if (may_ask(core, l, guard_up(core, l->term.shard)))
		lease_ask_end(core, l);
	else
		core->leases->lessee->ended(core, l, true);
	return false;
}

/*
 * The key is a tombstone, which keeps others away without this broker, and ends
 * by itself.  What is left to do: to write it again, if the server may have
 * forgotten it; to confirm it, if its last holder wants the name again; to make
 * a token hold of it, if another process is to look after it; and when its time
 * is up here, to end it if anyone waits, so that the name passes on at once.
 */
static bool
next_lingering(struct core *core, struct lease *l)
{
	bool up = core->leases->lessee->taken_up(core, l);
	int64_t at_ms;

	if (lease_rare(l)->linger_ms <= core->now_ms) {
		lease_linger_over(l);
		if (!is_wanted(core, l) && !lease_contended(l) &&
		    !l->contended_early) {
			lease_set_state(core, l, LEASE_NONE);
			return true;
		}
		/* If the key has run out at this very moment, the end of it
		 * passes the name on all the same, and nothing else would. */
		if (l->key_end_ms < core->now_ms + core->pad_ms)
			l->key_end_ms = core->now_ms + core->pad_ms;
		lease_set_state(core, l, LEASE_ENDING);
		return true;
	}
	if (up && lease_rare(l)->again_ms <= core->now_ms &&
	    guard_ready(core, l->term.shard) && !lease_needs_reclaim(core, l))
		return become(core, l, LEASE_CONFIRMING);
	at_ms = linger_step_ms(core, l);
	if (lease_rare(l)->again_ms > core->now_ms)
		at_ms = min_ms(at_ms, lease_rare(l)->again_ms);
	arm(core, l, at_ms);
	if (lease_needs_reclaim(core, l)) {
		if (may_ask(core, l, guard_up(core, l->term.shard)))
			lease_ask_renew(core, l, false);
	} else if (up)
		lease_block(core, l);
	else if (l->hand_on && !core->stopping &&
		 may_ask(core, l, guard_ready(core, l->term.shard)))
		lease_ask_disown(core, l);
	return false;
}

/* What brokers share is not handed on, and a quorum knows no token holds. */
void
lease_hand_on(struct core *core, struct lease *l)
{
	l->hand_on =
	    (l->state == LEASE_LINGERING || l->state == LEASE_ENDING) &&
	    !l->shared && core->leases->way->queues;
}

static bool (*const nexts[LEASE_MAX])(struct core *core, struct lease *l) = {
	[LEASE_NONE] = next_none,
	[LEASE_ACQUIRING] = next_acquiring,
	[LEASE_QUEUED] = next_queued,
	[LEASE_CONFIRMING] = next_confirming,
	[LEASE_HELD] = next_held,
	[LEASE_ENDING] = next_ending,
	[LEASE_LINGERING] = next_lingering,
};

bool
lease_decide(struct core *core, struct lease *l)
{
	assert(l->pending == NULL);
	return nexts[l->state](core, l);
}

/* Servers that forget. */

/* A tombstone is written again like a lease: it keeps a promise, too. */
bool
lease_needs_reclaim(const struct core *core, const struct lease *l)
{
	bool tombstone = l->state == LEASE_LINGERING ||
			 (l->state == LEASE_CONFIRMING &&
			     lease_rare(l)->linger_ms > core->now_ms);

	return term_needs_reclaim(core, &l->term) ||
	       (tombstone && l->term.epoch != guard_epoch(core, l->term.shard));
}

/* After a change of history all leases are due at once: each gets a moment that
 * has room (pace.h), but its timer runs at its end if that comes first. */
void
lease_reclaim(struct core *core, struct lease *l)
{
	if (!lease_needs_reclaim(core, l))
		return;
	(void)pace_room(core, &l->term);
	assert(l->term.wake_ms >= core->now_ms);
	arm(core, l,
	    lease_is_held(l)
		? min_ms(l->term.wake_ms, term_deadline_ms(core, &l->term))
		: l->term.wake_ms);
}

uint64_t
lease_take_fence(struct lease *l)
{
	assert(l->fences > 0);
	l->fences--;
	return l->fence_next++;
}
