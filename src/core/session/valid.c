/*
 * The bounds: when they are kept, and what lowers them.
 */
#include "config.h"

#include <stdlib.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "core/session/valid.h"

#define MANY 64 /* of more, a bound is kept ... */
#define FEW 32	/* ... until there are so few */
#define WALKS_A_LEASE 8

static unsigned
load(const struct owner *owner)
{
	return owner->nholds + owner->npermits;
}

void
valid_plan(struct core *core, struct valid *v)
{
	core_arm(core, &v->timer,
	    core->now_ms + core->config.lease_ms / WALKS_A_LEASE);
}

static void
begin(struct core *core, struct owner *owner)
{
	struct valid *v = xcalloc(1, sizeof(*v));

	v->owner = owner;
	v->timer.kind = TIMER_VALID;
	v->least_ms = v->next_ms =
	    core->owners->above->vouched_ms(core, owner) +
	    core->owners->gained_ms;
	owner->valid = v;
	valid_plan(core, v);
}

static void
end(struct core *core, struct owner *owner)
{
	struct valid *v = owner->valid;

	if (v->walking)
		TAILQ_REMOVE(&core->owners->walking, v, in_walking);
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
			begin(core, owner);
		return;
	}
	at_ms += core->owners->gained_ms;
	v->least_ms = min_ms(v->least_ms, at_ms);
	v->next_ms = min_ms(v->next_ms, at_ms);
}

static void
left(struct core *core, struct owner *owner)
{
	if (load(owner) <= FEW + 1)
		end(core, owner);
}

void
valid_leave_hold(struct core *core, struct owner *owner, const struct hold *h,
    const struct hold *next)
{
	if (owner->valid == NULL)
		return;
	if (owner->valid->hold == h)
		owner->valid->hold = next;
	left(core, owner);
}

void
valid_leave_permits(struct core *core, struct owner *owner,
    const struct permits *p, const struct permits *next)
{
	if (owner->valid == NULL)
		return;
	if (owner->valid->permits == p)
		owner->valid->permits = next;
	left(core, owner);
}
