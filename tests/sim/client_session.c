/*
 * Clients whose sessions survive: they ask for grace, lose their connections
 * in every possible way, and come back for what they had.
 */
#include "config.h"

#include <string.h>

#include "client_parts.h"
#include "world.h"

static event_fn client_on_late_end;

/* As a client does whose work may outlive it. */
static void
draw_end(struct prng *p, struct input *in)
{
	in->has_end = prng_chance(p, 400);
	in->by_quit_only = in->has_end && prng_chance(p, 750);
}

static void
send_tenure(struct client *c)
{
	struct prng *p = &c->w->uses.prng;
	struct input *in = input_new(INPUT_TENURE, c->sitting);

	in->ref = checker_asked(c->w, c, ASK_SESSION, 0, NULL);
	in->grace_ms = prng_skewed(p, 1, 4 * c->w->lease_ms);
	if (prng_chance(p, 50))
		in->grace_ms = 0;
	c->grace_ms = in->grace_ms;
	in->heartbeat_ms = -1;
	draw_end(p, in);
	c->untagged = in->ref;
	client_send(c, in);
}

/* A client whose work may outlive it. */
void
client_use_end(struct client *c)
{
	struct input *in = input_new(INPUT_TENURE, c->sitting);

	in->ref = checker_asked(c->w, c, ASK_SESSION, 0, NULL);
	in->grace_ms = in->heartbeat_ms = -1;
	in->has_end = in->by_quit_only = true;
	c->untagged = in->ref;
	client_send(c, in);
}

/* Chance decides whether it keeps its promise. */
void
client_use_heartbeat(struct client *c)
{
	struct prng *p = &c->w->uses.prng;
	struct input *in = input_new(INPUT_TENURE, c->sitting);

	in->ref = checker_asked(c->w, c, ASK_SESSION, 0, NULL);
	in->grace_ms = -1;
	in->heartbeat_ms =
	    prng_range(p, c->w->lease_ms / 4, 4 * c->w->lease_ms);
	if (prng_chance(p, 100))
		in->heartbeat_ms = 0;
	draw_end(p, in);
	c->untagged = in->ref;
	client_send(c, in);
}

/* The broker learns late that a connection has broken. */
static void
client_on_late_end(void *object, uint64_t tag)
{
	struct client *c = object;
	struct world *w = c->w;
	struct broker *b = &w->brokers[checker_broker(w, tag)];

	if (b->alive && !checker_sitting_gone(w, tag))
		broker_input(b, input_new(INPUT_GONE, tag));
}

static void
drop(struct client *c)
{
	struct world *w = c->w;
	struct prng *p = &w->uses.prng;
	struct input *in;

	if (prng_chance(p, 330)) {
		events_at(&w->events,
		    world_now(w) + prng_skewed(p, 1000, 2 * w->lease_ms * 1000),
		    client_on_late_end, c, c->sitting);
	} else {
		in = input_new(INPUT_GONE, c->sitting);
		in->orderly = prng_chance(p, 500);
		client_send(c, in);
	}
	history_note(&w->history, world_now(w), HISTORY_INFO, c->session,
	    HISTORY_CLOSED, NULL, 0);
	client_lose(c);
	client_plan(c, 1000, 1000 + c->grace_ms * 1200);
}

void
client_use_session(struct client *c)
{
	if (c->key[0] != '\0' && prng_chance(&c->w->uses.prng, 800))
		drop(c);
	else
		send_tenure(c);
}

void
client_resume(struct client *c)
{
	struct prng *p = &c->w->uses.prng;
	struct input *in = input_new(INPUT_RESUME, c->sitting);

	in->ref = checker_asked(c->w, c, ASK_RESUME, 0, NULL);
	memcpy(in->key, c->key, sizeof(in->key));
	in->resumes = c->resumes;
	if (prng_chance(p, 50)) {
		in->key[prng_below(p, strlen(c->key))] ^= 1;
		in->resumes = 0;
	}
	c->untagged = in->ref;
	client_send(c, in);
}

/* It asks with LIST what it has, because answers may have been lost. */
static void
believe_all(struct client *c)
{
	const struct grant *g;
	int i;

	for (i = 0; i < CLIENT_NAMES_MAX; i++) {
		g = checker_grant_of(c->w, c->session, i);
		c->beliefs[i].depth = 0;
		if (g == NULL || g->drill > 0)
			continue;
		c->beliefs[i].depth = (unsigned)g->depth;
		c->beliefs[i].fence = g->fence;
	}
	for (i = 0; i < CHECKER_SEMAPHORES_MAX; i++)
		c->permits[i] = checker_permits_of(c->w, c->session, i);
}

/* It is asked to try once more. */
static void
come_again(struct client *c)
{
	struct input *in = input_new(INPUT_GONE, c->sitting);

	in->orderly = true;
	client_send(c, in);
	history_note(&c->w->history, world_now(c->w), HISTORY_INFO, c->session,
	    HISTORY_CLOSED, NULL, 0);
	client_lose(c);
}

void
client_hear_session(
    struct client *c, const struct answer *a, const struct ask *ask)
{
	if (ask->kind == ASK_SESSION && a->status == STATUS_OK) {
		memcpy(c->key, a->key, sizeof(c->key));
		c->resumes = a->session;
		/* Without grace the session may still be there for a while, or
		 * not. */
		if (c->grace_ms == 0)
			c->key[0] = '\0';
	}
	if (ask->kind != ASK_RESUME)
		return;
	if (a->status == STATUS_OK) {
		c->session = a->session;
		believe_all(c);
		return;
	}
	if (a->code == ERR_UNAVAILABLE) {
		come_again(c);
		return;
	}
	c->key[0] = '\0';
	c->grace_ms = 0;
	c->drilled = 0;
	memset(c->beliefs, 0, sizeof(c->beliefs));
	memset(c->permits, 0, sizeof(c->permits));
}
