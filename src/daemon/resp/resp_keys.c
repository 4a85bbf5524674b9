/*
 * Commands on keys: token holds, which the core grants
 * (core/parts/token/token.h).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/resp/resp.h"

/* StackExchange.Redis asks for this key whenever it connects. */
#define TIE_BREAK "__Booksleeve_TieBreak"

/* Limits how long a client waits, as for a LOCK. */
static int64_t
await_ms(const struct broker *b, int64_t ms)
{
	int64_t most_ms = b->config->resp.max_wait_ms;

	return most_ms > 0 && ms > most_ms ? most_ms : ms;
}

void
resp_ask(
    struct broker *b, struct conn *c, const struct request *r, struct ask *a)
{
	struct resp *rs = resp_of(c);

	a->rq.names = a->names;
	/* With GET, the client wants to see what is in the way: at once.  An
	 * error is nothing to wait for. */
	if (rs->exec != NULL)
		a->rq.park_ms = 0;
	else if (a->rq.awaits)
		a->rq.park_ms = await_ms(b, a->rq.park_ms);
	else if (a->rq.op == TOKEN_ACQUIRE && a->rq.nnames == 1 &&
		 a->form != ASK_OLD_OR_NIL && a->wrong.where == 0)
		a->rq.park_ms = b->config->resp.park_ms;
	resp_audience_ask(b, c, a);
	resp_spring_asks(rs, a);
	rs->form = a->form;
	rs->wrong = a->wrong;
	free(rs->mine);
	rs->mine = xstrndup(a->token.n > 0 ? a->token.p : "", a->token.n);
	rs->mine_len = a->token.n;
	a->rq.ref = conn_defer(c, r);
	resp_redisson_asks(b, c, a);
	rs->parks = a->rq.park_ms > 0 && !a->rq.awaits;
	resp_step(b, c, &a->rq);
}

bool
resp_is_parked(const struct conn *c)
{
	const struct client *client = conn_data(c);

	return client->resp != NULL && client->resp->parks;
}

void
resp_answer(struct broker *b, struct conn *c, uint64_t ref,
    const struct token_result *t, const char *text)
{
	struct resp *rs = resp_of(c);
	char mem[TAG_MAX_BYTES + 1];
	struct wire_reply reply;
	struct token_result told = *t;
	const struct span token = { text + t->token, t->token_len };
	const char *error;
	struct span mine;

	if (resp_spring_woken(b, c, ref, t) ||
	    resp_part_told(c, ref, t, NULL) || resp_look_told(b, c, ref, t) ||
	    !conn_answered(c, ref, mem, &reply))
		return;
	resp_audience_freed(b, c, t);
	resp_spring_told(b, c, t);
	rs->then = NULL;
	mine = (struct span){ rs->mine, rs->mine_len };
	error = ask_error(&told, &rs->wrong);
	resp_exec_begins(c);
	if (error != NULL)
		resp_fail(c, "ERR %s", error);
	else
		ask_write(&told, token, rs->form, mine, resp_three(c),
		    conn_output(c));
	resp_exec_ends(c);
}

void
resp_key(struct broker *b, struct conn *c, const struct request *r)
{
	struct resp *rs = resp_of(c);
	struct ask a;
	struct buf why;

	buf_init(&why);
	if (!ask_parse(&a, rs->id, r->words, r->nwords,
		resp_clock_ms(b, r->words[r->nwords > 1]), &why))
		resp_fail_why(c, &why);
	else
		resp_ask(b, c, r, &a);
	buf_fini(&why);
}

/* python-redis-lock waits for a list with the name of its lock. */
void
resp_blpop(struct broker *b, struct conn *c, const struct request *r)
{
	struct ask a;
	struct buf why;

	buf_init(&why);
	if (!ask_parse(&a, RESP_BLPOP, r->words, r->nwords, 0, &why))
		resp_fail_why(c, &why);
	else if (!resp_refuse_names(b, c, r, "blpop", &a))
		resp_ask(b, c, r, &a);
	buf_fini(&why);
}

bool
resp_is_idle_question(enum resp_id id, const struct request *r)
{
	return id == RESP_GET && span_is(r->words[1], TIE_BREAK);
}
