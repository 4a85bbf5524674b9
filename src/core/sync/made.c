/*
 * Latches that were made.
 *
 * The store frees a latch when nobody has used it for its ttl=, and tells
 * nobody.  So the broker counts a latch for one ttl= from its LATCH on, and
 * knows no more of it than that: there is no way from a name to its struct
 * made.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/session/quota.h"
#include "core/session/share.h"
#include "core/sync/made.h"

/* One LATCH that the broker answered with OK.  Its timer frees it. */
struct made {
	LIST_ENTRY(made) link;
	struct timer over;
	struct share *share;
};

/* The bound of one latch comes first: a shorter ttl= is the better advice. */
bool
made_allowed(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	return quota_bounds(core, owner, rq->ref, "ttl=", "locks.max_ttl",
		   rq->ttl_ms, core->config.locks.max_ttl_ms) &&
	       quota_has_room(core, owner, rq->ref, 1,
		   "give latches a shorter ttl=, or make this one later");
}

void
made_new(struct core *core, const struct owner *owner, int64_t ttl_ms)
{
	struct made *m = xcalloc(1, sizeof(*m));

	assert(ttl_ms >= 0);
	m->over.kind = TIMER_MADE;
	LIST_INSERT_HEAD(&core->syncs->made, m, link);
	core->owners->nmade++;
	share_pass(core, &m->share, owner->user);
	core_arm(core, &m->over, core->now_ms + ttl_ms);
}

static void
made_free(struct core *core, struct made *m)
{
	assert(core->owners->nmade > 0);
	core_disarm(core, &m->over);
	LIST_REMOVE(m, link);
	core->owners->nmade--;
	share_give(core, &m->share);
	free(m);
}

void
made_timer(struct core *core, struct timer *t)
{
	made_free(core, container_of(t, struct made, over));
}

void
made_fini(struct core *core)
{
	while (!LIST_EMPTY(&core->syncs->made))
		made_free(core, LIST_FIRST(&core->syncs->made));
}
