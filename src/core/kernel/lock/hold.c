/*
 * Holds: granted, re-entered, bounded, ended or lost.
 *
 * A hold begins with the grant, but its client hears of that only at the FLUSH.
 * In between it is *untold*: it counts against others like any hold, but it may
 * be taken back as if it had never been.  An untold hold that ends leaves no
 * keep and no delay of its own, its loss is not told, and its request waits on
 * if its client is there.
 *
 * Each grant of a hold, the first and every re-entry, has its own waiter, which
 * says what the FLUSH will tell of it.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/tell.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/session/notify.h"
#include "core/kernel/session/valid.h"
#include "core/kernel/turn/emit.h"
#include "core/kernel/turn/work.h"

bool
hold_take_back(struct hold *h, const struct waiter *w)
{
	struct waiter *other;
	struct claim *c;

	assert(w->hold == h && w->claim.granted);
	if (!hold_step_out(h))
		return false;
	hold_drop_upgrade(h, w);
	TAILQ_FOREACH (c, &h->holding.owner->granted, in_owner) {
		other = waiter_of(c);
		if (other != NULL && other->hold == h &&
		    other->depth > w->depth)
			other->depth--;
	}
	return true;
}

void
hold_drop_upgrade(struct hold *h, const struct waiter *w)
{
	const struct waiter *other;
	const struct claim *c;

	if (hold_rare(h)->shared_fence == 0)
		return;
	TAILQ_FOREACH (c, &h->holding.owner->granted, in_owner) {
		other = waiter_seen(c);
		if (other != NULL && other != w && other->hold == h &&
		    other->fence == h->fence)
			return;
	}
	h->fence = h->rare->shared_fence;
	h->rare->shared_fence = 0;
	h->lock->shared_hold = true;
}

uint64_t
hold_told_fence(const struct hold *h)
{
	uint64_t before = hold_rare(h)->shared_fence;

	return before != 0 ? before : h->fence;
}

/* How many of its grants wait for a FLUSH.  These are few, and this is called
 * rarely, so there is no counter. */
static uint32_t
untold(const struct hold *h)
{
	const struct waiter *w;
	const struct claim *c;
	uint32_t n = 0;

	if (h->lock->nuntold == 0)
		return 0;
	/* Each is one level of its depth; mostly the first one is all. */
	TAILQ_FOREACH (c, &h->holding.owner->granted, in_owner) {
		w = waiter_seen(c);
		n += w != NULL && w->hold == h;
		if (n == hold_depth(h))
			break;
	}
	return n;
}

uint32_t
hold_told_depth(const struct hold *h)
{
	return hold_depth(h) - untold(h);
}

bool
hold_was_told(const struct hold *h)
{
	return hold_told_depth(h) > 0;
}

/* What the client was told before, of this hold or of an earlier one, still
 * counts. */
void
hold_promise_told(struct hold *h)
{
	struct hold_rare *t = h->rare;

	if (t == NULL)
		return;
	t->delay_ms = t->told_delay_ms;
	t->keep_until_ms = t->told_keep_until_ms;
	h->fence = hold_told_fence(h);
	t->shared_fence = 0;
}

/* The client is told of a grant: what its request asked for is promised now. */
static void
promise(const struct core *core, struct hold *h, const struct waiter *w)
{
	int64_t keep_ms = w->keep_ms > 0 ? core->now_ms + w->keep_ms : 0;
	struct hold_rare *t = h->rare;

	assert(w->hold == h && h->lock == w->lock);
	if (t == NULL)
		return;
	if (w->fence == h->fence)
		t->shared_fence = 0;
	keep_ms = min_ms(keep_ms, t->keep_until_ms);
	t->told_keep_until_ms = max_ms(t->told_keep_until_ms, keep_ms);
	t->told_delay_ms = max_ms(t->told_delay_ms, w->delay_ms);
}

/*
 * Raises keep and delay to what w asks for; a grant never lowers them.  A hold
 * with either counts once as one that may become a reserved name (unowned.c).
 */
static void
lengthen(struct core *core, struct hold *h, const struct waiter *w)
{
	if (w->keep_ms > 0)
		hold_keep_until(h, core->now_ms + w->keep_ms);
	if (w->delay_ms > hold_rare(h)->delay_ms)
		hold_need_rare(h)->delay_ms = w->delay_ms;
	if (w->delay_ms > lock_rare(h->lock)->most_delay_ms)
		lock_need_rare(h->lock)->most_delay_ms = w->delay_ms;
	if (h->rare == NULL || h->rare->binds ||
	    (h->rare->keep_until_ms == 0 && h->rare->delay_ms == 0))
		return;
	h->rare->binds = true;
	lock_binds(core, h->lock, h->holding.owner);
}

