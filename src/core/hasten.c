/*
 * Walks over the requests of sessions.  If a request goes away to which a walk
 * would come next, queue.c or sync.c moves the walk on.
 */
#include "config.h"

#include "core/hasten.h"
#include "core/lock/queue.h"
#include "core/status.h"
#include "core/sync/sync.h"
#include "core/turn/job.h"
#include "core/turn/work.h"

static void
begin_hasten(struct owner *owner, struct cursor *at)
{
	cursor_begin(&owner->cursors, &at[0], TAILQ_FIRST(&owner->waiting),
	    offsetof(struct waiter, in_owner));
	cursor_begin(&owner->cursors, &at[1], TAILQ_FIRST(&owner->claims),
	    offsetof(struct claim, in_owner));
}

/* Hastens one request.  Returns false if none was left. */
static bool
hasten_one(struct core *core, struct owner *owner, struct cursor *at)
{
	struct waiter *w = cursor_take(&at[0]);
	struct claim *c = w == NULL ? cursor_take(&at[1]) : NULL;

	if (w != NULL)
		queue_hasten(core, w);
	else if (c != NULL)
		claim_hasten(core, c);
	else
		return status_cancel_one(core, session_of(owner), true);
	return true;
}

bool
hasten_on(struct core *core)
{
	return owner_walk_on(core, WALK_HASTEN, begin_hasten, hasten_one);
}

void
hasten_begin(struct core *core, struct owner *owner)
{
	owner_walk(core, owner, WALK_HASTEN);
	job_run(core, JOB_HASTEN);
}
