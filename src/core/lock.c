/*
 * Names and their queues; the requests LOCK, UNLOCK, EXTEND and STATUS.
 *
 * This file decides who is next.  Whether the broker has the name at all, and
 * what to do about it, is lease.c's: every change here ends in lease_next().
 */
#include "config.h"

#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "core/emit.h"
#include "core/guard.h"
#include "core/hold.h"
#include "core/lease.h"
#include "core/lock.h"
#include "core/session.h"

#define WHY_SIZE 256

struct lock *
lock_find(const struct core *core, const char *name, size_t len)
{
	struct lock *l;

	HASH_FIND(hh, core->locks, name, len, l);
	return l;
}

struct lock *
lock_get(struct core *core, const char *name, size_t len)
{
	struct lock *l = lock_find(core, name, len);

	if (l != NULL)
		return l;
	assert(len > 0 && len <= UINT8_MAX);
	l = xcalloc(1, sizeof(*l) + len);
	TAILQ_INIT(&l->holders);
	TAILQ_INIT(&l->queue);
	l->timer.kind = TIMER_LEASE;
	l->name_len = (uint8_t)len;
	l->shard = core_shard(core, name, len);
	memcpy(l->name, name, len);
	HASH_ADD_KEYPTR(hh, core->locks, l->name, len, l);
	return l;
}

void
lock_free(struct core *core, struct lock *l)
{
	assert(TAILQ_EMPTY(&l->holders) && TAILQ_EMPTY(&l->queue));
	guard_unblock(core, l);
	core_disarm(core, &l->timer);
	HASH_DELETE(hh, core->locks, l);
	free(l->parting);
	free(l->why);
	free(l);
}

/* Waiters. */

static void
leave_queue(struct waiter *w)
{
	struct lock *l = w->lock;

	TAILQ_REMOVE(&l->queue, w, in_lock);
	l->nwaiting--;
	if (w->impatient)
		l->nimpatient--;
	w->impatient = false;
}

void
waiter_free(struct core *core, struct waiter *w)
{
	struct session *s = w->session;

	if (w->granted) {
		TAILQ_REMOVE(&core->granted, w, in_lock);
		if (w->hold != NULL)
			w->hold->untold--;
	} else {
		leave_queue(w);
	}
	TAILQ_REMOVE(&s->waiting, w, in_session);
	s->nwaiting--;
	core_disarm(core, &w->deadline);
	free(w);
}

void
waiter_answer(struct core *core, struct waiter *w, enum status status)
{
	emit_reply(core, w->session->id, w->ref, status);
	waiter_free(core, w);
}

void
waiter_error(
    struct core *core, struct waiter *w, enum err_code code, const char *why)
{
	emit_error(core, w->session->id, w->ref, code, "%s", why);
	waiter_free(core, w);
}

static void
set_impatient(struct waiter *w)
{
	if (w->impatient || w->granted)
		return;
	w->impatient = true;
	w->lock->nimpatient++;
}

/* What stands between a name and Redis, in words; false: nothing does. */
static bool
why_unavailable(
    const struct core *core, const struct lock *l, char *why, size_t size)
{
	if (!guard_ready(core, l->shard)) {
		guard_why(core, l->shard, why, size);
		return true;
	}
	if (l->why == NULL)
		return false;
	strncpy(why, l->why, size - 1);
	why[size - 1] = '\0';
	return true;
}

void
waiter_timer(struct core *core, struct waiter *w)
{
	struct lock *l = w->lock;
	char why[WHY_SIZE];

	assert(!w->granted);
	if (TAILQ_EMPTY(&l->holders) &&
	    why_unavailable(core, l, why, sizeof(why)))
		waiter_error(core, w, ERR_UNAVAILABLE, why);
	else if (w->try_only)
		waiter_error(core, w, ERR_UNAVAILABLE,
		    "Redis did not answer in time; try again");
	else {
		core->stats.timeouts++;
		waiter_answer(core, w, STATUS_TIMEOUT);
	}
	lease_next(core, l);
}

