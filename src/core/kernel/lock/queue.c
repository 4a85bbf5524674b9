/*
 * Queues: who waits for a name, until when, and who does not wait at all.
 *
 * A waiter stands in the queue of its name until it is granted or answered:
 *
 *	waiter_new --> waiter_enqueue --> waiter_granted --> told, freed
 *	                    ^    |                |
 *	                    |    +--> answered,   |  the lease ran out before
 *	                    |         freed       |  the FLUSH
 *	                    +-- waiter_ungranted -+
 *
 * The order of a queue is that of arrival, but for waiters that have a right to
 * the name and stand at the head.  Who is granted the name next is decided in
 * lock.c; this file only keeps the order.
 */
#include "config.h"

#include <string.h>

#include "core/kernel/guard/guard.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lock/fit.h"
#include "core/kernel/lock/group.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/lock/queue.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/part.h"
#include "core/kernel/turn/work.h"

#define LOOK_MAX 100  /* how far in a queue to look */
#define SETTLE_MAX 50 /* impatient waiters of one queue looked at in a row */

/* Where a waiter that does not wait stands in its queue. */
struct place {
	uint64_t position;
	bool blocked; /* by a starving group before it */
	bool sharers; /* all before it want to share */
};

/* Takes w out of its queue. */
static void
unlist_queued(struct waiter *w)
{
	CURSOR_REMOVE(
	    &lock_rare(w->lock)->cursors, &w->lock->queue->waiters, w, in_lock);
}

/* If it has several names, the first waiter stands for all. */
static void
list_claim(struct core *core, struct waiter *w)
{
	if (w->place == 0)
		claim_list(core, &w->claim);
}

/* The request counts from here on: for limits.holds, in the measurements, and,
 * if it has a keep or delay, for limits.unowned. */
struct waiter *
waiter_new(struct core *core, struct owner *owner, struct lock *l,
    const struct core_request *rq)
{
	struct waiter *w = freelist_take(&core->locks->waiters);

	claim_begin(core, &w->claim, core->locks->claims, owner, rq);
	w->claim.try_only = rq->wait_ms == 0;
	w->lock = l;
	w->came = ++core->last_come;
	w->has_hold = rq->has_hold;
	w->hold_ms = rq->hold_ms;
	w->keep_ms = rq->keep_ms;
	w->delay_ms = rq->delay_ms;
	w->queue_limit = rq->queue_limit;
	w->shared = rq->shared;
	w->result = RESULT_CANCELLED; /* if its client goes away */
	LOCK_HOOK(waits, core, w, rq);
	if (waiter_binds(w))
		lock_binds(core, l, owner);
	return w;
}

/* Impatient waiters are in a list of their own, because they are answered as
 * soon as it is known that the name is not free, however long the queue is. */
static void
set_impatient(struct waiter *w)
{
	if (w->impatient || w->claim.granted)
		return;
	w->impatient = true;
	TAILQ_INSERT_TAIL(&w->lock->queue->impatient, w, in_impatient);
}

static void
set_patient(struct waiter *w)
{
	if (w->impatient)
		TAILQ_REMOVE(&w->lock->queue->impatient, w, in_impatient);
	w->impatient = false;
}

/*
 * Has the session a right to the name?  A name that lingers is free for its
 * last holder; and a session that has it need not wait for sessions that do
 * not.
 */
static bool
goes_first(const struct core *core, const struct waiter *w)
{
	const struct lock *l = w->lock;

	return (lease_rare(&l->lease)->linger_ms > core->now_ms &&
		   lock_rare(l)->linger_owner == w->claim.owner->id) ||
	       hold_find(core, l, w->claim.owner) != NULL;
}

/* TRYLOCK waits only for Redis to answer. */
int64_t
waiter_deadline_ms(
    const struct core *core, const struct waiter *w, int64_t wait_ms)
{
	if (w->claim.try_only)
		wait_ms = core->config.reply_timeout_ms;
	return wait_ms == CORE_WAIT_FOREVER ? 0 : core->now_ms + wait_ms;
}

/* Counts w in the queue of its name, which is made if no one waits yet.  The
 * caller puts w in its place. */
