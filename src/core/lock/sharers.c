/*
 * A name as the lessee of the term of its lease: who loses it, and who is told
 * of a risk (lease/tell.h).
 */
#include "config.h"

#include "core/lease/tell.h"
#include "core/lock/hold.h"
#include "core/lock/lock.h"
#include "core/lock/names.h"
#include "core/lock/notify.h"
#include "core/turn/emit.h"
#include "core/turn/work.h"

static struct lock *
leased(struct term *t)
{
	return container_of(t, struct lock, lease.term);
}

static const struct lock *
seen(const struct term *t)
{
	return container_of_const(t, struct lock, lease.term);
}

static const char *
name_of(const struct term *t, size_t *len)
{
	*len = seen(t)->name_len;
	return seen(t)->name;
}

/* Whoever takes the name next may count on hearing of a risk. */
static bool
always(const struct term *t)
{
	(void)t;
	return true;
}

static uint64_t
users(const struct term *t)
{
	return seen(t)->nholders;
}

static void
touch(struct core *core, struct term *t)
{
	lock_touch(core, leased(t));
}

/* Only touches the name: what comes next for it waits until all losses of this
 * moment have been told (agenda.c). */
static void
run_out(struct core *core, struct term *t)
{
	lease_run_out(core, &leased(t)->lease);
	touch(core, t);
}

/* Losses. */

/* Begins with the oldest hold, which is last in the list. */
static void *
loser(struct term *t, const struct loss *loss)
{
	struct hold *h = TAILQ_LAST(&leased(t)->holders, holder_list);

	return h != NULL && h->since_ms <= loss->since_ms ? h : NULL;
}

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
lose(struct core *core, void *holder, const struct loss *loss)
{
	struct hold *h = holder;

	if (loss->tell_by)
		notify_forced(core, h->lock, h, loss->by);
	if (loss->by == NULL)
		keep_promise(core, h);
	hold_lose(core, h, loss->reason, loss->by);
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
	if (h != NULL && h->since_ms <= loss->since_ms) {
		core_visit(core, 1);
		lose(core, h, loss);
	}
}

/* Risks. */

static void *
first(const struct term *t)
{
	return TAILQ_FIRST(&seen(t)->holders);
}

static struct cursors *
cursors_of(struct term *t)
{
	return &lock_need_rare(leased(t))->cursors;
}

static void
warn(
    struct core *core, const void *holder, enum event_id event, int64_t left_ms)
{
	const struct hold *h = holder;

	emit_event(core, h->owner->id, event, h->lock->name, h->lock->name_len);
	emit_num(core, FIELD_FENCE, hold_told_fence(h));
	if (event == EVENT_ATRISK)
		emit_num(core, FIELD_LEFT, (uint64_t)left_ms);
	notify_risk(core, h, event == EVENT_SAFE, left_ms);
}

static struct telling **
telling(struct term *t)
{
	return &lock_need_rare(leased(t))->telling;
}

const struct term_lessee lock_of_term = {
	.name = name_of,
	.in_use = always,
	.users = users,
	.lost = run_out,
	.risk_changed = tell_risk,
	.loser = loser,
	.lose = lose,
	.touch = touch,
	.first = first,
	.in_holders = offsetof(struct hold, in_lock),
	.cursors = cursors_of,
	.warn = warn,
	.telling = telling,
};
