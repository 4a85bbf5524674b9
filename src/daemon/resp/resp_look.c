/*
 * A script that looks up the remaining time of a hold, and extends the hold
 * only if that time is enough: two requests to the core, of which the second
 * one goes out behind the step in which the first one was answered.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "daemon/resp/resp.h"

struct look {
	LIST_ENTRY(look) link; /* if it is in broker.looks */
	bool listed, sent;
	uint64_t conn, ref;
	int64_t least_ms, left_ms;
	struct token_request extension;
	struct core_name name;
	char *text, *token; /* owned */
};

void
resp_look_free(struct look *l)
{
	if (l == NULL)
		return;
	if (l->listed)
		LIST_REMOVE(l, link);
	free(l->text);
	free(l->token);
	free(l);
}

void
resp_look(
    struct broker *b, struct conn *c, const struct request *r, struct ask *a)
{
	struct resp *rs = resp_of(c);
	struct look *l = xcalloc(1, sizeof(*l));

	resp_look_free(rs->look);
	rs->look = l;
	l->conn = conn_id(c);
	l->ref = a->rq.ref = conn_defer(c, r);
	l->least_ms = a->least_ms;
	l->text = xstrndup(a->names[0].p, a->names[0].n);
	l->token = xstrndup(a->rq.token, a->rq.token_len);
	l->name = a->names[0];
	l->name.p = l->text;
	l->extension = a->rq;
	l->extension.names = &l->name;
	l->extension.token = l->token;
	a->rq.names = a->names;
	a->rq.op = TOKEN_QUERY;
	a->rq.ttl_ms = 0;
	resp_step(b, c, &a->rq);
}

static void
finish(struct conn *c, int64_t code, int64_t left_ms)
{
	struct resp *rs = resp_of(c);
	struct look *l = rs->look;
	char mem[TAG_MAX_BYTES + 1];
	struct wire_reply reply;

	rs->look = NULL;
	if (conn_answered(c, l->ref, mem, &reply)) {
		resp_exec_begins(c);
		resp_array(conn_output(c), 2);
		resp_int(conn_output(c), code);
		resp_int(conn_output(c), left_ms);
		resp_exec_ends(c);
	}
	resp_look_free(l);
}

bool
resp_look_told(struct broker *b, struct conn *c, uint64_t ref,
    const struct token_result *t)
{
	struct look *l = resp_of(c)->look;

	if (l == NULL || l->ref != ref)
		return false;
	if (l->sent) {
		finish(c, t->answer == TOKEN_DONE ? 1 : -1, l->left_ms);
	} else if (t->answer == TOKEN_ABSENT || t->kind == TOKEN_FREE) {
		finish(c, -1, -2);
	} else if (t->left_ms < l->least_ms || !t->matches) {
		finish(c, t->left_ms < l->least_ms ? 0 : -1, t->left_ms);
	} else {
		l->left_ms = t->left_ms;
		l->listed = true;
		LIST_INSERT_HEAD(&b->looks, l, link);
	}
	return true;
}

void
resp_look_run(struct broker *b)
{
	struct look *l;
	struct conn *c;

	while ((l = LIST_FIRST(&b->looks)) != NULL) {
		LIST_REMOVE(l, link);
		l->listed = false;
		l->sent = true;
		c = front_find(b->front, l->conn);
		if (c != NULL)
			resp_step(b, c, &l->extension);
	}
}
