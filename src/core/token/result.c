/*
 * The answers to calls: what the outcomes of their names mean together, and
 * what of that the client may see.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/lock/hold.h"
#include "core/lock/names.h"
#include "core/token/result.h"
#include "core/turn/emit.h"

#define LEASE_TEXT (BROKER_MAX_BYTES + 48)

/*
 * For an ACQUIRE, everything in the way is BUSY; for a request that means a
 * hold, it matters whether the name is free or somebody else's.  LATE is what
 * the script answers if a bound is not to be moved this way.
 */
enum token_answer
result_of(const struct token_call *c, const struct token_name *n)
{
	switch (n->status) {
	case OUTCOME_BUSY:
		return c->op == TOKEN_ACQUIRE ? TOKEN_BUSY : TOKEN_OTHERS;
	case OUTCOME_LOST:
		return c->op == TOKEN_ACQUIRE ? TOKEN_BUSY : TOKEN_OTHERS;
	case OUTCOME_GONE:
		return c->op == TOKEN_ACQUIRE ? TOKEN_BUSY : TOKEN_ABSENT;
	case OUTCOME_LATE:
		return TOKEN_UNBOUND;
	case OUTCOME_VALUE:
		if (c->how.act == HOW_ASK ||
		    (n->kind == TOKEN_HELD &&
			(n->key_bits & KEY_IS_MEANT) != 0))
			return TOKEN_DONE;
		return n->kind == TOKEN_FREE ? TOKEN_ABSENT : TOKEN_OTHERS;
	default:
		return TOKEN_DONE;
	}
}

/* Returns the name that decided the answer; else the first one of the request,
 * which need not be the first of the call: those are in byte order. */
static const struct token_name *
telling(const struct token_call *c, enum token_answer how)
{
	const struct token_name *n, *first = c->names;

	for (n = c->names; n < c->names + c->n; n++) {
		if (how != TOKEN_DONE && n->settled && result_of(c, n) == how)
			return n;
		if (n->first)
			first = n;
	}
	return first;
}

static bool
holds_now(const struct token_name *n)
{
	return n->status == OUTCOME_GRANTED || n->status == OUTCOME_RENEWED;
}

/*
 * Returns the token if the client may see it, which is of the same user then;
 * else NULL.  The caller frees it.  `len` is its length, or that of what
 * n->text may show instead: the token of a lease, or the value of a plain
 * client.  `depth` is that of a hold that is counted, now or before it ended.
 */
static char *
shown(const struct token_call *c, const struct token_name *n, size_t *len,
    uint64_t *depth)
{
	const char *text = NULL;

	if (n->status == OUTCOME_GRANTED)
		text = c->op == TOKEN_EXTEND && c->other[0] != '\0' ? c->other
								    : c->client;
	else if (n->status == OUTCOME_RENEWED ||
		 (n->kind == TOKEN_HELD &&
		     (n->key_bits & KEY_OF_SAME_USER) != 0))
		text = n->text;
	*depth = text == NULL ? 0 : client_depth(text);
	if (text != NULL)
		return client_token(text, len);
	*len = 0;
	if (n->text != NULL && n->kind != TOKEN_HELD)
		*len = strlen(n->text);
	return NULL;
}

static unsigned
count(const struct token_call *c)
{
	const struct token_name *n;
	unsigned done = 0;

	for (n = c->names; n < c->names + c->n; n++)
		done +=
		    n->settled &&
		    (holds_now(n) || n->status == OUTCOME_ENDED ||
			(n->status == OUTCOME_VALUE && n->kind != TOKEN_FREE));
	return done;
}

static unsigned
count_meant(const struct token_call *c)
{
	const struct token_name *n;
	unsigned meant = 0;

	for (n = c->names; n < c->names + c->n; n++)
		meant += n->settled && (n->key_bits & KEY_IS_MEANT) != 0;
	return meant;
}

/* Returns the least that is left of the bounds; -1 if there is none. */
static int64_t
least_ms(const struct token_call *c)
{
	const struct token_name *n;
	int64_t ms = -1;

	for (n = c->names; n < c->names + c->n; n++)
		if (n->settled && n->left_ms >= 0 &&
		    (ms < 0 || n->left_ms < ms))
			ms = n->left_ms;
	return ms;
}

void
result_emit(
    struct core *core, const struct token_call *c, enum token_answer how)
{
	const struct token_name *n = telling(c, how);
	struct token_result *r;
	uint64_t depth;
	char *token;
	size_t len;

	token = shown(c, n, &len, &depth);
	r = emit_token(
	    core, c->session, c->ref, token != NULL ? token : n->text, len);
	free(token);
	r->answer = how;
	if (how == TOKEN_DONE)
		r->done = count(c);
	/* A hold that was made or extended is the client's; the outcome
	 * describes only others. */
	r->kind = holds_now(n) ? TOKEN_HELD : n->kind;
	r->own = holds_now(n) || (n->key_bits & KEY_OF_SAME_USER) != 0;
	r->matches = holds_now(n) || (n->key_bits & KEY_IS_MEANT) != 0;
	if (c->op == TOKEN_QUERY)
		r->meant = count_meant(c);
	r->listed = c->listed;
	r->early = c->early;
	r->depth = depth - (depth > 0 && n->status == OUTCOME_ENDED);
	r->fence = n->fence;
	r->left_ms = how == TOKEN_DONE ? least_ms(c) : n->left_ms;
	if (r->left_ms < 0)
		r->left_ms = -1;
}

/* Describes a lease of this broker as the script would describe one that it
 * finds in Redis. */
void
result_emit_busy(struct core *core, const struct owner *asker,
    const struct token_request *rq)
{
	const struct hold *h = NULL;
	const struct lock *l;
	struct token_result *r;
	char text[LEASE_TEXT] = "";
	unsigned i;

	for (i = 0; i < rq->nnames && h == NULL; i++) {
		l = lock_find(core, rq->names[i].p, rq->names[i].n);
		h = l == NULL ? NULL : TAILQ_FIRST(&l->holders);
	}
	if (h != NULL)
		snprintf(text, sizeof(text), "%s.%016" PRIx64 ".%" PRIu64,
		    core->broker, core->config.instance, h->lock->lease.seq);
	r = emit_token(core, asker->id, rq->ref, text, strlen(text));
	r->answer = TOKEN_BUSY;
	r->kind = TOKEN_NATIVE;
	r->fence = h == NULL ? 0 : h->fence;
}