/* Those who do not wait. */

/* Redis is not to be asked about the name now: what then?  True: answered. */
static bool
settle_unasked(struct core *core, struct waiter *w)
{
	struct lock *l = w->lock;
	char why[WHY_SIZE];
	int64_t wait_ms;

	if (w->session->draining && !w->try_only) {
		waiter_answer(core, w, STATUS_CANCELLED);
		return true;
	}
	if (!w->try_only)
		return false;
	wait_ms = guard_why(core, l->shard, why, sizeof(why));
	if (l->why == NULL && core->now_ms + wait_ms < w->deadline.at_ms)
		return false;
	why_unavailable(core, l, why, sizeof(why));
	waiter_error(core, w, ERR_UNAVAILABLE, why);
	return true;
}

/* True: answered, and so gone. */
static bool
settle_one(struct core *core, struct waiter *w, uint64_t position, bool taken)
{
	struct lock *l = w->lock;

	if (l->state == LEASE_LINGERING && l->linger_session != w->session->id)
		taken = true;
	if (taken && (w->try_only || w->queue_limit <= position)) {
		waiter_answer(core, w, STATUS_BUSY);
		return true;
	}
	if (taken && w->session->draining) {
		waiter_answer(core, w, STATUS_CANCELLED);
		return true;
	}
	if (l->op == 0 && (l->why != NULL || !guard_ready(core, l->shard)))
		return settle_unasked(core, w);
	return false;
}

void
lock_settle(struct core *core, struct lock *l, bool taken)
{
	struct waiter *w, *next;
	uint64_t position = 0;

	if (l->nimpatient == 0)
		return;
	if (!TAILQ_EMPTY(&l->holders) || l->state == LEASE_QUEUED)
		taken = true;
	TAILQ_FOREACH_SAFE (w, &l->queue, in_lock, next)
		if (!w->impatient || !settle_one(core, w, position, taken))
			position++;
}

void
lock_hasten(struct core *core, struct session *s)
{
	struct waiter *w, *next;
	struct lock *l;

	/* Only one waiter of s is answered by a lease_next() at most that is
	 * not of the same lock: so `next` is taken anew where l changes. */
	TAILQ_FOREACH (w, &s->waiting, in_session)
		set_impatient(w);
	for (w = TAILQ_FIRST(&s->waiting); w != NULL; w = next) {
		l = w->lock;
		next = TAILQ_NEXT(w, in_session);
		while (next != NULL && next->lock == l)
			next = TAILQ_NEXT(next, in_session);
		if (!w->granted)
			lease_next(core, l);
	}
}

void
lock_cancel(struct core *core, struct session *s, uint64_t ref, uint64_t by)
{
	struct waiter *w;
	struct lock *l;

	TAILQ_FOREACH (w, &s->waiting, in_session)
		if (w->ref == ref && !w->granted)
			break;
	if (w == NULL) {
		emit_error(core, s->id, by, ERR_NOT_FOUND,
		    "no request with that tag is waiting");
		return;
	}
	l = w->lock;
	waiter_answer(core, w, STATUS_CANCELLED);
	emit_reply(core, s->id, by, STATUS_OK);
	lease_next(core, l);
}

/* Granting. */

static void
be_granted(struct core *core, struct waiter *w)
{
	leave_queue(w);
	core_disarm(core, &w->deadline);
	w->granted = true;
	TAILQ_INSERT_TAIL(&core->granted, w, in_lock);
}

/* The other requests of a session that now has the name re-enter at once. */
static void
reenter_others(struct core *core, struct hold *h)
{
	struct waiter *w, *next;

	TAILQ_FOREACH_SAFE (w, &h->session->waiting, in_session, next) {
		if (w->lock != h->lock || w->granted)
			continue;
		be_granted(core, w);
		hold_reenter(core, h, w);
	}
}

