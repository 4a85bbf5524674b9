/*
 * How a name answers the questions of its lease, and acts on its notices.
 *
 * The lease knows neither waiters nor holders; nothing here knows of tokens or
 * keys.  Questions look at the first part of the queue only (WANTED_MAX and so
 * on), so that a name for which very many wait costs no more than others: those
 * further behind are served when they have come nearer.
 */
#include "config.h"

#include "base/times.h"
#include "core/kernel/lease/tell.h"
#include "core/kernel/lock/fit.h"
#include "core/kernel/lock/group.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/lock/parting.h"
#include "core/kernel/lock/queue.h"
#include "core/kernel/turn/work.h"

#define HOLDERS_FEW 8	   /* of more, the longest that any asked for counts */
#define WANTED_MAX 100	   /* how far in a queue to look for demand */
#define LOOK_MAX 100	   /* how far in a queue to look for groups */
#define JUMPED_MAX 50	   /* how many that have jumped it are looked at */
#define KEEP_SLACK_MS 1000 /* how long after its key a keep begins, at most */

static struct lease *
find_lease(const struct core *core, const char *name, size_t len)
{
	struct lock *l = lock_find(core, name, len);

	return l == NULL ? NULL : &l->lease;
}

/* What is wanted. */

/*
 * Is the lease wanted now?  For a member whose group is not in turn, the broker
 * tries once.  A waiter that may not pass a group is blocked, unless it is to
 * be answered at once.
 */
static enum lease_demand
demand(const struct core *core, const struct lease *lease)
{
	enum lease_demand found = DEMAND_NONE;
	const struct waiter *w, *blocker = NULL;
	unsigned looked = 0;

	TAILQ_FOREACH (w, &queue_of(lock_seen(lease))->waiters, in_lock) {
		if (looked++ == WANTED_MAX)
			break;
		core_visit(core, 1);
		if (w->group != NULL && (!w->tried || group_in_turn(core, w)))
			return DEMAND_NOW;
		if (w->group == NULL && !w->impatient &&
		    group_blocked_by(blocker, w))
			found = DEMAND_BLOCKED;
		else if (w->group == NULL)
			return DEMAND_NOW;
		blocker = group_blocker(core, blocker, w);
	}
	return found;
}

/* Asked for before each acquire: a token is for one mode. */
static enum lease_want
mode(const struct core *core, const struct lease *l)
{
	const struct waiter *w = lock_in_line(core, lock_seen(l));

	if (w == NULL)
		return WANT_NONE;
	return w->shared ? WANT_SHARED : WANT_EXCLUSIVE;
}

/* The longest that the holders, or the next waiters, have asked for. */
static struct lease_afterlife
afterlife(const struct core *core, const struct lease *lease)
{
	const struct lock *l = lock_seen(lease);
	struct lease_afterlife t = { 0, 0 };
	const struct hold_rare *rare;
	const struct waiter *w;
	const struct holding *h;
	unsigned jumped = 0, looked = 0;

	if (l->nholders > HOLDERS_FEW) {
		t.delay_ms = lock_rare(l)->most_delay_ms;
		t.keep_ms =
		    max_ms(0, lock_rare(l)->most_keep_until_ms - core->now_ms);
	} else {
		TAILQ_FOREACH (h, &l->holders, in_holders) {
			core_visit(core, 1);
			rare = hold_rare(hold_seen(h));
			t.delay_ms = max_ms(t.delay_ms, rare->delay_ms);
			t.keep_ms = max_ms(
			    t.keep_ms, rare->keep_until_ms - core->now_ms);
		}
	}
	TAILQ_FOREACH (w, &queue_of(l)->waiters, in_lock) {
		t.delay_ms = max_ms(t.delay_ms, w->delay_ms);
		if (w->keep_ms > 0)
			t.keep_ms =
			    max_ms(t.keep_ms, w->keep_ms + KEEP_SLACK_MS);
		core_visit(core, 1);
		/* Any of those that have jumped the queue may come next. */
		if (w->jumped && ++jumped < JUMPED_MAX)
			continue;
		if (w->group == NULL || ++looked == GROUPS_FIRST)
			break; /* but groups may be passed by */
	}
	return t;
}

static uint32_t
nwaiting(const struct lease *l)
{
	return queue_of(lock_seen(l))->n;
}

/* An untold hold counts as well. */
static bool
in_use(const struct lease *l)
{
	return !TAILQ_EMPTY(&lock_seen(l)->holders);
}

static bool
stays(struct core *core, struct lease *l)
{
	return LOCK_ASK(stays, core, lock_with(l)) != 0;
}

static uint32_t
reserve(const struct core *core, struct lease *l)
{
	return LOCK_ASK(reserve, core, lock_with(l));
}

/*
 * Notes that the lease was asked for on behalf of all that wait now: a member
 * that has been tried for is not tried for again before its group is in turn.
 * Returns whether any of them would wait in the queue in Redis.
 */
static bool
try(const struct core *core, struct lease *l)
{
	struct waiter *w;
	unsigned looked = 0;
	bool queue = false;

	TAILQ_FOREACH (w, &queue_of(lock_with(l))->waiters, in_lock) {
		if (++looked > LOOK_MAX)
			break;
		core_visit(core, 1);
		w->tried = true;
		if (!w->claim.try_only && w->queue_limit > 0 &&
		    !w->claim.owner->draining &&
		    (w->group == NULL || group_in_turn(core, w)))
			queue = true;
	}
	return queue;
}