static struct queue *
enter_queue(struct core *core, const struct waiter *w)
{
	struct queue *q = w->lock->queue;

	if (q == NULL) {
		q = w->lock->queue = freelist_take(&core->locks->queues);
		TAILQ_INIT(&q->waiters);
		TAILQ_INIT(&q->impatient);
	}
	q->n++;
	q->ngroups += w->group != NULL;
	core->locks->nwaiting++;
	return q;
}

void
waiter_enqueue(struct core *core, struct waiter *w, int64_t wait_ms)
{
	struct queue *q = enter_queue(core, w);
	int64_t at_ms = waiter_deadline_ms(core, w, wait_ms);

	assert(!w->claim.granted && !w->impatient);
	w->jumped = goes_first(core, w);
	w->ahead = w->jumped ? 0 : q->n - 1;
	if (w->jumped)
		TAILQ_INSERT_HEAD(&q->waiters, w, in_lock);
	else
		TAILQ_INSERT_TAIL(&q->waiters, w, in_lock);
	list_claim(core, w);
	if (w->claim.try_only || w->queue_limit != UINT64_MAX ||
	    w->claim.owner->draining)
		set_impatient(w);
	if (at_ms > 0 && w->place == 0) {
		w->deadline_ms = at_ms;
		core_arm(core, &w->claim.deadline, at_ms);
	}
}

void
waiter_jump(struct waiter *w)
{
	struct queue *q = w->lock->queue;

	assert(q != NULL && !w->claim.granted);
	w->jumped = true;
	unlist_queued(w);
	TAILQ_INSERT_HEAD(&q->waiters, w, in_lock);
}

static void
leave_queue(struct core *core, struct waiter *w)
{
	struct queue *q = w->lock->queue;

	assert(q != NULL && q->n > 0 && core->locks->nwaiting > 0);
	assert(w->group == NULL || q->ngroups > 0);
	unlist_queued(w);
	set_patient(w);
	claim_unlist(core, &w->claim);
	core->locks->nwaiting--;
	q->ngroups -= w->group != NULL;
	if (--q->n > 0)
		return;
	w->lock->queue = NULL;
	freelist_give(&core->locks->queues, q);
}

void
waiter_granted(struct core *core, struct waiter *w)
{
	leave_queue(core, w);
	waiter_to_tell(core, w);
}

void
waiter_to_tell(struct core *core, struct waiter *w)
{
	assert(!w->withdrawn && w->lock != NULL);
	claim_grant(core, &w->claim);
	w->lock->nuntold++;
}

/* A lock is kept while a grant of it is untold; with the last, it may end. */
static void
told(struct core *core, struct waiter *w)
{
	struct lock *l = w->lock;

	assert(w->claim.granted && l->nuntold > 0);
	l->nuntold--;
	if (l->nuntold == 0 && l->lease.state == LEASE_NONE)
		lock_touch(core, l);
}

/*
 * Inserts w before all waiters that came later.  The search goes from both
 * ends, because w was at the head when it was granted, or came last and had a
 * right to come first.  If its place is near neither end, w goes as far forward
 * as the search from the end has come.
 */
static void
insert_by_arrival(struct core *core, struct queue *q, struct waiter *w)
{
	struct waiter *head = TAILQ_FIRST(&q->waiters), *after, *tail;
	unsigned looked;

	tail = after = TAILQ_LAST(&q->waiters, waiter_list);
	for (looked = 0; tail != NULL && looked < LOOK_MAX; looked++) {
		core_visit(core, 2);
		if (waiter_came_before(w, head)) {
			TAILQ_INSERT_BEFORE(head, w, in_lock);
			return;
		}
		after = tail;
		if (!waiter_came_before(w, tail))
			break;
		head = TAILQ_NEXT(head, in_lock);
		tail = TAILQ_PREV(tail, waiter_list, in_lock);
	}
	if (after == NULL)
		TAILQ_INSERT_TAIL(&q->waiters, w, in_lock);
	else if (waiter_came_before(w, after))
		TAILQ_INSERT_BEFORE(after, w, in_lock);
	else
		TAILQ_INSERT_AFTER(&q->waiters, after, w, in_lock);
}

/*
 * A grant was not told: other requests of the session that had passed waiters
 * because of it go back to their places.
 */
