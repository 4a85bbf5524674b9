/*
 * How a name of a call is settled: by what Redis answers to its operation, or
 * by the lack of an answer.
 *
 * Nobody vouches for a token hold, so an answer counts only for what it says
 * about the moment at which the script ran.  A grant is none any more if its
 * time is over by now, if another broker has said meanwhile that it has ended
 * the hold, or if the server's history has changed since (call_doubts()).  And
 * if no answer comes, the broker ends by its own token whatever hold the
 * operation may have made.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/xmalloc.h"
#include "core/guard/guard.h"
#include "core/token/parts.h"
#include "core/token/result.h"
#include "core/token/token_record.h"

/* What a script calls a key is what a protocol is told. */
_Static_assert((int)TOKEN_FREE == (int)KEY_NONE &&
		   (int)TOKEN_HELD == (int)KEY_TOKEN_HOLD &&
		   (int)TOKEN_NATIVE == (int)KEY_LEASE &&
		   (int)TOKEN_PLAIN == (int)KEY_PLAIN,
    "kinds of keys");

#define WHY_SIZE 256

/*
 * Has the time of the hold that an answer tells of run out before the client is
 * told?  It ran from the moment at which the script ran, which was not before
 * the operation was sent.  Others may have been granted the name since, and been
 * told so.
 */
static bool
is_over(const struct core *core, const struct token_name *n, int64_t sent_ms)
{
	return n->left_ms > 0 && core->now_ms >= sent_ms + n->left_ms;
}

/* The hold that was there, and extended, has ended by itself meanwhile. */
static void
note_over(struct core *core, struct token_name *n)
{
	struct token_record *r = token_record_find(core, n->name, n->len);

	if (r != NULL && r->fence == n->fence)
		token_record_drop(core, r, "hold");
	n->status = OUTCOME_GONE;
	n->kind = TOKEN_FREE;
	n->key_bits = 0;
	n->fence = 0;
	n->left_ms = -1;
	n->text[0] = '\0';
}

void
call_keep(struct core *core, const struct token_call *c, struct token_name *n,
    int64_t sent_ms, const struct outcome *o)
{
	n->settled = true;
	/* A hold that was kept for the user is new to the client: a grant. */
	n->status = c->inherits && o->status == OUTCOME_RENEWED
			? OUTCOME_GRANTED
			: o->status;
	n->fence = o->fence;
	n->left_ms = o->ttl_ms;
	if (n->status == OUTCOME_GRANTED)
		n->left_ms = c->ttl_ms > 0 ? c->ttl_ms : -1;
	n->waited_ms = core->now_ms - c->since_ms;
	n->kind = (enum token_kind)o->key_kind;
	n->key_bits = (unsigned)o->key_bits;
	free(n->text);
	n->text = xstrndup(o->text, o->text_len);
	/* The message that it is over has overtaken this answer. */
	if (token_record_was_taken(core, n->seq) &&
	    n->status == OUTCOME_GRANTED)
		n->status = OUTCOME_BUSY;
	if (token_record_was_taken(core, n->seq) &&
	    n->status == OUTCOME_RENEWED)
		n->status = OUTCOME_LOST;
	if (!is_over(core, n, sent_ms))
		return;
	if (n->status == OUTCOME_GRANTED ||
	    (n->status == OUTCOME_RENEWED && c->op == TOKEN_ACQUIRE)) {
		token_record_orphan(core, n);
		n->status = OUTCOME_BUSY;
	} else if (n->status == OUTCOME_RENEWED) {
		note_over(core, n);
	}
}

void
call_failed(struct core *core, struct token_call *c, struct token_name *n,
    const struct outcome *o)
{
	uint32_t shard = guard_shard(core, n->name, n->len);
	char why[WHY_SIZE];

	/* Perhaps the name was taken for this call, and nobody knows.  If the
	 * call is parked, its poll queue sees to that. */
	if (o->status == OUTCOME_UNKNOWN && call_takes(c) && !c->looks &&
	    (!n->extends || c->inherits) && !c->parked) {
		n->left_ms = c->ttl_ms > 0 ? c->ttl_ms : -1;
		token_record_orphan(core, n);
	}
	if (o->status == OUTCOME_UNKNOWN &&
	    (c->op == TOKEN_EXTEND || n->extends ||
		c->how.match == HOW_COUNTED))
		token_record_doubt(core, n->name, n->len);
	c->broken |=
	    o->status == OUTCOME_UNKNOWN || o->status == OUTCOME_REFUSED;
	/* The call ends when the other names are answered. */
	if (call_in_flight(c)) {
		n->settled = true;
		n->status = OUTCOME_UNKNOWN;
		c->broken = true;
		return;
	}
	snprintf(why, sizeof(why), "%.*s", (int)o->text_len, o->text);
	if (o->status == OUTCOME_REFUSED)
		call_refuse(core, c, ERR_UNAVAILABLE, why);
	else
		call_unavailable(core, c, shard);
}

/* Parked calls, whose operations poll.c sends. */

void
call_note(struct core *core, struct token_call *c, const struct outcome *o)
{
	call_keep(core, c, &c->names[0], 0, o);
}

void
call_settle(struct core *core, struct token_call *c, int64_t sent_ms,
    const struct outcome *o)
{
	assert(c->n == 1);
	if (o->status != OUTCOME_GRANTED) {
		call_failed(core, c, &c->names[0], o);
		return;
	}
	call_keep(core, c, &c->names[0], sent_ms, o);
	call_answer(core, c, result_of(c, &c->names[0]));
}
