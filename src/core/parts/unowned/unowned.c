/*
 * Reserved names: they keep others away without a holder: those under a keep=
 * or a delay=, and those whose client is gone and may still count on a valid=.
 * Only time ends them, so one client could leave any number of them behind:
 * hence a bound.
 *
 * The bound is applied to requests, because no one can keep a client from going
 * away: a name with a keep= or delay= counts from the request on.  A name that
 * is kept for a valid= counts, too, but is never refused; it is over within a
 * lease.
 */
#include "config.h"

#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/hooks.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/session/quota.h"
#include "core/kernel/session/share.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"
#include "core/parts/ids.h"

/* The share of the user who pays for the name; NULL: no user does. */
static struct share **
payer(struct lock *l)
{
	return lock_part(l, PART_UNOWNED);
}

static void
pay_back(struct core *core, struct lock *l)
{
	if (payer(l) != NULL)
		share_give(&core->owners->shares, payer(l));
}

/*
 * Changes the counters by the difference to what the name was counted as
 * before.  `unowned` are reserved names; `counts` also includes names that may
 * become so.
 */
static void
count_unowned(struct core *core, struct lock *l)
{
	const struct lock_rare *m = lock_rare(l);
	bool lingers, unowned, counts;

	if (l->rare == NULL && l->lease.rare == NULL)
		return;
	assert(m->ngone <= l->nholders);
	lingers = lease_lingers(core, &l->lease);
	unowned = l->nholders == m->ngone && (m->ngone > 0 || lingers);
	counts = unowned || lingers || m->nbinding > 0;
	core->owners->nunowned += (uint64_t)unowned - l->unowned;
	core->owners->ncounted += (uint64_t)counts - l->counted;
	l->unowned = unowned;
	l->counted = counts;
	if (!counts)
		pay_back(core, l);
}

static void
forget_unowned(struct core *core, struct lock *l)
{
	assert(core->owners->nunowned >= l->unowned);
	assert(core->owners->ncounted >= l->counted);
	core->owners->nunowned -= l->unowned;
	core->owners->ncounted -= l->counted;
	l->unowned = l->counted = false;
	pay_back(core, l);
}

static void
pay(struct core *core, struct lock *l, const struct owner *owner)
{
	share_pass(&core->owners->shares,
	    lock_need_part(l, PART_UNOWNED, sizeof(struct share *)),
	    owner->user);
	count_unowned(core, l);
}

static void
begin_count(struct owner *owner, struct cursor *at)
{
	cursor_begin(&owner->cursors, at,
	    TAILQ_FIRST(&owner->holdings[HOLDING_NAME]),
	    offsetof(struct holding, in_owner));
}

/* Counts the name of its next hold.  Returns false if that was all. */
static bool
count_next(struct core *core, struct owner *owner, struct cursor *at)
{
	struct hold *h = hold_of(cursor_take(at));

	if (h == NULL)
		return false;
	if (hold_set_gone(h, owner->gone))
		count_unowned(core, h->lock);
	return true;
}

static bool
go_on(struct core *core)
{
	return owner_walk_on(core, WALK_GOING, begin_count, count_next);
}

/*
 * The client of a session is gone, and has no grace; or it is back after all.
 * Its names are counted anew in parts, and until then as they were.  That does
 * no harm: a name that is kept for a valid= is never refused.
 */
static void
gone(struct core *core, struct owner *owner, bool gone)
{
	if (owner->gone == gone)
		return;
	owner->gone = gone;
	owner_walk(core, owner, WALK_GOING);
	job_run(core, JOB_GONE);
}

/* A name that counts already costs no more, whichever client asks for it.  A
 * request for several names is refused as a whole. */
static bool
allows(struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct lock *l;
	uint64_t more = 0;
	unsigned i;

	if (rq->keep_ms == 0 && rq->delay_ms == 0)
		return true;
	if (!quota_bounds(core, owner, rq->ref, "keep=", "locks.max_keep",
		rq->keep_ms, core->config.locks.max_keep_ms) ||
	    !quota_bounds(core, owner, rq->ref, "delay=", "locks.max_delay",
		rq->delay_ms, core->config.locks.max_delay_ms))
		return false;
	for (i = 0; i < rq->nnames; i++) {
		l = lock_find(core, rq->names[i].p, rq->names[i].n);
		more += l == NULL || !l->counted;
	}
	return quota_has_room(core, owner, rq->ref, more,
	    "ask later, or without keep= and delay=");
}

/* As a part. */

static const struct lock_hooks hooks = {
	.settled = count_unowned,
	.freed = forget_unowned,
	.binds = pay,
	.unbinds = count_unowned,
	.admits = allows,
};

static const struct part_job jobs[] = {
	{ JOB_GONE, go_on },
	{ 0 },
};

const struct core_part unowned_part = {
	.id = PART_UNOWNED,
	.lock = &hooks,
	.gone = gone,
	.jobs = jobs,
};
