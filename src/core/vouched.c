/*
 * The looks at what sessions hold, and the walks that find better bounds.
 *
 *	few things:  PING looks at each
 *	many:        PING takes the bound; valid.c arms a timer for when it has
 *	             come near; then a walk looks at all things, a part in each
 *	             step, and ends with a bound that counts from then on
 *
 * A new thing lowers the bound that a walk under way will end with
 * (valid_note()).
 */
#include "config.h"

#include "base/times.h"
#include "core/lock/hold.h"
#include "core/sync/semaphore.h"
#include "core/turn/job.h"
#include "core/turn/work.h"
#include "core/vouched.h"

/* Requires that the owner has few things: the step looks at all of them. */
int64_t
vouched_look_up(struct core *core, const struct owner *owner)
{
	const struct permits *p;
	const struct hold *h;
	int64_t least_ms = INT64_MAX;

	core_visit(core, owner->nholds + owner->npermits);
	TAILQ_FOREACH (h, &owner->holds, in_owner)
		least_ms = min_ms(least_ms, hold_valid_ms(core, h));
	TAILQ_FOREACH (p, &owner->permits, in_owner)
		least_ms = min_ms(least_ms, permits_valid_ms(core, p));
	return least_ms;
}

/* Bounds are kept as if no clock had ever gained.  All that clocks have gained
 * since the core began is taken off here, from all bounds at once. */
int64_t
vouched_ms(struct core *core, struct owner *owner)
{
	if (owner->valid == NULL)
		return vouched_look_up(core, owner);
	valid_asked(core, owner->valid);
	return owner->valid->least_ms - core->owners->gained_ms;
}

/* The bound that the walk will end with begins with nothing, and is lowered by
 * each thing that the walk comes by, and by each new one. */
void
vouched_timer(struct core *core, struct timer *t)
{
	struct valid *v = container_of(t, struct valid, timer);

	v->next_ms = INT64_MAX;
	owner_walk(core, v->owner, WALK_VOUCHED);
}

static void
begin_vouched(struct owner *owner, struct cursor *at)
{
	cursor_begin(&owner->cursors, &at[0], TAILQ_FIRST(&owner->holds),
	    offsetof(struct hold, in_owner));
	cursor_begin(&owner->cursors, &at[1], TAILQ_FIRST(&owner->permits),
	    offsetof(struct permits, in_owner));
}

/* Looks at one thing.  Returns false if none was left. */
static bool
come_by(struct core *core, struct owner *owner, struct cursor *at)
{
	const struct hold *h = cursor_take(&at[0]);
	const struct permits *p = h == NULL ? cursor_take(&at[1]) : NULL;
	struct valid *v = owner->valid;
	int64_t at_ms;

	if (h == NULL && p == NULL) {
		valid_walked(core, v);
		return false;
	}
	at_ms = h != NULL ? hold_valid_ms(core, h) : permits_valid_ms(core, p);
	at_ms += core->owners->gained_ms;
	v->next_ms = min_ms(v->next_ms, at_ms);
	return true;
}

bool
vouched_run_on(struct core *core)
{
	return owner_walk_on(core, WALK_VOUCHED, begin_vouched, come_by);
}