static void
step_back(struct core *core, struct lock *l, const struct owner *owner)
{
	struct waiter *w, *next;
	unsigned looked = 0;

	TAILQ_FOREACH_SAFE (w, &queue_of(l)->waiters, in_lock, next) {
		if (looked++ == LOOK_MAX)
			return; /* one that has passed others is at the head */
		core_visit(core, 1);
		if (w->claim.owner != owner || !w->jumped ||
		    goes_first(core, w))
			continue;
		unlist_queued(w);
		w->jumped = false;
		insert_by_arrival(core, l->queue, w);
	}
}

/*
 * The lease ran out, or the hold was lost, between the grant and the FLUSH that
 * would have told it.  The client knows nothing of that, so the request goes on
 * as if it had not been granted: in its place, with its deadline, and can be
 * cancelled again.
 */
void
waiter_ungranted(struct core *core, struct waiter *w)
{
	struct lock *l = w->lock;

	step_back(core, l, w->claim.owner);
	told(core, w);
	claim_ungrant(core, &w->claim);
	w->withdrawn = w->reentry = false;
	waiter_drop_hold(w);
	insert_by_arrival(core, enter_queue(core, w), w);
	list_claim(core, w);
	if (w->claim.try_only || w->queue_limit != UINT64_MAX ||
	    w->claim.owner->draining)
		set_impatient(w);
	if (w->deadline_ms > 0)
		core_arm(core, &w->claim.deadline, w->deadline_ms);
	lock_touch(core, l);
}

/*
 * A waiter that was in the queue may have kept others from the name, or its
 * lease from being let go: hence the touch.  A granted one has left its queue
 * before.
 */
void
waiter_free(struct core *core, struct waiter *w)
{
	LOCK_HOOK(waited, core, w);
	if (waiter_binds(w))
		lock_unbinds(core, w->lock);
	if (w->claim.granted) {
		told(core, w);
	} else {
		leave_queue(core, w);
		lock_touch(core, w->lock);
	}
	if (w->group != NULL)
		group_forget(w);
	waiter_drop_hold(w);
	claim_end(core, &w->claim);
	freelist_give(&core->locks->waiters, w);
}

/* Each name of a group counts as a wait of its own, with one result. */
void
waiter_ends(struct waiter *w, enum measure_result result)
{
	unsigned i;

	if (w->group == NULL) {
		w->result = result;
		return;
	}
	for (i = 0; i < w->group->n; i++)
		if (w->group->members[i] != NULL)
			w->group->members[i]->result = result;
}

static void
answered(struct core *core, struct waiter *w, enum measure_result result)
{
	waiter_ends(w, result);
	if (w->group != NULL)
		group_free(core, w->group, waiter_free);
	else
		waiter_free(core, w);
}

/* How many stand before it; far back in a queue, how many stood there when it
 * came. */
static uint64_t
count_before(const struct waiter *w)
{
	const struct waiter *other = w;
	uint64_t n;

	for (n = 0; n < LOOK_MAX; n++) {
		other = TAILQ_PREV(other, waiter_list, in_lock);
		if (other == NULL)
			return n;
	}
	n = queue_of(w->lock)->n - 1;
	return w->ahead < n ? w->ahead : n;
}

/* The name that is in the way of a request: of several, one that is held by
 * another session. */
static const struct waiter *
in_the_way(const struct core *core, const struct waiter *w)
{
	const struct group *g = w->group;
	const struct lock *l;
	unsigned i;

	for (i = 0; g != NULL && i < g->n; i++) {
		l = g->members[i]->lock;
		if (!lock_reenters(core, l, g->members[i]) &&
		    (!lock_compatible(l, g->members[i]) ||
			lock_lingers(core, l, g->members[i]) ||
			l->lease.state == LEASE_QUEUED))
			return g->members[i];
	}
	return w;
}

static void
tell_why(struct core *core, const struct waiter *w)
{
	PARTS_CALL(refused, core, w->claim.owner, KIND_LOCK, w->lock->name,
	    w->lock->name_len, count_before(w));
}

