/*
 * The bounds: when they are kept, and what lowers them.
 *
 * A bound is stored as if no clock of a server had ever gained on ours: all
 * that clocks have gained until now is added to it, and what they have gained
 * by the time when it is read is taken off.  So a gain makes all bounds earlier
 * at once, and nobody has to look for them.
 */
#include "config.h"

#include <stdlib.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/session/valid.h"
#include "core/turn/job.h"

#define MANY 64 /* of more, a bound is kept ... */
#define FEW 32	/* ... until there are so few */

/*
 * A walk comes when the bound has come down to a part of a lease: to most of
 * what renewals keep it at if the client asks, and lower if it has not asked
 * for a lease, for then only the next PING must not find too little.  Between
 * two walks there is some time, whatever the bound is.
 */
#define LOW_IF_ASKED(lease_ms) ((lease_ms)*5 / 8)
#define LOW(lease_ms) ((lease_ms) / 3)
#define REST(lease_ms) ((lease_ms) / 8)

static unsigned
load(const struct owner *owner)
{
	return owner->nholds + owner->npermits;
}

/*
 * If the bound is low already, as when a server can't be reached, walks come as
 * often as REST allows, and find nothing better until renewals are confirmed.
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

void
valid_walked(struct core *core, struct valid *v)
{
	v->least_ms = v->next_ms;
	v->walked_ms = core->now_ms;
	owner_walk_not(core, v->owner, WALK_VOUCHED);
	plan_bound(core, v);
}

void
valid_asked(struct core *core, struct valid *v)
{
	v->asked_ms = core->now_ms;
	if (!v->owner->walks[WALK_VOUCHED])
		plan_bound(core, v);
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
	    core->owners->above->vouched_ms(core, owner) +
	    core->owners->gained_ms;
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
		if (load(owner) > MANY)
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
 * The bound stays until there are far fewer things than made it begin: one that
 * comes and goes costs nothing.  It is not raised for what is gone, but the
 * next walk finds that.
 */
void
valid_left(struct core *core, struct owner *owner)
{
	assert(load(owner) > 0);
	if (owner->valid != NULL && load(owner) <= FEW + 1)
		end(core, owner);
}