void
lock_grant(struct core *core, struct lock *l)
{
	struct waiter *w = TAILQ_FIRST(&l->queue);
	struct hold *h;

	assert(w != NULL && TAILQ_EMPTY(&l->holders));
	assert(l->fence_next < l->fence_end && lease_vouched(core, l));
	be_granted(core, w);
	h = hold_new(core, w, l->fence_next++);
	core->stats.grants++;
	if (l->handed) {
		l->handovers++;
		core->stats.handovers++;
		l->row++;
	}
	l->handed = true;
	l->linger_ms = 0;
	reenter_others(core, h);
}

void
lock_tell_granted(struct core *core)
{
	struct waiter *w;

	while (!TAILQ_EMPTY(&core->granted)) {
		w = TAILQ_FIRST(&core->granted);
		if (w->withdrawn) {
			waiter_error(core, w, ERR_UNAVAILABLE,
			    "the lease ran out before the grant could be"
			    " told; you do not hold it, ask again");
			continue;
		}
		emit_reply(core, w->session->id, w->ref, STATUS_OK);
		emit_num(core, FIELD_FENCE, w->fence);
		emit_num(core, FIELD_DEPTH, w->depth);
		waiter_free(core, w);
	}
}

/* LOCK. */

static struct waiter *
waiter_new(struct core *core, struct session *s, struct lock *l,
    const struct core_request *rq)
{
	struct waiter *w = xcalloc(1, sizeof(*w));

	w->session = s;
	w->lock = l;
	w->deadline.kind = TIMER_WAITER;
	w->ref = rq->ref;
	w->since_ms = core->now_ms;
	w->has_hold = rq->has_hold;
	w->hold_ms = rq->hold_ms;
	w->keep_ms = rq->keep_ms;
	w->delay_ms = rq->delay_ms;
	w->queue_limit = rq->queue_limit;
	w->untagged = rq->untagged;
	w->try_only = rq->wait_ms == 0;
	TAILQ_INSERT_TAIL(&s->waiting, w, in_session);
	s->nwaiting++;
	return w;
}

static void
enqueue(struct core *core, struct waiter *w, int64_t wait_ms)
{
	struct lock *l = w->lock;

	/* A name that lingers for its last holder is free for that one. */
	if (l->linger_ms > core->now_ms && l->linger_session == w->session->id)
		TAILQ_INSERT_HEAD(&l->queue, w, in_lock);
	else
		TAILQ_INSERT_TAIL(&l->queue, w, in_lock);
	l->nwaiting++;
	if (w->try_only || w->queue_limit != UINT64_MAX || w->session->draining)
		set_impatient(w);
	if (w->try_only)
		wait_ms = core->config.reply_timeout_ms;
	if (wait_ms != CORE_WAIT_FOREVER)
		core_arm(core, &w->deadline, core->now_ms + wait_ms);
}

static void
reenter(struct core *core, struct hold *h, const struct core_request *rq)
{
	struct waiter *w = waiter_new(core, h->session, h->lock, rq);

	w->granted = true;
	TAILQ_INSERT_TAIL(&core->granted, w, in_lock);
	hold_reenter(core, h, w);
}

static bool
lock_allowed(struct core *core, struct session *s, const struct lock *l,
    const struct core_request *rq)
{
	if (core->stopping) {
		emit_error(core, s->id, rq->ref, ERR_SHUTDOWN,
		    "the broker is stopping; try another one");
		return false;
	}
	if (s->nholds + s->nwaiting >= core->config.max_holds) {
		emit_error(core, s->id, rq->ref, ERR_LIMIT,
		    "this session holds or waits for %u things already"
		    " (limits.holds)",
		    s->nholds + s->nwaiting);
		return false;
	}
	if (l != NULL && l->nwaiting >= core->config.max_waiters) {
		emit_error(core, s->id, rq->ref, ERR_LIMIT,
		    "%u requests wait for this name already (limits.waiters)",
		    l->nwaiting);
		return false;
	}
	return true;
}

