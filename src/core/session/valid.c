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
load(const struct session *s)
{
	return s->nholds + s->npermits;
}

void
valid_plan(struct core *core, struct valid *v)
{
	core_arm(core, &v->timer,
	    core->now_ms + core->config.lease_ms / WALKS_A_LEASE);
}

static void
begin(struct core *core, struct session *s)
{
	struct valid *v = xcalloc(1, sizeof(*v));

	v->session = s;
	v->timer.kind = TIMER_VALID;
	v->least_ms = v->next_ms = core->sessions->above->vouched_ms(core, s) +
				   core->sessions->gained_ms;
	s->valid = v;
	valid_plan(core, v);
}

static void
end(struct core *core, struct session *s)
{
	struct valid *v = s->valid;

	if (v->walking)
		TAILQ_REMOVE(&core->sessions->walking, v, in_walking);
	core_disarm(core, &v->timer);
	free(v);
	s->valid = NULL;
}

void
valid_note(struct core *core, struct session *s, int64_t at_ms)
{
	struct valid *v = s->valid;

	if (v == NULL) {
		if (load(s) > MANY)
			begin(core, s);
		return;
	}
	at_ms += core->sessions->gained_ms;
	v->least_ms = min_ms(v->least_ms, at_ms);
	v->next_ms = min_ms(v->next_ms, at_ms);
}

static void
left(struct core *core, struct session *s)
{
	if (load(s) <= FEW + 1)
		end(core, s);
}

void
valid_leave_hold(struct core *core, struct session *s, const struct hold *h,
    const struct hold *next)
{
	if (s->valid == NULL)
		return;
	if (s->valid->hold == h)
		s->valid->hold = next;
	left(core, s);
}

void
valid_leave_permits(struct core *core, struct session *s,
    const struct permits *p, const struct permits *next)
{
	if (s->valid == NULL)
		return;
	if (s->valid->permits == p)
		s->valid->permits = next;
	left(core, s);
}
