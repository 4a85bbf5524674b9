/*
 * The calls that have not been answered: how they are made, found and freed,
 * and questions about them.
 *
 * Operations carry the id of their call, and never a pointer: a parked call may
 * be over by the time that the poll queue's operation is answered.
 */
#include "config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/kernel/guard/guard.h"
#include "core/parts/token/parts.h"

#define KEPT_MS 1000 /* of a name that was awaited; by a program, less */

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

/* A plain ACQUIRE means no hold, not even that of its own token: a token is
 * never granted the same name twice. */
static void
set_how(struct token_call *c, const struct token_request *rq)
{
	static const enum how_act acts[TOKEN_OP_MAX] = {
		[TOKEN_ACQUIRE] = HOW_EXTEND,
		[TOKEN_EXTEND] = HOW_EXTEND,
		[TOKEN_RELEASE] = HOW_RELEASE,
		[TOKEN_QUERY] = HOW_ASK,
	};
	static const enum how_match matches[TOKEN_MATCH_MAX] = {
		[TOKEN_EXACT] = HOW_EXACT,
		[TOKEN_PREFIX] = HOW_PREFIX,
		[TOKEN_NOT] = HOW_NOT,
		[TOKEN_ANY] = HOW_ANY,
		[TOKEN_COUNTED] = HOW_COUNTED,
	};
	static const enum how_bound bounds[TOKEN_BOUND_MAX] = {
		[TOKEN_REPLACE] = HOW_REPLACE,
		[TOKEN_ADD] = HOW_ADD,
		[TOKEN_IF_BOUND] = HOW_IF_BOUND,
		[TOKEN_IF_UNBOUND] = HOW_IF_UNBOUND,
		[TOKEN_IF_LONGER] = HOW_IF_LONGER,
		[TOKEN_IF_SHORTER] = HOW_IF_SHORTER,
	};

	assert(rq->op < TOKEN_OP_MAX && rq->match < TOKEN_MATCH_MAX &&
	       rq->bound < TOKEN_BOUND_MAX);
	c->how.act = acts[rq->op];
	c->how.match = matches[rq->match];
	c->how.bound = bounds[rq->bound];
	if (rq->op == TOKEN_ACQUIRE && !rq->either)
		c->how.match = HOW_NO_HOLD;
}

/* Returns the text of the token of a request, or of that much of it. */
static char *
text_of(const struct token_request *rq, size_t len, const char *user)
{
	return rq->match == TOKEN_COUNTED
		   ? holder_counted(rq->token, len, user, "")
		   : holder_text(rq->token, len, user);
}

/* Sets which holds the call means, and what they become.  The texts include the
 * user, so that a call never means the hold of another user. */
static void
set_holders(struct token_call *c, const struct token_request *rq,
    const struct owner *asker)
{
	char *token = rq->awaits ? holder_kept("", 0, asker->user)
				 : text_of(rq, rq->token_len, asker->user);
	char *meant =
	    text_of(rq, rq->match == TOKEN_PREFIX ? rq->prefix : rq->token_len,
		asker->user);

	if (rq->op == TOKEN_ACQUIRE) {
		c->holder = token;
		c->other = meant;
		if (rq->program > 0)
			c->program =
			    holder_kept(rq->token, rq->program, asker->user);
		return;
	}
	free(token);
	c->holder = meant;
	if (rq->latch[0] != '\0')
		c->latched = holder_counted(
		    rq->token, rq->token_len, asker->user, rq->latch);
	c->other = rq->new_token != NULL ? holder_text(rq->new_token,
					       rq->new_token_len, asker->user)
					 : xstrdup("");
}

/* The broker cannot cut an addition to a bound that it does not know; the
 * script does that (most_ms). */
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
 * a call that extends or ends holds looks at all of them first, since its
 * changes could not be undone.
 */
