/*
 * The slices are a ring that covers more than a third of a lease; each knows
 * which slice of time it stands for at present.  A lease that ends before its
 * renewal stays counted, which does little harm: so do all others.
 */
#include "config.h"

#include "core/lease_parts.h"
#include "core/pace.h"

#define A_THIRD (PACE_SLICES / 2) /* of a lease, in slices */

static struct slice *
slice_at(struct core *core, int64_t at_ms)
{
	int64_t number = at_ms * A_THIRD / (core->config.lease_ms / 3);
	struct slice *slice = &core->pace[number % PACE_SLICES];

	if (slice->number != number)
		*slice = (struct slice){ .number = number };
	return slice;
}

/* The latest moment in a slice with room; 0: there is none. */
static int64_t
find_room(struct core *core, int64_t at_ms, int64_t early_ms, uint32_t share)
{
	int64_t slice_ms = core->config.lease_ms / 3 / A_THIRD;
	int64_t end_ms = at_ms - early_ms;

	for (; at_ms > end_ms; at_ms -= slice_ms)
		if (slice_at(core, at_ms)->planned < share)
			return at_ms;
	return 0;
}

int64_t
pace_plan(struct core *core, int64_t at_ms, int64_t early_ms)
{
	uint32_t share = core->nlocks / A_THIRD + 1;
	int64_t plan_ms = at_ms - core_jitter(core, early_ms), other_ms;

	if (slice_at(core, plan_ms)->planned >= share) {
		other_ms = find_room(core, at_ms, early_ms, share);
		plan_ms = other_ms > 0 ? other_ms : plan_ms;
	}
	slice_at(core, plan_ms)->planned++;
	return plan_ms;
}
