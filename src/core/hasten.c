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

/* Hastens one request.  Returns false if none was left. */
static bool
hasten_one(struct core *core, struct owner *owner)
{
	struct waiter *w = owner->hasten_waiter;
	struct claim *c = owner->hasten_claim;

	if (w != NULL) {
		owner->hasten_waiter = TAILQ_NEXT(w, in_owner);
		queue_hasten(core, w);
		return true;
	}
	if (c != NULL) {
		owner->hasten_claim = TAILQ_NEXT(c, in_owner);
		claim_hasten(core, c);
		return true;
	}
	return status_cancel_one(core, session_of(owner), true);
}

bool
hasten_on(struct core *core)
{
	return owner_walk_on(core, WALK_HASTEN, hasten_one);
}

void
hasten_begin(struct core *core, struct owner *owner)
{
	owner->hasten_waiter = TAILQ_FIRST(&owner->waiting);
	owner->hasten_claim = TAILQ_FIRST(&owner->claims);
	owner_walk(core, owner, WALK_HASTEN);
	job_run(core, JOB_HASTEN);
}
