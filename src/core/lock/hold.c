/*
 * Holds: granted, re-entered, bounded, ended or lost.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/lease/lease.h"
#include "core/lock/hold.h"
#include "core/lock/lock.h"
#include "core/lock/measured.h"
#include "core/lock/names.h"
#include "core/lock/notify.h"
#include "core/lock/sharers.h"
#include "core/lock/unowned.h"
#include "core/session/valid.h"
#include "core/turn/emit.h"
#include "core/turn/work.h"

#define FEW 8 /* of more holders of one name there is a table */

static const char *
owner_id(const struct table_link *link, size_t *len)
{
	const struct terms *t =
	    container_of_const(link, struct terms, by_owner);

	*len = sizeof(t->hold->owner->id);
	return (const char *)&t->hold->owner->id;
}

struct hold *
hold_find(
    const struct core *core, const struct lock *l, const struct owner *owner)
{
	struct table_link *link;
	struct hold *h;

	if (more_of(l)->crowd != NULL) {
		core_visit(core, 1);
		link = table_find(l->more->crowd, (const char *)&owner->id,
		    sizeof(owner->id));
		return link ? container_of(link, struct terms, by_owner)->hold
			    : NULL;
	}
	/* Whoever looks at a name has counted its first holder. */
	TAILQ_FOREACH (h, &l->holders, in_lock) {
		if (h->owner == owner)
			return h;
		core_visit(core, TAILQ_NEXT(h, in_lock) != NULL);
	}
	return NULL;
}

const struct terms *
hold_terms(const struct hold *h)
{
	static const struct terms none;

	return h->terms != NULL ? h->terms : &none;
}

/* Returns the terms, to be written; makes them if there are none yet. */
static struct terms *
terms(struct hold *h)
{
	if (h->terms != NULL)
		return h->terms;
	h->terms = xcalloc(1, sizeof(*h->terms));
	h->terms->hold = h;
	h->terms->bound.kind = TIMER_HOLD;
	return h->terms;
}

static void
join_holders(struct lock *l, struct hold *h)
{
	TAILQ_INSERT_HEAD(&l->holders, h, in_lock);
	l->nholders++;
	if (more_of(l)->crowd != NULL) {
		table_add(l->more->crowd, &terms(h)->by_owner);
		return;
	}
	if (l->nholders <= FEW)
		return;
	need_more(l)->crowd = xmalloc(sizeof(*l->more->crowd));
	table_init(l->more->crowd, owner_id);
	TAILQ_FOREACH (h, &l->holders, in_lock)
		table_add(l->more->crowd, &terms(h)->by_owner);
}

static void
leave_holders(struct lock *l, struct hold *h)
{
	TAILQ_REMOVE(&l->holders, h, in_lock);
	l->nholders--;
	if (more_of(l)->crowd == NULL)
		return;
	table_remove(l->more->crowd, &h->terms->by_owner);
	if (l->nholders > FEW / 2)
		return;
	table_fini(l->more->crowd);
	free(l->more->crowd);
	l->more->crowd = NULL;
}

bool
hold_set_gone(struct hold *h, bool gone)
{
	if (hold_terms(h)->gone == gone)
		return false;
	terms(h)->gone = gone;
	need_more(h->lock)->ngone += gone ? 1u : UINT32_MAX;
	return true;
}

void
hold_set_waited(struct hold *h, int64_t waited_ms)
{
	h->waited_ms = (uint64_t)waited_ms;
	if ((int64_t)h->waited_ms == waited_ms)
		return;
	h->waited_ms = 0;
	terms(h)->waited_ms = waited_ms;
}

int64_t
hold_waited_ms(const struct hold *h)
{
	int64_t long_ms = hold_terms(h)->waited_ms;

	return long_ms > 0 ? long_ms : (int64_t)h->waited_ms;
}

uint32_t
hold_depth(const struct hold *h)
{
	return 1 + hold_terms(h)->reentries;
}

bool
hold_step_out(struct hold *h)
{
	if (hold_depth(h) == 1)
		return false;
	h->terms->reentries--;
	return true;
}

bool
hold_take_back(struct hold *h, const struct waiter *w)
{
	struct waiter *other;

	if (!hold_step_out(h))
		return false;
	TAILQ_FOREACH (other, &h->owner->granted, in_owner)
		if (other->hold == h && other->depth > w->depth)
			other->depth--;
	return true;
}

