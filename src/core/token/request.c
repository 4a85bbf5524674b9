/*
 * Requests about token holds: what they ask for, as a call.
 *
 *	kept for the user, or `either` --> call_send(), either.c
 *	has a place, or awaits --> parked
 *	known to be taken, or others come first --> BUSY, without Redis
 *	else --> call_send()
 *
 * Redis decides whether a name is free.  The broker says BUSY by itself only if
 * Redis could not say anything else, or would let a token pass those that came
 * first.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/guard/quorum.h"
#include "core/lock/names.h"
#include "core/session/quota.h"
#include "core/token/call.h"
#include "core/token/measured.h"
#include "core/token/parts.h"
#include "core/token/poll.h"
#include "core/token/result.h"
#include "core/turn/emit.h"

/* Only a request that may make a hold counts against limits.unowned. */
static bool
allowed(struct core *core, struct owner *asker, const struct token_request *rq)
{
	if (!quota_open(core, asker, rq->ref))
		return false;
	if (quorum_used(core)) {
		emit_error(core, asker->id, rq->ref, ERR_UNSUPPORTED,
		    "there are no token holds over a quorum; use LOCK");
		return false;
	}
	if (rq->op != TOKEN_ACQUIRE && !rq->either)
		return true;
	return quota_grants(core, asker, rq->ref) &&
	       quota_has_room(core, asker, rq->ref, rq->nnames,
		   "release some, or raise the limit");
}

/*
 * Does this broker know that a name is taken?  Sessions that wait for it here
 * come first.
 */
static bool
is_taken(const struct core *core, const struct token_request *rq)
{
	const struct lock *l;
	unsigned i;

	if (rq->op != TOKEN_ACQUIRE)
		return false;
	for (i = 0; i < rq->nnames; i++) {
		l = lock_find(core, rq->names[i].p, rq->names[i].n);
		if (l != NULL &&
		    (l->queue != NULL || (!TAILQ_EMPTY(&l->holders) &&
					     lease_is_held(&l->lease))))
			return true;
	}
	return false;
}

void
token_take(
    struct core *core, struct owner *asker, const struct token_request *rq)
{
	struct token_call *c;

	assert(rq->nnames > 0 && rq->nnames <= CORE_NAMES_MAX);
	assert(rq->ttl_ms >= (rq->op == TOKEN_ACQUIRE ? 0 : -TOKEN_MS_MAX) &&
	       rq->ttl_ms <= TOKEN_MS_MAX);
	assert(rq->op != TOKEN_ACQUIRE || rq->match != TOKEN_COUNTED ||
	       rq->either || rq->awaits);
	assert(rq->program <= rq->token_len &&
	       (rq->listener == 0 || rq->program > 0));
	assert(rq->token_len <= TOKEN_MAX_BYTES &&
	       rq->new_token_len <= TOKEN_MAX_BYTES);
	if (!allowed(core, asker, rq))
		return;
	c = call_begin(core, asker, rq);
	if (rq->op == TOKEN_ACQUIRE && rq->nnames == 1)
		c->since_ms = poll_first_ms(core, c);
	c->early = poll_came_early(core, c);
	if (c->awaits && c->park_ms == 0)
		poll_forget(core, c);
	if (poll_take_kept(core, c) || c->either) {
		either_begin(core, c);
		call_send(core, c);
		return;
	}
	if (c->park_ms > 0 && poll_join(core, c))
		return;
	if (c->awaits || is_taken(core, rq) ||
	    (c->park_ms > 0 && poll_others_first(core, c))) {
		result_emit_busy(core, asker, rq);
		token_busy(core, c);
		/* The token has come once, and is expected back. */
		if (c->park_ms > 0 && !c->awaits)
			poll_refused(core, c);
		call_drop(core, c);
		return;
	}
	call_send(core, c);
}