void
lock_binds(struct core *core, struct lock *l, const struct owner *owner)
{
	lock_need_rare(l)->nbinding++;
	LOCK_HOOK(binds, core, l, owner);
}

/* When the last is gone, what holders and requests have asked for no longer
 * counts (lessee.c). */
void
lock_unbinds(struct core *core, struct lock *l)
{
	assert(lock_rare(l)->nbinding > 0);
	if (--l->rare->nbinding == 0)
		l->rare->most_keep_until_ms = l->rare->most_delay_ms = 0;
	LOCK_HOOK(unbinds, core, l);
}

static void
to_be_told(struct hold *h, struct waiter *w)
{
	assert(w->hold == NULL);
	w->hold = h;
	w->claim.owner->nuncounted++;
	w->fence = h->fence;
	w->depth = hold_depth(h);
}

int64_t
hold_valid_ms(const struct core *core, const struct holding *holding)
{
	const struct hold *h = hold_seen(holding);

	return holding_bounded_ms(core, &hold_rare(h)->bound,
	    term_deadline_ms(core, &h->lock->lease.term));
}

/*
 * The name may still linger, if the grant is to the session for which it does:
 * that keep goes on as part of this hold, and outlives it even if the grant is
 * never told.
 *
 * The bound is armed at once, as the grant is mostly told in the same turn; if
 * it is over before that, unlock_timer() begins it anew.
 */
struct hold *
hold_new(struct core *core, struct waiter *w, uint64_t fence)
{
	struct hold *h = freelist_take(&core->locks->holds);
	struct owner *owner = w->claim.owner;
	struct lock *l = w->lock;

	assert(term_vouched(core, &l->lease.term));
	assert(l->nholders == 0 || (w->shared && l->shared_hold));
	holding_begin(core, &h->holding, HOLDING_NAME, owner);
	h->lock = l;
	h->fence = fence;
	hold_set_waited(h, core->now_ms - w->claim.since_ms);
	LOCK_HOOK(begins, core, h, w);
	holders_join(l, h);
	term_used(core, &l->lease.term, 1);
	core->locks->nholds++;
	if (lease_rare(&l->lease)->linger_ms >
	    core->now_ms) { /* a keep goes on */
		hold_promise_until(h, lease_rare(&l->lease)->linger_ms);
	}
	lengthen(core, h, w);
	hold_bind(core, h,
	    w->has_hold ? w->hold_ms : core->config.locks.default_hold_ms);
	to_be_told(h, w);
	valid_note(core, owner, hold_valid_ms(core, &h->holding));
	return h;
}

/* A hold= of the re-entry takes effect when that is told (hold_told()). */
void
hold_reenter(struct core *core, struct hold *h, struct waiter *w)
{
	assert(h->holding.owner == w->claim.owner && h->lock == w->lock);
	hold_need_rare(h)->reentries++;
	lengthen(core, h, w);
	to_be_told(h, w);
}

void
hold_told(struct core *core, struct waiter *w)
{
	struct hold *h = w->hold;
	struct lock *l = w->lock;

	assert(w->claim.granted && !w->withdrawn);
	LOCK_HOOK(told, core, w);
	w->result = RESULT_GRANTED;
	/* A name that is locked again is no longer lost. */
	owner_take_lost(w->claim.owner, l->name, l->name_len);
	if (h != NULL)
		promise(core, h, w);
	if (h != NULL && w->depth > 1 && w->has_hold)
		hold_bind(core, h, w->hold_ms);
}

void
hold_upgrade(
    struct core *core, struct hold *h, struct waiter *w, uint64_t fence)
{
	assert(!w->shared && h->holding.owner == w->claim.owner);
	assert(h->lock->nholders == 1 && fence > h->fence);
	hold_need_rare(h)->shared_fence = h->fence;
	h->fence = fence;
	hold_reenter(core, h, w);
}

void
hold_bind(struct core *core, struct hold *h, int64_t hold_ms)
{
	hold_ms = holding_bound_ms(core, hold_ms);
	if (hold_ms > 0) {
		hold_need_rare(h)->hold_ms = hold_ms;
		core_arm(core, &h->rare->bound, core->now_ms + hold_ms);
		valid_note(core, h->holding.owner, core->now_ms + hold_ms);
	} else if (h->rare != NULL) {
		h->rare->hold_ms = 0;
		core_disarm(core, &h->rare->bound);
	}
}

/*
 * The hold ends: its grants that wait to be told forget it, and move to the end
 * of the session's list.  So if very many untold holds are lost in the order of
 * their grants, the next one is near the head.
 */