struct token_call *
call_begin(struct core *core, const struct owner *asker,
    const struct token_request *rq)
{
	struct token_call *c =
	    xcalloc(1, sizeof(*c) + rq->nnames * sizeof(c->names[0]));
	unsigned i;

	c->id = ++tokens_of(core)->last_call;
	c->session = asker->id;
	c->ref = rq->ref;
	c->since_ms = core->now_ms;
	c->result = RESULT_CANCELLED;
	c->op = rq->op;
	c->either = rq->either;
	c->all = rq->all;
	c->awaits = rq->awaits;
	c->audience = rq->audience;
	c->ttl_ms = bound_ms(core, rq);
	c->most_ms = core->config.locks.max_hold_ms;
	if (rq->op == TOKEN_ACQUIRE && rq->nnames == 1)
		c->park_ms = rq->park_ms;
	c->deadline.kind = TIMER_TOKEN;
	c->n = rq->nnames;
	for (i = 0; i < c->n; i++) {
		c->names[i].name = xstrndup(rq->names[i].p, rq->names[i].n);
		c->names[i].len = rq->names[i].n;
	}
	set_how(c, rq);
	set_holders(c, rq, asker);
	c->names[0].first = true;
	if (call_takes(c))
		qsort(c->names, c->n, sizeof(c->names[0]), by_bytes);
	c->looks =
	    c->n > 1 && !call_takes(c) &&
	    (rq->op == TOKEN_EXTEND || (rq->op == TOKEN_RELEASE && rq->all));
	TAILQ_INSERT_TAIL(&tokens_of(core)->calls, c, link);
	table_add(&tokens_of(core)->by_id, &c->by_id);
	core_arm(
	    core, &c->deadline, core->now_ms + core->config.reply_timeout_ms);
	return c;
}

struct token_call *
call_listens(struct core *core, const struct token_call *c)
{
	const struct core_name name = { c->names[0].name, c->names[0].len };
	const struct token_request rq = { .op = TOKEN_ACQUIRE,
		.ref = c->audience,
		.audience = c->audience,
		.names = &name,
		.nnames = 1,
		.awaits = true };
	struct token_call *a =
	    call_begin(core, owner_find(core, c->session), &rq);

	a->session = 0;
	free(a->holder);
	a->holder = xstrdup(c->program);
	return a;
}

struct token_call *
call_find(const struct core *core, uint64_t id)
{
	struct table_link *link =
	    table_find(&tokens_of(core)->by_id, (const char *)&id, sizeof(id));

	return link == NULL ? NULL
			    : container_of(link, struct token_call, by_id);
}

void
call_remove(struct core *core, struct token_call *c)
{
	unsigned i;

	assert(!c->parked);
	TAILQ_REMOVE(&tokens_of(core)->calls, c, link);
	table_remove(&tokens_of(core)->by_id, &c->by_id);
	guard_wait_end(core, &c->wait);
	core_disarm(core, &c->deadline);
	for (i = 0; i < c->n; i++) {
		free(c->names[i].name);
		free(c->names[i].text);
	}
	free(c->holder);
	free(c->other);
	free(c->latched);
	free(c->program);
	free(c);
}

void
call_inherits(struct token_call *c, const char *kept)
{
	free(c->other);
	c->other = xstrdup(kept);
	c->either = c->inherits = true;
	c->how.match = HOW_EXACT;
}

/* A session without a connection counts as gone: it would not hear of a grant,
 * and the hold would stay for its whole time. */
struct owner *
call_asker(const struct core *core, const struct token_call *c)
{
	if (core->above->conn_of(core, c->session) == 0)
		return NULL;
	return owner_find(core, c->session);
}

bool
call_is_heard(const struct core *core, const struct token_call *c)
{
	return c->session == 0 || call_asker(core, c) != NULL;
}

bool
call_in_flight(const struct token_call *c)
{
	const struct token_name *n;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->asked)
			return true;
	return false;
}

bool
call_takes(const struct token_call *c)
{
	return c->op == TOKEN_ACQUIRE || (c->op == TOKEN_EXTEND && c->either);
}

bool
call_doubts(const struct core *core, uint32_t shard, uint32_t epoch,
    int64_t sent_ms, const struct outcome *o)
{
	return (o->status == OUTCOME_GRANTED || o->status == OUTCOME_RENEWED) &&
	       (epoch != guard_epoch(core, shard) ||
		   core->now_ms - sent_ms >= core->recovery_ms);
}

bool
call_outdated(const struct outcome *o)
{
	return o->alone &&
	       (o->status == OUTCOME_LOST || o->status == OUTCOME_GONE);
}

uint64_t
call_first(const struct core *core)
{
	const struct token_call *c;
	const struct token_name *n;
	uint64_t first = 0;

	TAILQ_FOREACH (c, &tokens_of(core)->calls, link)
		for (n = c->names; n < c->names + c->n; n++)
			if (n->seq != 0 && (first == 0 || n->seq < first))
				first = n->seq;
	return first;
}
