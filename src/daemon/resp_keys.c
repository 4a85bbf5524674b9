/*
 * Commands on keys: token holds, which the core grants (core/token/token.h).
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/identity.h"
#include "daemon/resp.h"

/* StackExchange.Redis asks for this key whenever it connects. */
#define TIE_BREAK "__Booksleeve_TieBreak"

int64_t
resp_clock_ms(const struct broker *b, struct span name)
{
	int64_t ms = core_server_ms(b->core, now_ms(), name.p, name.n);
	struct timespec ts;

	if (ms > 0)
		return ms;
	(void)clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* Limits how long a client waits, as that of a LOCK. */
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
	struct core_event ev = { .kind = CORE_TOKEN };
	struct resp *rs = resp_of(c);

	a->rq.names = a->names;
	/* With GET, the client wants to see what is in the way: at once. */
	if (a->rq.awaits)
		a->rq.park_ms = await_ms(b, a->rq.park_ms);
	else if (a->rq.op == TOKEN_ACQUIRE && a->rq.nnames == 1 && !a->mutex &&
		 a->form != ASK_OLD_OR_NIL)
		a->rq.park_ms = b->config->resp.park_ms;
	resp_mutex_asks(rs, a);
	resp_redisson_asks(rs, a);
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
resp_answer(struct broker *b, struct conn *c, uint64_t ref,
    const struct token_result *t, const char *text)
{
	struct resp *rs = resp_of(c);
	char mem[TAG_MAX_BYTES + 1];
	struct wire_reply reply;

	if (resp_mutex_woken(b, c, ref, t) || resp_part_told(c, ref, t, NULL) ||
	    !conn_answered(c, ref, mem, &reply))
		return;
	resp_mutex_told(b, c, t);
	resp_redisson_told(b, rs, t);
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
	if (!ask_parse(&a, rs->id, r->words, r->nwords,
		resp_clock_ms(b, r->words[r->nwords > 1]), &why))
		resp_error(conn_output(c),
		    (struct span){ buf_data(&why), buf_len(&why) });
	else
		resp_ask(b, c, r, &a);
	buf_fini(&why);
}

/* Names that stand not for themselves among the words need their rights,
 * too. */
bool
resp_refuse_names(struct broker *b, struct conn *c, const struct request *r,
    const char *word, const struct ask *a)
{
	struct span names[CORE_NAMES_MAX];
	struct need need = { .word = word,
		.right = RIGHT_LOCK,
		.gives_back = a->rq.op == TOKEN_RELEASE,
		.names = names,
		.nnames = a->rq.nnames };
	unsigned i;

	for (i = 0; i < a->rq.nnames; i++)
		names[i] = (struct span){ a->names[i].p, a->names[i].n };
	return identity_refuses_command(b->identity, c, r, &need);
}

/* python-redis-lock waits for a list with the name of its lock. */
void
resp_blpop(struct broker *b, struct conn *c, const struct request *r)
{
	struct ask a;
	struct buf why;

	buf_init(&why);
	if (!ask_parse(&a, RESP_BLPOP, r->words, r->nwords, 0, &why))
		resp_error(conn_output(c),
		    (struct span){ buf_data(&why), buf_len(&why) });
	else if (!resp_refuse_names(b, c, r, "blpop", &a))
		resp_ask(b, c, r, &a);
	buf_fini(&why);
}

bool
resp_is_idle_question(enum resp_id id, const struct request *r)
{
	return id == RESP_GET && r->words[1].n == sizeof(TIE_BREAK) - 1 &&
	       memcmp(r->words[1].p, TIE_BREAK, r->words[1].n) == 0;
}
