/*
 * Commands on keys: token holds, which the core grants (core/token/token.h).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/resp.h"

/* StackExchange.Redis asks for this key whenever it connects. */
#define TIE_BREAK "__Booksleeve_TieBreak"

static int64_t
clock_ms(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void
resp_ask(
    struct broker *b, struct conn *c, const struct request *r, struct ask *a)
{
	struct core_event ev = { .kind = CORE_TOKEN };
	struct resp *rs = resp_of(c);

	a->rq.names = a->names;
	/* With GET, the client wants to see what is in the way: at once. */
	if (a->rq.op == TOKEN_ACQUIRE && a->rq.nnames == 1 &&
	    a->form != ASK_OLD_OR_NIL)
		a->rq.park_ms = b->config->resp.park_ms;
	rs->form = a->form;
	free(rs->mine);
	rs->mine = xstrndup(a->token.n > 0 ? a->token.p : "", a->token.n);
	rs->mine_len = a->token.n;
	a->rq.ref = conn_defer(c, r);
	ev.u.token.session = bridge_session(c);
	ev.u.token.request = &a->rq;
	bridge_step(b, &ev);
}

void
resp_answer(struct conn *c, uint64_t ref, const struct token_result *t,
    const char *text)
{
	struct resp *rs = resp_of(c);
	char mem[TAG_MAX_BYTES + 1];
	struct wire_reply reply;

	if (!conn_answered(c, ref, mem, &reply))
		return;
	ask_write(t, (struct span){ text + t->token, t->token_len }, rs->form,
	    (struct span){ rs->mine, rs->mine_len }, resp_three(c),
	    conn_output(c));
}

void
resp_key(struct broker *b, struct conn *c, const struct request *r)
{
	struct resp *rs = resp_of(c);
	struct ask a;
	struct buf why;

	buf_init(&why);
	if (!ask_parse(&a, rs->id, r->words, r->nwords, clock_ms(), &why))
		resp_error(conn_output(c),
		    (struct span){ buf_data(&why), buf_len(&why) });
	else
		resp_ask(b, c, r, &a);
	buf_fini(&why);
}

bool
resp_is_idle_question(enum resp_id id, const struct request *r)
{
	return id == RESP_GET && r->words[1].n == sizeof(TIE_BREAK) - 1 &&
	       memcmp(r->words[1].p, TIE_BREAK, r->words[1].n) == 0;
}