/* A waiter of a group that is BUSY is the member that lacks its name. */
static void
waiter_answer(struct core *core, struct waiter *w, enum status status)
{
	assert(!w->claim.granted);
	emit_reply(core, w->claim.owner->id, w->claim.ref, status);
	if (status != STATUS_CANCELLED)
		tell_why(core, status == STATUS_BUSY ? w : in_the_way(core, w));
	answered(core, w,
	    status == STATUS_BUSY      ? RESULT_BUSY
	    : status == STATUS_TIMEOUT ? RESULT_TIMEOUT
				       : RESULT_CANCELLED);
}

void
waiter_error(
    struct core *core, struct waiter *w, enum err_code code, const char *why)
{
	emit_error(core, w->claim.owner->id, w->claim.ref, code, "%s", why);
	answered(core, w, RESULT_REFUSED);
}

void
waiter_circle(struct core *core, struct waiter *w, struct span circle)
{
	emit_circle(core, w->claim.owner->id, w->claim.ref, circle);
	answered(core, w, RESULT_REFUSED);
}

/* Writes what keeps the broker from taking a name in Redis; false: nothing
 * does. */
static bool
why_unavailable(
    const struct core *core, const struct lock *l, char *why, size_t size)
{
	if (!guard_ready(core, l->lease.term.shard)) {
		guard_why(core, l->lease.term.shard, why, size);
		return true;
	}
	if (lease_rare(&l->lease)->why == NULL)
		return false;
	strncpy(why, lease_rare(&l->lease)->why, size - 1);
	why[size - 1] = '\0';
	return true;
}

/* Writes why Redis does not give the name, if no one else here has it. */
static bool
why_not_given(
    const struct core *core, const struct waiter *w, char *why, size_t size)
{
	const struct lock *l = w->lock;
	unsigned others =
	    l->nholders - (hold_find(core, l, w->claim.owner) != NULL);

	return others == 0 && why_unavailable(core, l, why, size);
}

/* The same for a request: of several names, only those that it lacks count. */
static bool
why_waited(
    const struct core *core, const struct waiter *w, char *why, size_t size)
{
	const struct group *g = w->group;
	unsigned i;

	if (g == NULL)
		return why_not_given(core, w, why, size);
	for (i = 0; i < g->n; i++)
		if (!lock_suits(core, g->members[i]->lock, g->members[i]) &&
		    why_not_given(core, g->members[i], why, size))
			return true;
	return false;
}

/* TIMEOUT says that others had the name.  If Redis could not be asked, or has
 * refused, the client is told that instead, as waiting longer may be no use. */
void
queue_time_up(struct core *core, struct claim *c)
{
	struct waiter *w = waiter_of(c);
	char why[GUARD_WHY_SIZE];

	if (why_waited(core, w, why, sizeof(why)))
		waiter_error(core, w, ERR_UNAVAILABLE, why);
	else if (w->claim.try_only)
		waiter_error(core, w, ERR_UNAVAILABLE,
		    guard_excuse(core, w->lock->lease.term.shard, NULL, why));
	else {
		core->stats.timeouts++;
		waiter_answer(core, w, STATUS_TIMEOUT);
	}
}

/*
 * Redis cannot be asked for the name now: answers a waiter of a draining
 * session, and one with wait=0 that cannot be served in time.  True: answered.
 */
static bool
settle_unasked(struct core *core, struct waiter *w)
{
	struct lock *l = w->lock;
	char why[GUARD_WHY_SIZE];
	int64_t wait_ms;

	if (w->claim.owner->draining && !w->claim.try_only) {
		waiter_answer(core, w, STATUS_CANCELLED);
		return true;
	}
	if (!w->claim.try_only)
		return false;
	wait_ms = guard_why(core, l->lease.term.shard, why, sizeof(why));
	if (lease_rare(&l->lease)->why == NULL &&
	    wait_ms < w->claim.since_ms + core->config.reply_timeout_ms -
			  core->now_ms)
		return false;
	if (!why_unavailable(core, l, why, sizeof(why)))
		return false;
	waiter_error(core, w, ERR_UNAVAILABLE, why);
	return true;
}

/*
 * Is the name here and free, but kept for a starving group?  If it were not, a
 * request for it alone would have been granted it; a request for several names
 * may lack another one.
 */
