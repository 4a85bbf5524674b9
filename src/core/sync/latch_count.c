/*
 * Latches that were made.
 *
 * The store frees a latch when nobody has used it for its ttl=, and tells
 * nobody.  So the broker counts a latch for one ttl= from its LATCH on, and
 * knows no more of it than that: there is no way from a name to its count.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/session/quota.h"
#include "core/session/share.h"
#include "core/sync/latch_count.h"

/* One LATCH that the broker answered with OK.  Its timer frees it. */
struct latch_count {
	LIST_ENTRY(latch_count) link;
	struct timer over;
	struct share *share;
};

/* The bound of one latch comes first: a shorter ttl= is the better advice. */
bool
latch_count_allowed(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	return quota_bounds(core, owner, rq->ref, "ttl=", "locks.max_ttl",
		   rq->ttl_ms, core->config.locks.max_ttl_ms) &&
	       quota_has_room(core, owner, rq->ref, 1,
		   "give latches a shorter ttl=, or make this one later");
}

void
latch_count_new(struct core *core, const struct owner *owner, int64_t ttl_ms)
{
	struct latch_count *m = xcalloc(1, sizeof(*m));

	assert(ttl_ms >= 0);
	m->over.kind = TIMER_LATCH_COUNT;
	LIST_INSERT_HEAD(&core->syncs->latch_counts, m, link);
	core->owners->nmade++;
	share_pass(core, &m->share, owner->user);
	core_arm(core, &m->over, core->now_ms + ttl_ms);
}

static void
latch_count_free(struct core *core, struct latch_count *m)
{
	assert(core->owners->nmade > 0);
	core_disarm(core, &m->over);
	LIST_REMOVE(m, link);
	core->owners->nmade--;
	share_give(core, &m->share);
	free(m);
}

void
latch_count_timer(struct core *core, struct timer *t)
{
	latch_count_free(core, container_of(t, struct latch_count, over));
}

void
latch_count_fini(struct core *core)
{
	while (!LIST_EMPTY(&core->syncs->latch_counts))
		latch_count_free(core, LIST_FIRST(&core->syncs->latch_counts));
}