static void
request_lock(
    struct core *core, struct session *s, const struct core_request *rq)
{
	struct lock *l = lock_find(core, rq->name, rq->name_len);
	struct hold *h = l == NULL ? NULL : hold_find(l, s);

	if (h != NULL && !core->stopping) {
		reenter(core, h, rq);
		return;
	}
	if (!lock_allowed(core, s, l, rq))
		return;
	if (l == NULL)
		l = lock_get(core, rq->name, rq->name_len);
	enqueue(core, waiter_new(core, s, l, rq), rq->wait_ms);
	lease_next(core, l);
}

/* UNLOCK. */

static void
reply_parted(struct core *core, uint64_t session, uint64_t ref, uint32_t depth,
    bool deferred)
{
	emit_reply(core, session, ref, STATUS_OK);
	emit_num(core, FIELD_DEPTH, depth);
	if (deferred)
		emit_num(core, FIELD_DEFERRED, 1);
}

void
lock_parted(struct core *core, struct lock *l, bool deferred)
{
	struct parting *p = l->parting;

	if (p == NULL)
		return;
	l->parting = NULL;
	reply_parted(core, p->session, p->ref, p->depth, deferred);
	free(p);
}

static void
part(struct core *core, struct session *s, struct lock *l,
    const struct core_request *rq)
{
	struct parting *p;

	if (!lease_next(core, l) || l->state != LEASE_ENDING) {
		reply_parted(core, s->id, rq->ref, 0, false);
		return;
	}
	if (l->op == 0) {
		reply_parted(core, s->id, rq->ref, 0, true);
		return;
	}
	assert(l->parting == NULL);
	p = xcalloc(1, sizeof(*p));
	p->session = s->id;
	p->ref = rq->ref;
	l->parting = p;
}

static void
not_held(struct core *core, struct session *s, const struct core_request *rq)
{
	if (session_take_lost(s, rq->name, rq->name_len))
		emit_error(core, s->id, rq->ref, ERR_LOST,
		    "this session held it and lost it");
	else
		emit_error(core, s->id, rq->ref, ERR_NOT_HELD,
		    "this session does not hold it");
}

static void
request_unlock(
    struct core *core, struct session *s, const struct core_request *rq)
{
	struct lock *l = lock_find(core, rq->name, rq->name_len);
	struct hold *h = l == NULL ? NULL : hold_find(l, s);

	if (h == NULL) {
		not_held(core, s, rq);
		return;
	}
	if (h->depth > 1) {
		h->depth--;
		reply_parted(core, s->id, rq->ref, h->depth, false);
		return;
	}
	hold_end(core, h, true);
	part(core, s, l, rq);
}

/* EXTEND. */

static void
request_extend(
    struct core *core, struct session *s, const struct core_request *rq)
{
	struct lock *l = lock_find(core, rq->name, rq->name_len);
	struct hold *h = l == NULL ? NULL : hold_find(l, s);

	if (h == NULL) {
		not_held(core, s, rq);
		return;
	}
	hold_bind(core, h, rq->hold_ms);
	emit_reply(core, s->id, rq->ref, STATUS_OK);
}

/* STATUS. */

static void
status_held(struct core *core, const struct session *s, const struct lock *l,
    const struct core_request *rq)
{
	const struct hold *h = TAILQ_FIRST(&l->holders);
	int64_t left_ms = lease_deadline_ms(core, l) - core->now_ms;

	emit_reply(core, s->id, rq->ref, STATUS_OK);
	emit_str(core, FIELD_STATE, "held", 4);
	emit_num(core, FIELD_WAITERS, l->nwaiting);
	emit_str(core, FIELD_BROKER, core->broker, strlen(core->broker));
	if (h != NULL) {
		emit_num(core, FIELD_SESSION, h->session->id);
		if (h->session->label != NULL)
			emit_str(core, FIELD_LABEL, h->session->label,
			    strlen(h->session->label));
		emit_num(core, FIELD_FENCE, h->fence);
	} else {
		left_ms = l->linger_ms - core->now_ms;
	}
	emit_num(core, FIELD_TTL, left_ms > 0 ? (uint64_t)left_ms : 0);
}

