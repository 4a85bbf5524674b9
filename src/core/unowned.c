/*
 * Names that bind others though nobody has them: those under a keep= or a
 * delay=, and those whose client is gone and may still count on a valid=.
 * Nothing but time ends them, so that one client could leave any number of
 * them behind: hence a bound.
 *
 * It is kept by what is asked for, as nobody can refuse a client that goes: a
 * name with a keep= or delay= counts from the request on.  What is kept for a
 * valid= counts, too, but is refused to nobody; it is over within a lease.
 *
 * A latch is in the store, and of nobody.  It counts for the ttl= that it was
 * made with; that others use it longer is theirs.
 */
#include "config.h"

#include "base/human.h"
#include "base/xmalloc.h"
#include "core/lock.h"
#include "core/sync.h"
#include "core/turn/emit.h"
#include "core/unowned.h"

/* One LATCH that was answered OK.  Freed by its timer. */
struct made {
	LIST_ENTRY(made) link;
	struct timer over;
};

void
unowned_look(struct core *core, struct lock *l)
{
	const struct more *m = more_of(l);
	bool lingers, unowned, counts;

	if (l->more == NULL)
		return;
	lingers = m->linger_ms > core->now_ms;
	unowned = l->nholders == m->ngone && (m->ngone > 0 || lingers);
	counts = unowned || lingers || m->nbinding > 0;
	core->locks->nunowned += (uint64_t)unowned - l->unowned;
	core->locks->ncounted += (uint64_t)counts - l->counted;
	l->unowned = unowned;
	l->counted = counts;
}

void
unowned_forget(struct core *core, struct lock *l)
{
	core->locks->nunowned -= l->unowned;
	core->locks->ncounted -= l->counted;
	l->unowned = l->counted = false;
}

void
unowned_bind(struct core *core, struct lock *l, int by)
{
	need_more(l)->nbinding += (uint32_t)by;
	unowned_look(core, l);
}

void
unowned_gone(struct core *core, struct session *s, bool gone)
{
	struct hold *h;

	if (s->gone == gone)
		return;
	s->gone = gone;
	TAILQ_FOREACH (h, &s->holds, in_session) {
		need_more(h->lock)->ngone += gone ? 1u : UINT32_MAX;
		unowned_look(core, h->lock);
	}
}

void
unowned_hold_ended(struct core *core, struct lock *l)
{
	assert(more_of(l)->ngone > 0);
	l->more->ngone--;
	unowned_look(core, l);
}

/* False: there is no room for so many more, and that was answered. */
static bool
has_room(struct core *core, struct session *s, uint64_t ref, uint64_t more,
    const char *instead)
{
	uint64_t n =
	    core->locks->ncounted + core->syncs->nmade + core->syncs->nmaking;

	if (more == 0 || n + more <= core->config.limits.unowned)
		return true;
	emit_error(core, s->id, ref, ERR_LIMIT,
	    "this broker keeps %u names for nobody at most (limits.unowned),"
	    " and %llu are kept, or may have to be; %s",
	    core->config.limits.unowned, (unsigned long long)n, instead);
	return false;
}

static bool
in_bounds(struct core *core, struct session *s, uint64_t ref,
    const char *option, const char *setting, int64_t ms, int64_t most_ms)
{
	char most[HUMAN_SIZE];

	if (ms <= most_ms)
		return true;
	emit_error(core, s->id, ref, ERR_LIMIT, "%s may be %s at most (%s)",
	    option, human_ms(most, most_ms), setting);
	return false;
}

bool
unowned_allows(
    struct core *core, struct session *s, const struct core_request *rq)
{
	const struct lock *l;
	uint64_t more = 0;
	unsigned i;

	if (rq->keep_ms == 0 && rq->delay_ms == 0)
		return true;
	if (!in_bounds(core, s, rq->ref, "keep=", "locks.max_keep", rq->keep_ms,
		core->config.locks.max_keep_ms) ||
	    !in_bounds(core, s, rq->ref, "delay=", "locks.max_delay",
		rq->delay_ms, core->config.locks.max_delay_ms))
		return false;
	for (i = 0; i < rq->nnames; i++) {
		l = lock_find(core, rq->names[i].p, rq->names[i].n);
		more += l == NULL || !l->counted;
	}
	return has_room(
	    core, s, rq->ref, more, "ask later, or without keep= and delay=");
}

bool
unowned_allows_latch(
    struct core *core, struct session *s, const struct core_request *rq)
{
	return in_bounds(core, s, rq->ref, "ttl=", "locks.max_ttl", rq->ttl_ms,
		   core->config.locks.max_ttl_ms) &&
	       has_room(core, s, rq->ref, 1,
		   "give latches a shorter ttl=, or make this one later");
}

void
unowned_latch_made(struct core *core, int64_t ttl_ms)
{
	struct made *m = xcalloc(1, sizeof(*m));

	m->over.kind = TIMER_MADE;
	LIST_INSERT_HEAD(&core->syncs->made, m, link);
	core->syncs->nmade++;
	core_arm(core, &m->over, core->now_ms + ttl_ms);
}

static void
made_free(struct core *core, struct made *m)
{
	core_disarm(core, &m->over);
	LIST_REMOVE(m, link);
	core->syncs->nmade--;
	free(m);
}

void
unowned_latch_timer(struct core *core, struct timer *t)
{
	made_free(core, container_of(t, struct made, over));
}

void
unowned_fini(struct core *core)
{
	while (!LIST_EMPTY(&core->syncs->made))
		made_free(core, LIST_FIRST(&core->syncs->made));
}