static void
forget_untold(struct hold *h, bool withdrawn)
{
	struct claim_list *granted = &h->holding.owner->granted;
	uint32_t left = untold(h);
	struct claim *c, *next;
	struct waiter *w;

	TAILQ_FOREACH_SAFE (c, granted, in_owner, next) {
		if (left == 0)
			return;
		w = waiter_of(c);
		if (w == NULL || w->hold != h)
			continue;
		left--;
		waiter_drop_hold(w);
		w->withdrawn = withdrawn;
		TAILQ_REMOVE(granted, c, in_owner);
		TAILQ_INSERT_TAIL(granted, c, in_owner);
	}
}

static void
hold_free(struct core *core, struct hold *h)
{
	assert(core->locks->nholds > 0);
	LOCK_HOOK(ends, core, h);
	holders_leave(h->lock, h);
	term_used(core, &h->lock->lease.term, -1);
	holding_end(core, &h->holding);
	core->locks->nholds--;
	if (hold_rare(h)->gone) {
		assert(lock_rare(h->lock)->ngone > 0);
		h->lock->rare->ngone--;
		LOCK_HOOK(unbinds, core, h->lock);
	}
	if (h->rare != NULL && h->rare->binds)
		lock_unbinds(core, h->lock);
	if (h->rare != NULL)
		core_disarm(core, &h->rare->bound);
	free(h->rare);
	freelist_give(&core->locks->holds, h);
}

/*
 * Others get the name when the keep is over.  A session that did not let go
 * itself may still be at work, so its delay, which begins now, keeps others
 * away as well.
 */
static void
end_hold(struct core *core, struct hold *h, bool clean)
{
	const struct hold_rare *t = hold_rare(h);
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
	LOCK_HOOK(ended, core, h);
	hold_promise_told(h);
	forget_untold(h, false);
	end_hold(core, h, clean);
}

/* For the log, the measurements and the history. */
static void
note_lost(
    struct core *core, const struct hold *h, const char *reason, const char *by)
{
	LOCK_HOOK(lost, core, h, reason, by);
	core->stats.lost++;
}

/* A client that releases a lock at risk mostly does so because of the risk, and
 * stops its work: operators must hear of that as of a loss.  Of what was
 * forfeited they have heard. */
void
hold_give_back(struct core *core, struct hold *h, const char *end, bool clean)
{
	struct lock *l = h->lock;

	if (hold_rare(h)->forfeited) {
		hold_end(core, h, clean);
		return;
	}
	if (h->lock->lease.term.state == TERM_ATRISK)
		note_lost(core, h, NOTIFY_GIVEN_UP, NULL);
	else
		LOCK_HOOK(given_back, core, h, end);
	hold_end(core, h, clean);
	if (clean)
		LOCK_HOOK(released, core, l);
}

static void
tell_lost(struct core *core, struct hold *h, const char *reason, const char *by)
{
	struct owner *owner = h->holding.owner;
	struct lock *l = h->lock;

	if (!hold_rare(h)->forfeited) {
		emit_event(core, owner->id, EVENT_LOST, l->name, l->name_len);
		emit_num(core, FIELD_FENCE, h->fence);
		emit_str(core, FIELD_REASON, reason, strlen(reason));
		owner_note_lost(core, owner, l->name, l->name_len);
	}
	note_lost(core, h, reason, by);
}

void
hold_forfeit(
    struct core *core, struct hold *h, const char *reason, const char *by)
{
	assert(hold_told_depth(h) == 1 && !hold_rare(h)->forfeited);
	hold_promise_told(h);
	tell_lost(core, h, reason, by);
	forget_untold(h, true);
	hold_need_rare(h)->forfeited = true;
}

/*
 * The loss is told before the hold is freed, and so before any other client can
 * be granted the name.  A hold that was never told cannot be lost: the grant is
 * only withdrawn.
 */
void
hold_lose(struct core *core, struct hold *h, const char *reason, const char *by)
{
	assert(reason != NULL && h->lock->nholders > 0);
	hold_promise_told(h);
	if (hold_was_told(h))
		tell_lost(core, h, reason, by);
	else
		core->stats.withdrawn++;
	forget_untold(h, true);
	end_hold(core, h, false);
}

/* Timers run at the start of a step, but in a bounded number.  So an event may
 * meet a lease whose end has not been handled yet. */
void
lock_look(struct core *core, struct lock *l, const struct owner *owner)
{
	const struct loss *loss;
	struct hold *h;

	if (term_overdue(core, &l->lease.term))
		term_run_out(core, &l->lease.term);
	if (!l->lease.term.losing)
		return;
	loss = tell_losing(core, &l->lease.term);
	h = hold_find(core, l, owner);
	if (h != NULL && h->holding.since_ms <= loss->since_ms) {
		core_visit(core, 1);
		holding_class(core, &h->holding)->lose(core, &h->holding, loss);
	}
}