/* How many of its grants wait for a FLUSH.  These are few, and this is called
 * rarely, so there is no counter. */
static uint32_t
untold(const struct hold *h)
{
	const struct waiter *w;
	uint32_t n = 0;

	if (h->lock->nuntold == 0)
		return 0;
	/* Each is one level of its depth; mostly the first one is all. */
	TAILQ_FOREACH (w, &h->owner->granted, in_owner) {
		n += w->hold == h;
		if (n == hold_depth(h))
			break;
	}
	return n;
}

void
hold_keep_until(struct hold *h, int64_t at_ms)
{
	if (at_ms > hold_terms(h)->keep_until_ms)
		terms(h)->keep_until_ms = at_ms;
	if (at_ms > more_of(h->lock)->most_keep_until_ms)
		need_more(h->lock)->most_keep_until_ms = at_ms;
}

void
hold_promise_nothing(struct hold *h)
{
	if (h->terms == NULL)
		return;
	h->terms->delay_ms = 0;
	h->terms->keep_until_ms = h->terms->before_ms;
}

/* Raises keep and delay to what w asks for; a grant never lowers them. */
static void
lengthen(struct core *core, struct hold *h, const struct waiter *w)
{
	if (w->keep_ms > 0)
		hold_keep_until(h, core->now_ms + w->keep_ms);
	if (w->delay_ms > hold_terms(h)->delay_ms)
		terms(h)->delay_ms = w->delay_ms;
	if (w->delay_ms > more_of(h->lock)->most_delay_ms)
		need_more(h->lock)->most_delay_ms = w->delay_ms;
	if (h->terms == NULL || h->terms->binds ||
	    (h->terms->keep_until_ms == 0 && h->terms->delay_ms == 0))
		return;
	h->terms->binds = true;
	unowned_bind(core, h->lock, 1);
}

static void
to_be_told(struct hold *h, struct waiter *w)
{
	w->hold = h;
	w->fence = h->fence;
	w->depth = hold_depth(h);
}

struct hold *
hold_new(struct core *core, struct waiter *w, uint64_t fence)
{
	struct hold *h = pool_take(&core->locks->holds);
	struct owner *owner = w->owner;
	struct lock *l = w->lock;

	h->owner = owner;
	h->lock = l;
	h->fence = fence;
	h->since_ms = core->now_ms;
	measured_begins(core, h, w);
	TAILQ_INSERT_TAIL(&owner->holds, h, in_owner);
	join_holders(l, h);
	owner->nholds++;
	core->locks->nholds++;
	owner_take_lost(owner, l->name, l->name_len);
	if (lease_rare(&l->lease)->linger_ms >
	    core->now_ms) { /* a keep goes on */
		hold_keep_until(h, lease_rare(&l->lease)->linger_ms);
		h->terms->before_ms = lease_rare(&l->lease)->linger_ms;
	}
	lengthen(core, h, w);
	hold_bind(core, h,
	    w->has_hold ? w->hold_ms : core->config.locks.default_hold_ms);
	to_be_told(h, w);
	valid_note(core, owner, hold_valid_ms(core, h));
	return h;
}

void
hold_reenter(struct core *core, struct hold *h, struct waiter *w)
{
	terms(h)->reentries++;
	lengthen(core, h, w);
	to_be_told(h, w);
}

void
hold_told(struct core *core, struct waiter *w)
{
	struct hold *h = w->hold;

	notify_granted(core, w);
	w->result = RESULT_GRANTED;
	if (h != NULL && w->depth > 1 && w->has_hold)
		hold_bind(core, h, w->hold_ms);
}

void
hold_upgrade(
    struct core *core, struct hold *h, struct waiter *w, uint64_t fence)
{
	assert(h->lock->nholders == 1 && fence > h->fence);
	h->fence = fence;
	hold_reenter(core, h, w);
}

void
hold_bind(struct core *core, struct hold *h, int64_t hold_ms)
{
	int64_t most_ms = core->config.locks.max_hold_ms;

	if (most_ms > 0 && (hold_ms == 0 || hold_ms > most_ms))
		hold_ms = most_ms;
	if (hold_ms > 0) {
		terms(h)->hold_ms = hold_ms;
		core_arm(core, &h->terms->bound, core->now_ms + hold_ms);
		valid_note(core, h->owner, core->now_ms + hold_ms);
	} else if (h->terms != NULL) {
		h->terms->hold_ms = 0;
		core_disarm(core, &h->terms->bound);
	}
}

