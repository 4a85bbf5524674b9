/*
 * May a request wait for names?
 *
 * All is asked before the request is in any queue, and one no refuses all of
 * it: so there is nothing to be undone.
 */
#include "config.h"

#include "core/lock/admit.h"
#include "core/lock/deadlock.h"
#include "core/lock/names.h"
#include "core/session/quota.h"
#include "core/turn/emit.h"

/* A request with wait=0 takes no place in the queue for long, so limits.waiters
 * does not count for it. */
bool
lock_allowed(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	const struct lock *l;
	unsigned i;

	if (!quota_admits(core, owner, rq->ref, rq->nnames) ||
	    !quota_grants(core, owner, rq->ref))
		return false;
	for (i = 0; i < rq->nnames; i++) {
		l = lock_find(core, rq->names[i].p, rq->names[i].n);
		if (l == NULL || rq->wait_ms == 0 ||
		    queue_of(l)->n < core->config.limits.waiters)
			continue;
		emit_error(core, owner->id, rq->ref, ERR_LIMIT,
		    "%u requests wait for %.*s already (limits.waiters)",
		    queue_of(l)->n, (int)l->name_len, l->name);
		return false;
	}
	return true;
}

/* A tagged request leaves its session free to release what it has, so it closes
 * no circle; neither does one that does not wait. */
bool
lock_refuse_deadlock(struct core *core, struct owner *owner,
    const struct core_request *rq, struct lock *const *locks)
{
	struct buf circle;
	bool found;

	if (!rq->untagged || rq->wait_ms == 0)
		return false;
	buf_init(&circle);
	found = deadlock_find(core, owner, locks, rq->nnames, &circle);
	if (found)
		emit_error(core, owner->id, rq->ref, ERR_DEADLOCK,
		    "it would wait for itself: %.*s", (int)buf_len(&circle),
		    buf_data(&circle));
	buf_fini(&circle);
	return found;
}
