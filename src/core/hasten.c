/*
 * Walks over the requests of sessions.  If a request goes away to which a walk
 * would come next, queue.c or sync.c moves the walk on.
 */
#include "config.h"

#include "core/hasten.h"
#include "core/lock/queue.h"
#include "core/status.h"
#include "core/sync/sync.h"
#include "core/turn/work.h"

void
hasten_begin(struct core *core, struct owner *owner)
{
	assert(!owner->hastening);
	owner->hastening = true;
	owner->hasten_waiter = TAILQ_FIRST(&owner->waiting);
	owner->hasten_claim = TAILQ_FIRST(&owner->claims);
	TAILQ_INSERT_TAIL(&core->owners->hastening, owner, in_hastening);
	hasten_on(core);
}

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

void
hasten_on(struct core *core)
{
	struct owner *owner;

	while (work_left(core) &&
	       (owner = TAILQ_FIRST(&core->owners->hastening)) != NULL) {
		core_visit(core, 1);
		if (!hasten_one(core, owner))
			hasten_leave(core, owner);
	}
}

bool
hasten_has_more(const struct core *core)
{
	return !TAILQ_EMPTY(&core->owners->hastening);
}

void
hasten_leave(struct core *core, struct owner *owner)
{
	if (owner->hastening)
		TAILQ_REMOVE(&core->owners->hastening, owner, in_hastening);
	owner->hastening = false;
}
