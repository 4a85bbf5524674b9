/*
 * What the holders of names are being told: the list of it.
 *
 * Each name has at most one such record, and it is there only while something
 * is left to tell.  A loss keeps no place in the list of holders, because it
 * always goes on with the oldest; a warning keeps the next one to be told.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/lock/names.h"
#include "core/lock/sharers.h"
#include "core/turn/job.h"

static struct sharers_list *
list_of(struct core *core, const struct sharers *c)
{
	return c->losing ? &core->locks->losing : &core->locks->warning;
}

static enum job
job_of(const struct sharers *c)
{
	return c->losing ? JOB_LOSE_LOCKS : JOB_WARN_LOCKS;
}

/* Requires that the name has none. */
struct sharers *
sharers_begin(struct core *core, struct lock *l, bool losing)
{
	struct sharers *c = xcalloc(1, sizeof(*c));

	c->lock = l;
	c->losing = losing;
	need_more(l)->sharers = c;
	TAILQ_INSERT_TAIL(list_of(core, c), c, link);
	job_set(core, job_of(c), true);
	return c;
}

void
sharers_forget(struct core *core, struct lock *l)
{
	struct sharers *c = more_of(l)->sharers;

	if (c == NULL)
		return;
	TAILQ_REMOVE(list_of(core, c), c, link);
	job_set(core, job_of(c), !TAILQ_EMPTY(list_of(core, c)));
	l->more->sharers = NULL;
	free(c);
}

/* Called while the hold is still in the list of holders. */
void
sharers_leave_hold(const struct hold *h)
{
	struct sharers *c = more_of(h->lock)->sharers;

	if (c != NULL && c->next == h)
		c->next = TAILQ_NEXT(h, in_lock);
}

bool
sharers_loses(const struct lock *l)
{
	const struct sharers *c = more_of(l)->sharers;

	return c != NULL && c->losing;
}
