/*
 * Tells all holders of a name something, in parts.
 *
 * A loss can't be overtaken: while it goes on, no other event reaches the core,
 * and lock_next() leaves the name alone.  A warning can: whoever takes or gives
 * back the name meanwhile is told, or not, as it happens, and the next warning
 * ends one that is under way.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/lock/hold.h"
#include "core/lock/names.h"
#include "core/lock/notify.h"
#include "core/lock/sharers.h"
#include "core/turn/emit.h"
#include "core/turn/work.h"

/* So many are told at once, however much work the step has done. */
#define FEW 8

/* Losses. */

/*
 * The lease is over sooner than the broker had thought: the server's clock has
 * gained on its own.  A client that is not there does not hear of it, and may
 * count on a valid= that it was told.
 */
static void
keep_promise(const struct core *core, struct hold *h)
{
	int64_t until_ms = h->owner->promised_ms;

	if (until_ms > core->now_ms)
		hold_promise_until(
		    h, until_ms + core->pad_ms + hold_rare(h)->delay_ms);
}

static void
lose(struct core *core, struct hold *h, const struct loss *loss)
{
	core_visit(core, 1);
	if (loss->tell_by)
		notify_forced(core, h->lock, h, loss->by);
	if (loss->by == NULL)
		keep_promise(core, h);
	hold_lose(core, h, loss->reason, loss->by);
}

/* Begins with the oldest hold, which is last in the list.  True: all done. */
static bool
lose_some(
    struct core *core, struct lock *l, const struct loss *loss, unsigned few)
{
	struct hold *h;

	while ((h = TAILQ_LAST(&l->holders, holder_list)) != NULL &&
	       h->since_ms <= loss->since_ms) {
		if (few == 0 && !work_left(core))
			return false;
		few -= few > 0;
		lose(core, h, loss);
	}
	return true;
}

/* `by` may be in memory that is gone when the next step comes: hence the
 * copy. */
static void
lose_the_rest(struct core *core, struct lock *l, const struct loss *loss)
{
	struct sharers *c = sharers_begin(core, l, true);

	c->loss = *loss;
	if (loss->by == NULL)
		return;
	snprintf(c->by, sizeof(c->by), "%s", loss->by);
	c->loss.by = c->by;
}

/*
 * A loss that takes fewer holders with it than one that is under way adds
 * nothing.  One that takes more begins from the start: those that have lost the
 * name are no holders any more.
 */
void
sharers_lose(struct core *core, struct lock *l, const struct loss *loss)
{
	assert(loss->then != NULL && loss->reason != NULL);
	if (sharers_loses(l) &&
	    loss->since_ms <= lock_rare(l)->sharers->loss.since_ms)
		return;
	sharers_forget(core, l);
	if (lose_some(core, l, loss, FEW))
		loss->then(core, l, loss->since_ms);
	else
		lose_the_rest(core, l, loss);
}

/* The loss is copied, because `then` comes when its record is freed. */
bool
sharers_lose_on(struct core *core)
{
	struct sharers *c;
	struct loss loss;
	struct lock *l;

	while (work_left(core) &&
	       (c = TAILQ_FIRST(&core->locks->losing)) != NULL) {
		core_visit(core, 1);
		l = c->lock;
		assert(sharers_loses(l));
		if (!lose_some(core, l, &c->loss, 1))
			break;
		loss = c->loss;
		sharers_forget(core, l);
		lock_touch(core, l);
		loss.then(core, l, loss.since_ms);
	}
	return !TAILQ_EMPTY(&core->locks->losing);
}

/* If the holders are losing the name, this session loses it now. */
static void
sharers_lose_one(struct core *core, struct lock *l, const struct owner *owner)
{
	const struct sharers *c = lock_rare(l)->sharers;
	struct hold *h;

	if (!sharers_loses(l))
		return;
	h = hold_find(core, l, owner);
	if (h != NULL && h->since_ms <= c->loss.since_ms)
		lose(core, h, &c->loss);
}

/* Timers run at the start of a step, but in a bounded number.  So an event may
 * meet a lease whose end has not been handled yet. */
void
lock_look(struct core *core, struct lock *l, const struct owner *owner)
{
	if (term_overdue(core, &l->lease.term))
		term_run_out(core, &l->lease.term);
	sharers_lose_one(core, l, owner);
}

/* Warnings. */

static void
warn_holder(struct core *core, const struct hold *h, enum event_id event)
{
	const struct lock *l = h->lock;
	int64_t left_ms = term_deadline_ms(core, &l->lease.term) - core->now_ms;

	if (left_ms < 0)
		left_ms = 0;
	core_visit(core, 1);
	emit_event(core, h->owner->id, event, l->name, l->name_len);
	emit_num(core, FIELD_FENCE, h->fence);
	if (event == EVENT_ATRISK)
		emit_num(core, FIELD_LEFT, (uint64_t)left_ms);
	notify_risk(core, h, event == EVENT_SAFE, left_ms);
}

/* At worst, a holder is told SAFE that was never told ATRISK. */
void
sharers_tell(struct core *core, struct lock *l, enum event_id event)
{
	struct hold *h = TAILQ_FIRST(&l->holders);
	struct sharers *c;
	unsigned n;

	assert(event == EVENT_ATRISK || event == EVENT_SAFE);
	if (sharers_loses(l))
		return;
	sharers_forget(core, l);
	for (n = 0; h != NULL && (n < FEW || work_left(core)); n++) {
		warn_holder(core, h, event);
		h = TAILQ_NEXT(h, in_lock);
	}
	if (h == NULL)
		return;
	c = sharers_begin(core, l, false);
	c->event = event;
	cursor_begin(
	    &l->rare->cursors, &c->next, h, offsetof(struct hold, in_lock));
}

bool
sharers_tell_on(struct core *core)
{
	const struct hold *h;
	struct sharers *c;

	while (work_left(core) &&
	       (c = TAILQ_FIRST(&core->locks->warning)) != NULL) {
		core_visit(core, 1);
		while ((h = cursor_take(&c->next)) != NULL) {
			warn_holder(core, h, c->event);
			if (!work_left(core))
				break;
		}
		if (c->next.at != NULL)
			break;
		sharers_forget(core, c->lock);
	}
	return !TAILQ_EMPTY(&core->locks->warning);
}