void
hold_timer(struct core *core, struct timer *t)
{
	struct hold *h = container_of(t, struct terms, bound)->hold;
	struct lock *l = h->lock;

	/* The bound begins to count when a grant is told. */
	if (untold(h) == hold_depth(h)) {
		core_arm(
		    core, &h->terms->bound, core->now_ms + h->terms->hold_ms);
		return;
	}
	hold_lose(core, h, "hold", NULL);
	lock_next(core, l);
}

/*
 * The hold ends: its grants that wait to be told forget it, and move to the end
 * of the session's list.  So if very many untold holds are lost in the order of
 * their grants, the next one is near the head.
 */
static void
forget_untold(struct hold *h, bool withdrawn)
{
	struct waiter_list *granted = &h->owner->granted;
	uint32_t left = untold(h);
	struct waiter *w, *next;

	TAILQ_FOREACH_SAFE (w, granted, in_owner, next) {
		if (left == 0)
			return;
		if (w->hold != h)
			continue;
		left--;
		w->hold = NULL;
		w->withdrawn = withdrawn;
		TAILQ_REMOVE(granted, w, in_owner);
		TAILQ_INSERT_TAIL(granted, w, in_owner);
	}
}

struct hold *
hold_later(const struct hold *h)
{
	return TAILQ_PREV(h, holder_list, in_lock);
}

static void
hold_free(struct core *core, struct hold *h)
{
	core->locks->above->hold_leaves(core, h);
	measured_freed(core, h);
	valid_leave_hold(core, h->owner, h, TAILQ_NEXT(h, in_owner));
	if (h->owner->going_next == h)
		h->owner->going_next = TAILQ_NEXT(h, in_owner);
	TAILQ_REMOVE(&h->owner->holds, h, in_owner);
	sharers_leave_hold(h);
	leave_holders(h->lock, h);
	h->owner->nholds--;
	core->locks->nholds--;
	if (hold_terms(h)->gone)
		unowned_hold_ended(core, h->lock);
	if (h->terms != NULL && h->terms->binds)
		unowned_bind(core, h->lock, -1);
	if (h->terms != NULL)
		core_disarm(core, &h->terms->bound);
	free(h->terms);
	pool_give(&core->locks->holds, h);
}

static void
end_hold(struct core *core, struct hold *h, bool clean)
{
	const struct terms *t = hold_terms(h);
	int64_t until_ms = t->keep_until_ms;

	if (!clean && t->delay_ms > 0)
		until_ms = max_ms(until_ms, core->now_ms + t->delay_ms);
	if (until_ms > core->now_ms)
		lock_linger(core, h, until_ms);
	core->stats.releases++;
	hold_free(core, h);
}

void
hold_end(struct core *core, struct hold *h, bool clean)
{
	notify_released(core, h);
	forget_untold(h, false);
	end_hold(core, h, clean);
}

void
hold_lose(struct core *core, struct hold *h, const char *reason, const char *by)
{
	struct owner *owner = h->owner;
	struct lock *l = h->lock;

	if (hold_depth(h) > untold(h)) {
		emit_event(core, owner->id, EVENT_LOST, l->name, l->name_len);
		emit_num(core, FIELD_FENCE, h->fence);
		emit_str(core, FIELD_REASON, reason, strlen(reason));
		notify_lost(core, h, reason);
		measured_lost(core, h, reason, by);
		owner_note_lost(core, owner, l->name, l->name_len);
		core->stats.lost++;
	} else {
		hold_promise_nothing(h);
		core->stats.withdrawn++;
	}
	forget_untold(h, true);
	end_hold(core, h, false);
}

int64_t
hold_valid_ms(const struct core *core, const struct hold *h)
{
	int64_t at_ms = tenure_deadline_ms(core, &h->lock->lease.tenure);
	const struct timer *bound = &hold_terms(h)->bound;
	int64_t bound_ms;

	if (!timer_armed(bound))
		return at_ms;
	bound_ms = core_armed_ms(core, bound);
	return min_ms(bound_ms, at_ms);
}
