/*
 * MULTI and EXEC, as pipelines of client libraries send them: one command on
 * locks, with PING, ECHO and TIME beside it.
 *
 *	MULTI --> struct multi: commands are queued, and looked at
 *	EXEC  --> -EXECABORT, if they are anything else
 *	      --> struct exec: what stands before and after the answer to the
 *	          one command, while that is carried out
 *
 * Nothing may come into the answer, which is one array: so it is written when
 * the command has been answered, and not before.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "daemon/resp/resp.h"

#define COMMANDS_MAX 100

struct multi {
	unsigned n;	/* commands */
	size_t bytes;	/* of their words */
	bool refused;	/* `why` says why */
	struct buf why; /* of the first that is refused */
	bool has;	/* the one on locks, which is `id` with `words` */
	enum resp_id id;
	unsigned nwords;
	struct span *words;	   /* owned; they point into ... */
	char *mem;		   /* ... this; owned */
	struct buf before, behind; /* answers to the others */
};

static void
multi_free(struct multi *m)
{
	if (m == NULL)
		return;
	free(m->words);
	free(m->mem);
	buf_fini(&m->why);
	buf_fini(&m->before);
	buf_fini(&m->behind);
	free(m);
}

void
resp_multi_free(struct resp *rs)
{
	multi_free(rs->multi);
	multi_free(rs->exec);
	rs->multi = rs->exec = NULL;
}

void
resp_multi(struct broker *b, struct conn *c, const struct request *r)
{
	struct resp *rs = resp_of(c);

	(void)b;
	(void)r;
	rs->multi = xcalloc(1, sizeof(*rs->multi));
	buf_init(&rs->multi->why);
	buf_init(&rs->multi->before);
	buf_init(&rs->multi->behind);
	resp_simple(conn_output(c), "OK");
}

void
resp_discard(struct broker *b, struct conn *c, const struct request *r)
{
	(void)b;
	(void)r;
	if (resp_of(c)->multi == NULL) {
		resp_fail(c, "ERR DISCARD without MULTI");
		return;
	}
	multi_free(resp_of(c)->multi);
	resp_of(c)->multi = NULL;
	resp_simple(conn_output(c), "OK");
}

/* Queueing. */

static void
refuse(struct multi *m, const char *why, struct span what)
{
	if (m->refused)
		return;
	m->refused = true;
	buf_adds(&m->why, why);
	buf_add(&m->why, what.p, what.n);
}

void
resp_multi_spoil(struct conn *c, const char *why)
{
	const struct client *client = conn_data(c);

	if (client->resp != NULL && client->resp->multi != NULL)
		refuse(client->resp->multi, why, (struct span){ "", 0 });
}

/* The answer is written now, and there is nothing to carry out later. */
static bool
answers(struct multi *m, const struct request *r, enum resp_id id)
{
	struct buf *out = m->has ? &m->behind : &m->before;

	if (id == RESP_PING && r->nwords == 1)
		resp_simple(out, "PONG");
	else if ((id == RESP_PING && r->nwords == 2) || id == RESP_ECHO)
		resp_bulk(out, r->words[1]);
	else if (id == RESP_TIME)
		resp_time_now(out);
	else
		return false;
	return true;
}

static void
keep(struct multi *m, const struct request *r, enum resp_id id)
{
	char *bytes = m->mem = xmalloc(m->bytes);
	unsigned i;

	m->has = true;
	m->id = id;
	m->nwords = r->nwords;
	m->words = xcalloc(r->nwords, sizeof(*m->words));
	for (i = 0; i < r->nwords; i++) {
		memcpy(bytes, r->words[i].p, r->words[i].n);
		m->words[i] = (struct span){ bytes, r->words[i].n };
		bytes += r->words[i].n;
	}
}

