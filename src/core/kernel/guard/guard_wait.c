/*
 * The list of requests that wait for guards.
 *
 * Whichever guard has changed, all requests are tried, some of them in each
 * step, since each request knows its own guards.  A request that must wait
 * again goes to the end of the list, behind all that are still to be tried.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/kernel/guard/guard_wait.h"
#include "core/kernel/turn/job.h"
#include "core/kernel/turn/work.h"

struct guard_waits {
	TAILQ_HEAD(, guard_wait) list;
	unsigned n, nleft; /* in the list; of them, still to be tried */
};

void
guard_waits_init(struct core *core)
{
	core->guard_waits = xcalloc(1, sizeof(*core->guard_waits));
	TAILQ_INIT(&core->guard_waits->list);
}

void
guard_waits_fini(struct core *core)
{
	assert(TAILQ_EMPTY(&core->guard_waits->list));
	free(core->guard_waits);
}

void
guard_wait_begin(struct core *core, struct guard_wait *w)
{
	assert(w->retry != NULL);
	if (w->waits)
		return;
	w->waits = true;
	core->guard_waits->n++;
	TAILQ_INSERT_TAIL(&core->guard_waits->list, w, link);
}

/* If it is still to be tried, one that came later may be tried in its place. */
void
guard_wait_end(struct core *core, struct guard_wait *w)
{
	struct guard_waits *all = core->guard_waits;

	if (!w->waits)
		return;
	w->waits = false;
	TAILQ_REMOVE(&all->list, w, link);
	all->n--;
	if (all->nleft > all->n)
		all->nleft = all->n;
	job_set(core, JOB_GUARD_WAITS, all->nleft > 0);
}

bool
guard_waits_run(struct core *core)
{
	struct guard_waits *all = core->guard_waits;
	struct guard_wait *w;

	while (work_left(core) && all->nleft > 0) {
		core_visit(core, 1);
		w = TAILQ_FIRST(&all->list);
		all->nleft--;
		guard_wait_end(core, w);
		w->retry(core, w);
	}
	return all->nleft > 0;
}

/* In the next step, because many guards may change in this one. */
void
guard_waits_retry(struct core *core)
{
	core->guard_waits->nleft = core->guard_waits->n;
	job_set(core, JOB_GUARD_WAITS, core->guard_waits->nleft > 0);
}

void
guard_waits_check(const struct core *core)
{
	const struct guard_waits *all = core->guard_waits;
	const struct guard_wait *w;
	unsigned n = 0;

	TAILQ_FOREACH (w, &all->list, link) {
		assert(w->waits);
		n++;
	}
	assert(n == all->n && all->nleft <= n);
	job_check(core, JOB_GUARD_WAITS, all->nleft > 0);
}
