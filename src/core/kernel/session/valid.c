/*
 * The bounds: when they are kept, what lowers them, and the walks that find
 * better ones.
 *
 *	few things:  PING looks at each
 *	many:        PING takes the bound; a timer runs out when it has come near;
 *	             then a walk looks at all things, a part in each step, and
 *	             ends with a bound that counts from then on
 *
 * A bound is stored as if no clock of a server had ever gained on ours: all
 * that clocks have gained until now is added to it, and what they have gained
 * by the time when it is read is taken off.  So a gain makes all bounds earlier
 * at once, without a search for them.
 */
#include "config.h"

#include <stdlib.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/kernel/session/holding.h"
#include "core/kernel/session/valid.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"

#define MANY 64 /* of more, a bound is kept ... */
#define FEW 32	/* ... until there are this few */

/*
 * A walk comes when the bound has come down to a part of a lease: to most of
 * what renewals keep it at if the client asks, and lower if it has not asked
 * for a lease, because then only the next PING must not find too little.
 * Between two walks there is some time, whatever the bound is.
 */
#define LOW_IF_ASKED(lease_ms) ((lease_ms)*5 / 8)
#define LOW(lease_ms) ((lease_ms) / 3)
#define REST(lease_ms) ((lease_ms) / 8)

static int64_t
vouched_ms(const struct core *core, const struct holding *h)
{
	return holding_class(core, h)->valid_ms(core, h);
}

/* Requires that the owner has few things: the step looks at all of them. */
static int64_t
look_up(struct core *core, const struct owner *owner)
{
	const struct holding *h;
	int64_t least_ms = INT64_MAX;
	unsigned kind;

	core_visit(core, owner_has(owner));
	for (kind = 0; kind < HOLDING_KINDS; kind++)
		TAILQ_FOREACH (h, &owner->holdings[kind], in_owner)
			least_ms = min_ms(least_ms, vouched_ms(core, h));
	return least_ms;
}

/*
 * If the bound is low already, for example when a server cannot be reached,
 * walks come as often as REST allows, and find nothing better until renewals
 * are confirmed.
 */
static void
plan_bound(struct core *core, struct valid *v)
{
	int64_t lease_ms = core->config.lease_ms;
	bool asked = core->now_ms - v->asked_ms < lease_ms;
	int64_t low_ms = asked ? LOW_IF_ASKED(lease_ms) : LOW(lease_ms);

	assert(!v->owner->walks[WALK_VOUCHED]);
	core_arm(core, &v->timer,
	    max_ms(v->least_ms - core->owners->gained_ms - low_ms,
		v->walked_ms + REST(lease_ms)));
}

/* A walk is over: its bound counts from now on. */
static void
end_walk(struct core *core, struct valid *v)
{
	v->least_ms = v->next_ms;
	v->walked_ms = core->now_ms;
	owner_walk_not(core, v->owner, WALK_VOUCHED);
	plan_bound(core, v);
}

/* Bounds are kept as if no clock had ever gained.  All that clocks have gained
 * since the core began is taken off here, from all bounds at once. */
int64_t
valid_until_ms(struct core *core, struct owner *owner)
{
	struct valid *v = owner->valid;

	if (v == NULL)
		return look_up(core, owner);
	v->asked_ms = core->now_ms;
	if (!owner->walks[WALK_VOUCHED])
		plan_bound(core, v);
	return v->least_ms - core->owners->gained_ms;
}

/* Looks at all things in one step, for the last time: they have passed MANY. */
static void
begin_bound(struct core *core, struct owner *owner)
{
	struct valid *v = xcalloc(1, sizeof(*v));

	assert(owner->valid == NULL);
	v->owner = owner;
	v->timer.kind = TIMER_VALID;
	v->least_ms = v->next_ms =
	    look_up(core, owner) + core->owners->gained_ms;
	v->asked_ms = v->walked_ms = core->now_ms;
	owner->valid = v;
	plan_bound(core, v);
}

static void
end(struct core *core, struct owner *owner)
{
	struct valid *v = owner->valid;

	owner_walk_not(core, owner, WALK_VOUCHED);
	core_disarm(core, &v->timer);
	free(v);
	owner->valid = NULL;
}

void
valid_note(struct core *core, struct owner *owner, int64_t at_ms)
{
	struct valid *v = owner->valid;

	if (v == NULL) {
		if (owner_has(owner) > MANY)
			begin_bound(core, owner);
		return;
	}
	at_ms += core->owners->gained_ms;
	/* A walk that is under way may have passed the place. */
	v->next_ms = min_ms(v->next_ms, at_ms);
	if (at_ms >= v->least_ms)
		return;
	v->least_ms = at_ms;
	if (!v->owner->walks[WALK_VOUCHED])
		plan_bound(core, v);
}

/*
 * The bound stays until there are far fewer things than when it began: one that
 * comes and goes costs nothing.  It is not raised for things that are gone, but
 * the next walk takes that into account.
 */
void
valid_left(struct core *core, struct owner *owner)
{
	assert(owner_has(owner) > 0);
	if (owner->valid != NULL && owner_has(owner) <= FEW + 1)
		end(core, owner);
}

/* Walks. */

/* The bound that the walk will end with starts without a limit, and is lowered
 * by each thing that the walk visits, and by each new one. */
void
valid_timer(struct core *core, struct timer *t)
{
	struct valid *v = container_of(t, struct valid, timer);

	v->next_ms = INT64_MAX;
	owner_walk(core, v->owner, WALK_VOUCHED);
}

static void
begin_walk(struct owner *owner, struct cursor *at)
{
	unsigned kind;

	for (kind = 0; kind < HOLDING_KINDS; kind++)
		cursor_begin(&owner->cursors, &at[kind],
		    TAILQ_FIRST(&owner->holdings[kind]),
		    offsetof(struct holding, in_owner));
}

/* Looks at one thing.  Returns false if none was left. */
static bool
come_by(struct core *core, struct owner *owner, struct cursor *at)
{
	struct valid *v = owner->valid;
	const struct holding *h = NULL;
	unsigned kind;

	for (kind = 0; kind < HOLDING_KINDS && h == NULL; kind++)
		h = cursor_take(&at[kind]);
	if (h == NULL) {
		end_walk(core, v);
		return false;
	}
	v->next_ms =
	    min_ms(v->next_ms, vouched_ms(core, h) + core->owners->gained_ms);
	return true;
}

bool
valid_run_on(struct core *core)
{
	return owner_walk_on(core, WALK_VOUCHED, begin_walk, come_by);
}
