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
#include "core/token/park.h"
#include "core/token/parts.h"
#include "core/token/result.h"
#include "core/turn/emit.h"

#define KEPT_MS 1000 /* of a name that was awaited */

/*
 * Two calls that take several names take them in the same order.  So if they
 * have names in common, one of them gets the first of these, and then the
 * others.
 */
static int
by_bytes(const void *a, const void *b)
{
	const struct token_name *x = a, *y = b;
	size_t n = x->len < y->len ? x->len : y->len;
	int order = memcmp(x->name, y->name, n);

	return order != 0 ? order : (x->len > y->len) - (x->len < y->len);
}

/*
 * The letters are those of the scripts (lua/token.lua).  A plain ACQUIRE means
 * no hold, not even one of its own token: a token is never granted the same
 * name twice.
 */
static void
set_how(struct token_call *c, const struct token_request *rq)
{
	static const char ops[TOKEN_OP_MAX] = { 'e', 'e', 'r', 'q' };
	static const char matches[TOKEN_MATCH_MAX] = { 'x', 'p', 'n', 'a',
		'c' };
	static const char bounds[TOKEN_BOUND_MAX] = { 'r', 'a', 'b', 'u', 'l',
		's' };

	assert(rq->op < TOKEN_OP_MAX && rq->match < TOKEN_MATCH_MAX &&
	       rq->bound < TOKEN_BOUND_MAX);
	c->how[0] = ops[rq->op];
	c->how[1] = matches[rq->match];
	c->how[2] = bounds[rq->bound];
	if (rq->op == TOKEN_ACQUIRE && !rq->either)
		c->how[1] = '-';
}

typedef char *text_fn(const char *token, size_t token_len, const char *user);

/* Sets which holds the call means, and what they become.  The texts have the
 * user in them, so that a call never means the hold of another user. */
static void
set_clients(struct token_call *c, const struct token_request *rq,
    const struct owner *asker)
{
	text_fn *text =
	    rq->match == TOKEN_COUNTED ? client_counted : client_text;
	char *token = rq->awaits ? client_kept(asker->user)
				 : text(rq->token, rq->token_len, asker->user);
	char *meant = text(rq->token,
	    rq->match == TOKEN_PREFIX ? rq->prefix : rq->token_len,
	    asker->user);

	if (rq->op == TOKEN_ACQUIRE) {
		c->client = token;
		c->other = meant;
		return;
	}
	free(token);
	c->client = meant;
	c->other = rq->new_token != NULL ? client_text(rq->new_token,
					       rq->new_token_len, asker->user)
					 : xstrdup("");
}

/* The broker can't cut what is to be added to a bound that it does not know;
 * the script does that (most_ms). */
static int64_t
bound_ms(const struct core *core, const struct token_request *rq)
{
	int64_t most_ms = core->config.locks.max_hold_ms, ms = rq->ttl_ms;

	if (rq->awaits)
		ms = KEPT_MS;
	if (rq->op == TOKEN_ACQUIRE && ms == 0)
		ms = core->config.locks.default_hold_ms;
	if (most_ms > 0 && rq->bound != TOKEN_ADD && (ms == 0 || ms > most_ms))
		ms = most_ms;
	return ms;
}

/*
 * All names or none: a call that takes names does so in order, and gives back;
 * one that extends or ends holds looks at all of them first, since what it has
 * changed could not be undone.
 */
static struct token_call *
call_new(struct core *core, const struct owner *asker,
    const struct token_request *rq)
{
	struct token_call *c =
	    xcalloc(1, sizeof(*c) + rq->nnames * sizeof(c->names[0]));
	unsigned i;

	c->id = ++core->tokens->last_call;
	c->session = asker->id;
	c->ref = rq->ref;
	c->since_ms = core->now_ms;
	c->result = RESULT_CANCELLED;
	c->op = rq->op;
	c->either = rq->either;
	c->all = rq->all;
	c->awaits = rq->awaits;
	c->ttl_ms = bound_ms(core, rq);
	if (rq->op == TOKEN_ACQUIRE && rq->nnames == 1)
		c->park_ms = rq->park_ms;
	c->deadline.kind = TIMER_TOKEN;
	c->n = rq->nnames;
	for (i = 0; i < c->n; i++) {
		c->names[i].name = xstrndup(rq->names[i].p, rq->names[i].n);
		c->names[i].len = rq->names[i].n;
	}
	set_how(c, rq);
	set_clients(c, rq, asker);
	c->names[0].first = true;
	if (call_takes(c))
		qsort(c->names, c->n, sizeof(c->names[0]), by_bytes);
	c->looks =
	    c->n > 1 && !call_takes(c) &&
	    (rq->op == TOKEN_EXTEND || (rq->op == TOKEN_RELEASE && rq->all));
	TAILQ_INSERT_TAIL(&core->tokens->calls, c, link);
	table_add(&core->tokens->by_id, &c->by_id);
	core_arm(
	    core, &c->deadline, core->now_ms + core->config.reply_timeout_ms);
	return c;
}

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
	       rq->either);
	assert(rq->token_len <= TOKEN_MAX_BYTES &&
	       rq->new_token_len <= TOKEN_MAX_BYTES);
	if (!allowed(core, asker, rq))
		return;
	c = call_new(core, asker, rq);
	if (rq->op == TOKEN_ACQUIRE && rq->nnames == 1)
		c->since_ms = park_first_ms(core, c);
	if (park_take_kept(core, c) || c->either) {
		either_begin(core, c);
		call_send(core, c);
		return;
	}
	if (c->park_ms > 0 && park_join(core, c))
		return;
	if (c->awaits || is_taken(core, rq) ||
	    (c->park_ms > 0 && park_others_first(core, c))) {
		result_emit_busy(core, asker, rq);
		token_busy(core, c);
		/* The token has come once, and is expected back. */
		if (c->park_ms > 0 && !c->awaits)
			park_refused(core, c);
		call_drop(core, c);
		return;
	}
	call_send(core, c);
}