static void
queue(struct multi *m, const struct request *r)
{
	struct buf why;
	enum resp_id id;
	size_t others = m->bytes;
	unsigned i;

	for (i = 0; i < r->nwords; i++)
		m->bytes += r->words[i].n;
	if (++m->n > COMMANDS_MAX || m->bytes > RESP_BYTES_MAX) {
		refuse(m, "too many commands, or too long", (struct span){ 0 });
		return;
	}
	buf_init(&why);
	id = resp_find(r->words, r->nwords, &why);
	if (id == RESP_MAX)
		refuse(m, "", (struct span){ buf_data(&why), buf_len(&why) });
	else if ((resp_rows[id].flags & RESP_FLAG_TOKEN) && m->has)
		refuse(m, "more than one command on locks", (struct span){ 0 });
	else if (resp_rows[id].flags & RESP_FLAG_TOKEN) {
		m->bytes -= others;
		keep(m, r, id);
		m->bytes += others;
	} else if (!answers(m, r, id))
		refuse(m, "a transaction cannot contain ",
		    (struct span){ resp_rows[id].word, resp_rows[id].len });
	buf_fini(&why);
}

bool
resp_multi_takes(struct conn *c, const struct request *r)
{
	const struct client *client = conn_data(c);
	struct multi *m = client->resp == NULL ? NULL : client->resp->multi;

	if (m == NULL)
		return false;
	if (r->verb != VERB_MAX) {
		m->n++;
		refuse(m, "a transaction cannot contain ",
		    span_of(verbs[r->verb].word));
	} else if (resp_says(r->words[0], "EXEC") ||
		   resp_says(r->words[0], "DISCARD") ||
		   resp_says(r->words[0], "RESET") ||
		   resp_says(r->words[0], "QUIT")) {
		return false;
	} else if (resp_says(r->words[0], "MULTI")) {
		resp_fail(c, "ERR MULTI calls can not be nested");
		return true;
	} else {
		queue(m, r);
	}
	resp_simple(conn_output(c), "QUEUED");
	return true;
}

/* EXEC. */

/* Returns false if there is nothing to carry out; it has answered that. */
static bool
may_exec(struct conn *c, struct multi *m)
{
	if (m == NULL) {
		resp_fail(c, "ERR EXEC without MULTI");
		return false;
	}
	if (!m->refused && m->has)
		return true;
	refuse(m, "it takes one command on locks", (struct span){ 0 });
	resp_fail(c, "EXECABORT nothing was done: %.*s", (int)buf_len(&m->why),
	    buf_data(&m->why));
	return false;
}

void
resp_exec_begins(struct conn *c)
{
	const struct client *client = conn_data(c);
	const struct multi *e =
	    client->resp == NULL ? NULL : client->resp->exec;

	if (e == NULL)
		return;
	resp_array(conn_output(c), e->n);
	buf_add(conn_output(c), buf_data(&e->before), buf_len(&e->before));
}

void
resp_exec_ends(struct conn *c)
{
	struct resp *rs = resp_of(c);

	if (rs->exec == NULL)
		return;
	buf_add(conn_output(c), buf_data(&rs->exec->behind),
	    buf_len(&rs->exec->behind));
	multi_free(rs->exec);
	rs->exec = NULL;
}

/* The command was answered at once, and has begun nothing: its answer goes
 * where it belongs. */
static void
put_in_place(struct conn *c, size_t at)
{
	struct buf *out = conn_output(c);
	struct buf answer;

	buf_init(&answer);
	buf_add(&answer, buf_data(out) + at, buf_len(out) - at);
	buf_cut(out, at);
	resp_exec_begins(c);
	buf_add(out, buf_data(&answer), buf_len(&answer));
	resp_exec_ends(c);
	buf_fini(&answer);
}

void
resp_multi_exec(
    struct broker *b, struct conn *c, const struct request *r, resp_run *run)
{
	struct resp *rs = resp_of(c);
	struct multi *m = rs->multi;
	uint64_t conn = conn_id(c);
	struct request one;
	char *mem;
	size_t at;

	rs->multi = NULL; /* nothing is queued any more */
	if (!may_exec(c, m)) {
		multi_free(m);
		return;
	}
	at = buf_len(conn_output(c));
	request_init(&one);
	one.tag = r->tag;
	one.verb = r->verb;
	one.nwords = m->nwords;
	memcpy(one.words, m->words, m->nwords * sizeof(m->words[0]));
	mem = m->mem; /* may be in use after the answer */
	m->mem = NULL;
	rs->exec = m;
	run(b, c, &one, m->id);
	c = front_find(b->front, conn);
	if (c != NULL && rs->exec != NULL && !conn_owes(c))
		put_in_place(c, at);
	free(mem);
}