/* Sharers, groups and impatient waiters are left to an acquire. */
static bool
queues_again(const struct lease *lease)
{
	const struct lock *l = lock_seen(lease);
	const struct waiter *w = waiter_first(l);

	return w != NULL && !w->shared && w->group == NULL &&
	       TAILQ_EMPTY(&queue_of(l)->impatient);
}

/* Is it kept for a group in turn?  `starving`: only for a starving one. */
static bool
keeps(const struct core *core, const struct lease *lease, bool starving)
{
	const struct lock *l = lock_seen(lease);
	const struct waiter *w;
	unsigned looked = 0;

	TAILQ_FOREACH (w, &queue_of(l)->waiters, in_lock) {
		if (looked++ == GROUPS_FIRST)
			break;
		core_visit(core, 1);
		if (w->group != NULL && group_in_turn(core, w) &&
		    (!starving || lock_kept_for(core, l, w)))
			return true;
	}
	return false;
}

/* The first waiter stands for all: one for which the name lingers jumps the
 * queue. */
static bool
lingers(const struct core *core, const struct lease *lease)
{
	const struct lock *l = lock_seen(lease);

	return lock_lingers(core, l, waiter_first(l));
}

/* A turn that is over does not keep the last holder from what was kept for it.
 * A group takes that up only if it can use it (group.h). */
static bool
taken_up(const struct core *core, const struct lease *lease)
{
	const struct lock *l = lock_seen(lease);
	const struct waiter *w = waiter_first(l);

	return w != NULL && lock_lingers_for(core, l, w->claim.owner) &&
	       (w->group == NULL || group_takes_up(core, w));
}

/* Counts: the waiters here must make progress, however many tokens poll. */
static bool
gives_way(struct core *core, struct lease *lease)
{
	struct lock *l = lock_with(lease);

	if (!lock_gives_way(core, l))
		return false;
	lock_need_rare(l)->gave_way++;
	return true;
}

/* Granting. */

static bool
grant(struct core *core, struct lease *l)
{
	return lock_grant_next(core, lock_with(l));
}

/* If the step has no work left, the next one grants the name to the others. */
static bool
grants_on(struct core *core, struct lease *l)
{
	if (work_left(core))
		return true;
	lock_touch(core, lock_with(l));
	return false;
}

/* If the name is held, only a group that comes first counts. */
static void
idle(struct core *core, struct lease *lease)
{
	struct lock *l = lock_with(lease);

	if (TAILQ_EMPTY(&l->holders) || waiter_first(l)->group != NULL)
		group_idle(core, l);
}

/* What has happened. */

/* A grant on a new lease is no handover: that takes one before it. */
static void
arrived(struct core *core, struct lease *lease)
{
	struct lock *l = lock_with(lease);

	l->handed = false;
	LOCK_HOOK(arrived, core, l);
	group_arrived(core, l);
}

static void
elsewhere(struct core *core, struct lease *l)
{
	LOCK_HOOK(elsewhere, core, lock_with(l));
}

static void
not_free(struct core *core, struct lease *l)
{
	queue_settle(core, lock_with(l), true);
}

/* The key belongs to another now, so the name no longer lingers here. */
static void
then_gone(struct core *core, struct term *t, int64_t since_ms)
{
	(void)core;
	(void)since_ms;
	lease_linger_over(container_of(t, struct lease, term));
}

/* All holders lose it, whenever they were granted it.  If they are many, `then`
 * runs in a later step.  A lease that has run out goes on to its end by itself
 * (LEASE_ENDING). */
static void
lost(struct core *core, struct lease *lease, const char *reason)
{
	tell_loss(core, &lease->term,
	    &(struct loss){ .reason = reason,
		.since_ms = INT64_MAX,
		.then = lease->state == LEASE_NONE ? then_gone : NULL });
}

static void
renewed(struct core *core, struct lease *l, int64_t left_ms)
{
	LOCK_HOOK(renewed, core, lock_with(l), left_ms);
}

static void
ended(struct core *core, struct lease *l, bool deferred)
{
	parting_over(core, lock_with(l), deferred);
}

static void
refused(struct core *core, struct lease *l)
{
	lock_upgrade_refused(core, lock_with(l));
}

static void
disowned(struct core *core, struct lease *lease, uint64_t fence)
{
	const struct lock *l = lock_seen(lease);

	LOCK_HOOK(disowned, core, l->name, l->name_len, lease->seq, fence,
	    lease_rare(lease)->linger_ms - core->now_ms);
}

static void
next(struct core *core, struct lease *l)
{
	(void)lock_next(core, lock_with(l));
}

const struct lease_lessee lock_lessee = {
	.find = find_lease,
	.demand = demand,
	.mode = mode,
	.afterlife = afterlife,
	.nwaiting = nwaiting,
	.in_use = in_use,
	.stays = stays,
	.reserve = reserve,
	.try = try,
	.queues_again = queues_again,
	.keeps = keeps,
	.lingers = lingers,
	.taken_up = taken_up,
	.gives_way = gives_way,
	.grant = grant,
	.grants_on = grants_on,
	.idle = idle,
	.arrived = arrived,
	.elsewhere = elsewhere,
	.not_free = not_free,
	.lost = lost,
	.renewed = renewed,
	.ended = ended,
	.refused = refused,
	.disowned = disowned,
	.next = next,
};
