/*
 * A message that hands a name over is delivered again at the worst time: while
 * its broker gives the name back, or is about to confirm the message.
 */
#include "config.h"

#include <string.h>

#include "faults.h"
#include "world.h"

static bool
is_handover(struct text message)
{
	return message.len > 8 && message.len < ECHO_SIZE &&
	       (memcmp(message.p, "given ", 6) == 0 ||
		   memcmp(message.p, "grant ", 6) == 0) &&
	       message.p[message.len - 2] == 'n';
}

void
faults_note_echo(struct conn *c, struct text message)
{
	struct broker *b = c->broker;
	int name;

	if (!is_handover(message))
		return;
	name = message.p[message.len - 1] - '0';
	memcpy(b->echoes[name], message.p, message.len);
	b->echoes[name][message.len] = '\0';
}

/* Sends it to the connection that hears messages, if there is one. */
static void
repeat(struct broker *b, const char *message)
{
	struct world *w = b->w;
	struct text text = { message, strlen(message) };
	struct conn *c;

	c = net_some_conn(b, true, w->nservers);
	if (c == NULL || !c->subscribed)
		return;
	TRACE(w, "%s hears '%s' once more", b->name, message);
	conn_message(c, text, prng_skewed(&w->prng, 1, 4 * w->latency_us));
}

void
faults_echo(struct world *w, struct broker *b, const struct flight *op)
{
	int name = op->name[1] - '0';

	if (op->name[0] != 'n' ||
	    (op->kind != OP_END && op->kind != OP_CONVERT &&
		op->kind != OP_CONFIRM))
		return;
	if (b->echoes[name][0] != '\0' && prng_chance(&w->prng, 300))
		repeat(b, b->echoes[name]);
}
