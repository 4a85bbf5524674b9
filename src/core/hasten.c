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
hasten_begin(struct core *core, struct session *s)
{
	assert(!s->hastening);
	s->hastening = true;
	s->hasten_waiter = TAILQ_FIRST(&s->waiting);
	s->hasten_claim = TAILQ_FIRST(&s->claims);
	TAILQ_INSERT_TAIL(&core->sessions->hastening, s, in_hastening);
	hasten_on(core);
}

/* Hastens one request.  Returns false if none was left. */
static bool
hasten_one(struct core *core, struct session *s)
{
	struct waiter *w = s->hasten_waiter;
	struct claim *c = s->hasten_claim;

	if (w != NULL) {
		s->hasten_waiter = TAILQ_NEXT(w, in_session);
		queue_hasten(core, w);
		return true;
	}
	if (c != NULL) {
		s->hasten_claim = TAILQ_NEXT(c, in_session);
		claim_hasten(core, c);
		return true;
	}
	return status_cancel_one(core, s, true);
}

void
hasten_on(struct core *core)
{
	struct session *s;

	while (work_left(core) &&
	       (s = TAILQ_FIRST(&core->sessions->hastening)) != NULL) {
		core_visit(core, 1);
		if (!hasten_one(core, s))
			hasten_leave(core, s);
	}
}

bool
hasten_has_more(const struct core *core)
{
	return !TAILQ_EMPTY(&core->sessions->hastening);
}

void
hasten_leave(struct core *core, struct session *s)
{
	if (s->hastening)
		TAILQ_REMOVE(&core->sessions->hastening, s, in_hastening);
	s->hastening = false;
}
