/*
 * A name as the lessee of the term of its lease, and a hold as a holding: who
 * loses the name, who is told of a risk (lease/tell.h), and who lets it go.
 */
#include "config.h"

#include "core/kernel/lease/tell.h"
#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/turn/emit.h"

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

/* The next client to take the name may count on hearing of a risk. */
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
static struct holding *
loser(struct term *t, const struct loss *loss)
{
	struct holding *h = TAILQ_LAST(&leased(t)->holders, holding_list);

	return h != NULL && h->since_ms <= loss->since_ms ? h : NULL;
}

/* Risks. */

static struct holding *
first(const struct term *t)
{
	return TAILQ_FIRST(&seen(t)->holders);
}

static struct cursors *
cursors_of(struct term *t)
{
	return &lock_need_rare(leased(t))->cursors;
}

static struct telling **
telling(struct term *t)
{
	return &lock_need_rare(leased(t))->telling;
}

const struct term_lessee lock_of_term = {
	.kind = TERM_LEASE,
	.name = name_of,
	.in_use = always,
	.users = users,
	.lost = run_out,
	.risk_changed = tell_risk,
	.loser = loser,
	.touch = touch,
	.first = first,
	.cursors = cursors_of,
	.telling = telling,
};

/* As a holding. */

/* The name goes to no other client while one still counts on the valid=. */
static void
outlive(struct core *core, struct holding *holding, int64_t valid_ms)
{
	struct hold *h = hold_of(holding);

	hold_promise_until(h, valid_ms + core->pad_ms + hold_rare(h)->delay_ms);
}

/* The next waiter may have the name before the owner releases its next hold. */
static void
let_go(struct core *core, struct holding *holding, bool clean)
{
	struct hold *h = hold_of(holding);
	struct lock *l = h->lock;

	if (core->stopping && !clean)
		LOCK_HOOK(stopped, core, h);
	hold_give_back(core, h, "dropped", clean);
	lock_next(core, l);
}

static void
drop(struct core *core, struct holding *holding)
{
	hold_end(core, hold_of(holding), true);
}

/*
 * If the lease is over sooner than the broker had thought, the server's clock
 * has gained on its own.  A client without a connection does not hear of it,
 * and may count on a valid= that it was told.
 */
static void
lose(struct core *core, struct holding *holding, const struct loss *loss)
{
	struct hold *h = hold_of(holding);
	int64_t promised_ms = holding->owner->promised_ms;

	if (loss->tell_by)
		LOCK_HOOK(forced, core, h->lock, h, loss->by);
	if (loss->by == NULL && promised_ms > core->now_ms)
		outlive(core, holding, promised_ms);
	hold_lose(core, h, loss->reason, loss->by);
}

static void
warn(struct core *core, const struct holding *holding, enum event_id event,
    int64_t left_ms)
{
	const struct hold *h = hold_seen(holding);

	if (hold_rare(h)->forfeited)
		return;
	emit_event(
	    core, holding->owner->id, event, h->lock->name, h->lock->name_len);
	emit_num(core, FIELD_FENCE, hold_told_fence(h));
	if (event == EVENT_ATRISK)
		emit_num(core, FIELD_LEFT, (uint64_t)left_ms);
	LOCK_HOOK(risk, core, h, event == EVENT_SAFE, left_ms);
}

const struct holding_class hold_class = {
	.kind = HOLDING_NAME,
	.valid_ms = hold_valid_ms,
	.outlive = outlive,
	.let_go = let_go,
	.drop = drop,
	.lose = lose,
	.warn = warn,
};