static void
request_status(
    struct core *core, struct session *s, const struct core_request *rq)
{
	struct lock *l = lock_find(core, rq->name, rq->name_len);
	uint32_t shard = core_shard(core, rq->name, rq->name_len);
	struct slot *slot;
	char why[WHY_SIZE];

	if (l != NULL &&
	    (!TAILQ_EMPTY(&l->holders) || l->state == LEASE_LINGERING)) {
		status_held(core, s, l, rq);
		return;
	}
	if (!guard_up(core, shard)) {
		guard_why(core, shard, why, sizeof(why));
		emit_error(core, s->id, rq->ref, ERR_UNAVAILABLE, "%s", why);
		return;
	}
	slot_submit(
	    core, &slot, OP_STATUS, SLOT_ASK, shard, rq->name, rq->name_len);
	slot->session = s->id;
	slot->ref = rq->ref;
	slot->name = xstrndup(rq->name, rq->name_len);
	slot->name_len = rq->name_len;
}

/*
 * Takes BROKER.INSTANCE.SEQ|FENCE apart; false where the value is not of that
 * form, and so a plain client's.
 */
static bool
parse_value(const char *p, size_t n, size_t *broker_len, uint64_t *fence)
{
	const char *bar = memchr(p, '|', n);
	size_t i;
	int dots = 0;

	if (bar == NULL || !parse_number(bar + 1, n - (size_t)(bar + 1 - p),
			       UINT64_MAX, fence))
		return false;
	for (i = (size_t)(bar - p); i > 0; i--) {
		if (p[i - 1] != '.')
			continue;
		dots++;
		if (dots < 2)
			continue;
		*broker_len = i - 1;
		return true;
	}
	return false;
}

void
lock_status_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o)
{
	struct lock *l = lock_find(core, slot->name, slot->name_len);
	uint64_t fence;
	size_t broker_len;

	if (o->status != OUTCOME_VALUE) {
		emit_error(core, slot->session, slot->ref, ERR_UNAVAILABLE,
		    "%.*s", o->text_len > 0 ? (int)o->text_len : 32,
		    o->text_len > 0 ? o->text
				    : "Redis did not answer; try again.");
		return;
	}
	emit_reply(core, slot->session, slot->ref, STATUS_OK);
	if (o->text_len == 0) {
		emit_str(core, FIELD_STATE, "free", 4);
		emit_num(core, FIELD_WAITERS, l == NULL ? 0 : l->nwaiting);
		return;
	}
	emit_str(core, FIELD_STATE, "held", 4);
	emit_num(core, FIELD_WAITERS, l == NULL ? 0 : l->nwaiting);
	if (parse_value(o->text, o->text_len, &broker_len, &fence)) {
		emit_str(core, FIELD_BROKER, o->text, broker_len);
		emit_num(core, FIELD_FENCE, fence);
	}
	if (o->ttl_ms >= 0)
		emit_num(core, FIELD_TTL, (uint64_t)o->ttl_ms);
}

static void (*const requests[])(
    struct core *core, struct session *s, const struct core_request *rq) = {
	[CORE_LOCK] = request_lock,
	[CORE_UNLOCK] = request_unlock,
	[CORE_EXTEND] = request_extend,
	[CORE_STATUS] = request_status,
};

void
lock_request(
    struct core *core, struct session *s, const struct core_request *rq)
{
	requests[rq->verb](core, s, rq);
}