static bool
is_kept(const struct core *core, const struct lock *l, const struct waiter *w,
    bool starving)
{
	return (w->group == NULL || starving) && l->lease.pending == NULL &&
	       term_vouched(core, &l->lease.term) &&
	       guard_ready(core, l->lease.term.shard) &&
	       !lease_paused(core, &l->lease);
}

/*
 * `starving`: a starving group is before w.  True: w was answered and freed.
 *
 * A name that its own session holds is not taken for w, unless a part keeps it
 * from that.  If w has queue=N and fewer wait, it is let in, and waits like any
 * other from now on.
 */
static bool
settle_waiter(struct core *core, struct waiter *w, uint64_t position,
    bool starving, bool taken)
{
	struct lock *l = w->lock;

	if (lock_lingers(core, l, w) || is_kept(core, l, w, starving))
		taken = true;
	if (hold_find(core, l, w->claim.owner) != NULL)
		taken = !lock_may_grant(core, l, w);
	if (taken && (w->claim.try_only || w->queue_limit <= position)) {
		waiter_answer(core, w, STATUS_BUSY);
		return true;
	}
	if (taken && w->claim.owner->draining) {
		waiter_answer(core, w, STATUS_CANCELLED);
		return true;
	}
	if (taken) { /* and let in, whatever may come before it later */
		w->queue_limit = UINT64_MAX;
		set_patient(w);
		return false;
	}
	if (l->lease.pending == NULL &&
	    (lease_rare(&l->lease)->why != NULL ||
		!guard_ready(core, l->lease.term.shard)))
		return settle_unasked(core, w);
	return false;
}

/* Is it a member that could share the name here, and waits only for the rest of
 * its group? */
static bool
may_share(const struct core *core, const struct lock *l, const struct waiter *w)
{
	return w->group != NULL && !TAILQ_EMPTY(&l->holders) &&
	       lock_compatible(l, w) && lock_free_for(core, l, w);
}

/*
 * How many waiters stand before w, whether one of them is its blocker, and
 * whether all want to share.  This is asked for waiters that do not wait, most
 * of which come last in a long queue; if that has no groups, the number that
 * was ahead when w came is enough.
 */
static struct place
place_of(const struct core *core, const struct waiter *w)
{
	const struct lock *l = w->lock;
	const struct waiter *other, *blocker = NULL;
	struct place place = { .position = w->ahead, .sharers = true };
	uint64_t n = 0;

	assert(!w->claim.granted && l->queue != NULL && l->queue->n > 0);
	if (place.position >= l->queue->n)
		place.position = l->queue->n - 1;
	if (l->queue->ngroups == 0)
		return place;
	for (other = waiter_first(l); other != w && n < LOOK_MAX; n++) {
		core_visit(core, 1);
		place.sharers = place.sharers && other->shared;
		blocker = group_blocker(core, blocker, other);
		other = TAILQ_NEXT(other, in_lock);
	}
	place.blocked = group_blocked_by(blocker, w);
	if (other == w)
		place.position = n;
	else
		place.sharers = false;
	return place;
}

void
queue_settle(struct core *core, struct lock *l, bool taken)
{
	struct waiter *w, *next;
	unsigned looked = 0, answered = 0;
	struct place place;

	if (!TAILQ_EMPTY(&l->holders) || l->lease.state == LEASE_QUEUED ||
	    lease_backs_off(&l->lease))
		taken = true;
	TAILQ_FOREACH_SAFE (w, &queue_of(l)->impatient, in_impatient, next) {
		if (looked++ == SETTLE_MAX)
			break;
		core_visit(core, 1);
		place = place_of(core, w);
		answered +=
		    settle_waiter(core, w, place.position, place.blocked,
			taken && !(place.sharers && may_share(core, l, w)));
	}
	if (answered > 0 && looked > SETTLE_MAX)
		lock_touch(core, l); /* the rest in its turn */
}

void
queue_cancel(struct core *core, struct claim *c, uint64_t by)
{
	uint64_t session = c->owner->id;

	waiter_answer(core, waiter_of(c), STATUS_CANCELLED);
	emit_reply(core, session, by, STATUS_OK);
}

void
queue_hasten(struct core *core, struct claim *c)
{
	struct waiter *w = waiter_of(c);

	assert(c->owner->draining);
	set_impatient(w);
	lock_touch(core, w->lock);
}
