/*
 * ACQUIRE and RELEASE.
 */
#include "config.h"

#include "base/xmalloc.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/sync/line.h"
#include "core/parts/sync/semaphore_state.h"

/* Returns false if the request is refused, and answered. */
static bool
slot_allowed(struct core *core, struct owner *owner,
    const struct core_request *rq, const struct sync *y)
{
	if (rq->number > 1)
		emit_error(core, owner->id, rq->ref, ERR_BAD_OPTION,
		    "slot=yes takes one permit");
	else if (rq->limit > SLOTS_MAX)
		emit_error(core, owner->id, rq->ref, ERR_BAD_OPTION,
		    "slot=yes takes a limit= of at most %d", SLOTS_MAX);
	else if (y != NULL && permits_have_slot(core, y, owner))
		emit_error(core, owner->id, rq->ref, ERR_EXISTS, SLOT_EXISTS);
	else
		return true;
	return false;
}

/* Entries and holders of one semaphore here have the same limit=.  If other
 * brokers go by another one, the store says so. */
void
semaphore_acquire(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	struct sync *y =
	    sync_find(core, KIND_SEMAPHORE, rq->names[0].p, rq->names[0].n);
	struct semaphore *m = y == NULL ? NULL : semaphore_of(y);
	struct entry *e;

	if (m != NULL && m->limit != rq->limit &&
	    (in_use_or_owed(m) > 0 || !line_empty(&y->queue))) {
		emit_error(core, owner->id, rq->ref, ERR_MISMATCH,
		    "this semaphore is in use with limit=%llu",
		    (unsigned long long)m->limit);
		return;
	}
	if (rq->slot && !slot_allowed(core, owner, rq, y))
		return;
	e = entry_new(core, owner, KIND_SEMAPHORE, rq, rq->wait_ms);
	if (e == NULL)
		return;
	m = semaphore_of(e->sync);
	m->limit = rq->limit;
	if (rq->slot && m->slots == NULL)
		m->slots = xcalloc(1, sizeof(*m->slots));
}

/* The permits are free for the next client here at once; the answer waits until
 * the store knows of them, or until they are in use again. */
void
semaphore_release(
    struct core *core, struct owner *owner, const struct core_request *rq)
{
	struct sync *y =
	    sync_find(core, KIND_SEMAPHORE, rq->names[0].p, rq->names[0].n);
	struct permits *p = y == NULL ? NULL : permits_find(core, y, owner);
	struct giving *g;

	if (p != NULL && permits_are_lost(p)) {
		permits_lose(core, p, NULL);
		p = NULL;
	}
	if (p == NULL || p->n < rq->number) {
		emit_error(core, owner->id, rq->ref, ERR_NOT_HELD,
		    "this session holds %llu permits of it",
		    p == NULL ? 0 : (unsigned long long)p->n);
		return;
	}
	g = xcalloc(1, sizeof(*g));
	g->session = owner->id;
	g->ref = rq->ref;
	g->held = p->n - rq->number;
	TAILQ_INSERT_TAIL(&semaphore_of(y)->givings, g, link);
	if (g->held == 0)
		permits_give_back(core, p);
	else
		permits_reduce(core, p, rq->number);
}
