/*
 * Commands of Redis: from the words to the handler.
 *
 * A RESP connection has one request at a time, so a command that waits keeps
 * its state in fields of the connection's struct resp.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "config/config.h"
#include "daemon/resp/resp.h"
#include "daemon/users/identity.h"

static resp_handler *const handlers[RESP_MAX] = {
#define COMMAND(id, word, arity, right, first, last, step, flags, handler) \
	[RESP_##id] = handler,
#include "resp/commands.def"
#undef COMMAND
};

void
resp_free(struct broker *b, struct resp *rs)
{
	if (rs == NULL)
		return;
	resp_spring_gone(b, rs);
	resp_multi_free(rs);
	resp_forget_channels(b, rs);
	free(rs->name);
	free(rs->new_name);
	free(rs->mine);
	free(rs->lock);
	free(rs->parts);
	resp_look_free(rs->look);
	free(rs);
}

bool
resp_takes_reply(
    struct broker *b, struct conn *c, const struct wire_reply *reply)
{
	struct client *client = conn_data(c);
	resp_then then;

	if (client->resp == NULL ||
	    (client->resp->then == NULL && client->resp->exec == NULL))
		return false;
	then = client->resp->then;
	client->resp->then = NULL;
	resp_exec_begins(c);
	if (then != NULL)
		then(b, c, reply);
	else
		resp_refusal(conn_output(c), reply);
	resp_exec_ends(c);
	return true;
}

/* In RESP2, a client that has subscribed could take an answer for a message. */
static bool
refuse_listener(struct conn *c, enum resp_id id)
{
	const struct client *client = conn_data(c);

	if (resp_three(c) || client->resp == NULL ||
	    client->resp->nchannels == 0 ||
	    (resp_rows[id].flags & RESP_FLAG_LISTENER))
		return false;
	resp_fail(c,
	    "ERR Can't execute '%s': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE /"
	    " PING / QUIT / RESET are allowed in this context",
	    resp_rows[id].word);
	return true;
}

/* Returns true if it has refused the command. */
static bool
refuse(
    struct broker *b, struct conn *c, const struct request *r, enum resp_id id)
{
	struct span names[RESP_WORDS_MAX];
	struct need need = { .word = resp_rows[id].word,
		.right = resp_rows[id].right,
		.gives_back = (resp_rows[id].flags & RESP_FLAG_GIVES_BACK) != 0,
		.names = names };
	unsigned first, i;

	/* A latch is no lock; a client that knows its name has made it. */
	if (resp_is_latch(id, r))
		need.right = RIGHT_USER;
	else
		need.nnames = resp_names(id, r->nwords, &first);
	for (i = 0; i < need.nnames; i++)
		names[i] = ask_lock_of(
		    id, r->words[first + i * (unsigned)resp_rows[id].step]);
	if (identity_refuses_command(b->identity, c, r, &need) ||
	    refuse_listener(c, id))
		return true;
	if (!(resp_rows[id].flags & RESP_FLAG_TOKEN) ||
	    b->config->redis.mode != CONFIG_MODE_QUORUM)
		return false;
	resp_fail(c, "UNSUPPORTED holds of tokens are not available over a"
		     " quorum of Redis servers");
	return true;
}

static void
run(struct broker *b, struct conn *c, const struct request *r, enum resp_id id)
{
	if (resp_is_idle_question(id, r)) {
		resp_null(conn_output(c), resp_three(c));
	} else if (!refuse(b, c, r, id)) {
		resp_of(c)->id = id;
		if (resp_is_latch(id, r))
			resp_del_latch(b, c, r);
		else
			handlers[id](b, c, r);
	}
}

void
resp_exec(struct broker *b, struct conn *c, const struct request *r)
{
	resp_multi_exec(b, c, r, run);
}

void
resp_command(void *arg, struct conn *c, const struct request *r)
{
	struct broker *b = arg;
	enum resp_id id;
	struct buf why;

	if (resp_multi_takes(c, r))
		return;
	buf_init(&why);
	id = resp_find(r->words, r->nwords, &why);
	if (id == RESP_MAX)
		conn_refuse(c, r, ERR_UNKNOWN_COMMAND, "%.*s",
		    (int)buf_len(&why), buf_data(&why));
	else
		run(b, c, r, id);
	buf_fini(&why);
}
