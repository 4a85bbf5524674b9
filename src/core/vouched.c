/*
 * The looks at what sessions hold, and the walks that find better bounds.
 *
 *	few things:  PING looks at each
 *	many:        PING takes the bound; valid.c arms a timer for when it has
 *	             come near; then a walk looks at all things, a part in each
 *	             step, and ends with a bound that counts from then on
 *
 * A new thing lowers the bound that a walk under way will end with
 * (valid_note()); a thing that goes moves the walk on (valid_leave_...()).
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

	assert(!v->walking);
	v->walking = true;
	v->next_ms = INT64_MAX;
	v->hold = TAILQ_FIRST(&v->owner->holds);
	v->permits = TAILQ_FIRST(&v->owner->permits);
	TAILQ_INSERT_TAIL(&core->owners->walking, v, in_walking);
	job_set(core, JOB_VOUCH, true);
}

/* Looks at one thing, and steps on before that may go. */
static void
come_by(struct core *core, struct valid *v)
{
	int64_t at_ms;

	if (v->hold != NULL) {
		at_ms = hold_valid_ms(core, v->hold);
		v->hold = TAILQ_NEXT(v->hold, in_owner);
	} else {
		at_ms = permits_valid_ms(core, v->permits);
		v->permits = TAILQ_NEXT(v->permits, in_owner);
	}
	at_ms += core->owners->gained_ms;
	v->next_ms = min_ms(v->next_ms, at_ms);
}

bool
vouched_run_on(struct core *core)
{
	struct valid *v;

	while (work_left(core) &&
	       (v = TAILQ_FIRST(&core->owners->walking)) != NULL) {
		core_visit(core, 1);
		if (v->hold != NULL || v->permits != NULL) {
			come_by(core, v);
			continue;
		}
		valid_walked(core, v);
	}
	return !TAILQ_EMPTY(&core->owners->walking);
}
