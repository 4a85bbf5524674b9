/*
 * What clients do with latches and barriers.
 */
#include "config.h"

#include "client_parts.h"
#include "world.h"

/* How long a request may wait.  A client that has something does not wait for
 * ever. */
static int64_t
choose_wait(struct client *c)
{
	struct prng *p = &c->w->uses.prng;
	bool holds = client_held_name(c) >= 0 || client_has_permits(c);

	if (prng_chance(p, 100))
		return 0;
	if (!holds && prng_chance(p, 400))
		return CORE_WAIT_FOREVER;
	return prng_skewed(p, 1, 4 * c->w->lease_ms);
}

/* Sends a request that may wait long; now and then under a tag. */
static void
send_waiting(struct client *c, struct input *in)
{
	struct core_request *rq = &in->request;
	struct prng *p = &c->w->uses.prng;

	rq->wait_ms = choose_wait(c);
	if (c->tagged == 0 && prng_chance(p, 300)) {
		rq->untagged = false;
		c->tagged = in->ref;
		c->untagged = 0;
	}
	checker_wants(c->w, in->ref, rq);
	client_send(c, in);
	if (c->untagged == 0 || prng_chance(p, 100))
		client_plan(c, 1000, c->w->lease_ms * 1000);
}

static void
send_count(struct client *c, int latch)
{
	struct input *in =
	    client_object(c, ASK_COUNTDOWN, VERB_COUNTDOWN, 'l', latch);

	in->request.number = (uint64_t)prng_skewed(&c->w->uses.prng, 1, 4);
	checker_wants(c->w, in->ref, &in->request);
	client_send(c, in);
}

static void
send_make(struct client *c, int latch)
{
	struct prng *p = &c->w->uses.prng;
	struct input *in = client_object(c, ASK_LATCH, VERB_LATCH, 'l', latch);

	in->request.number = (uint64_t)prng_range(p, 1, 10);
	in->request.ttl_ms = prng_range(p, c->w->lease_ms, 6 * c->w->lease_ms);
	checker_wants(c->w, in->ref, &in->request);
	client_send(c, in);
}

void
client_use_latch(struct client *c)
{
	uint64_t dice = prng_below(&c->w->uses.prng, 100);
	int latch = (int)prng_below(&c->w->uses.prng, CHECKER_LATCHES_MAX);

	if (dice < 20)
		send_make(c, latch);
	else if (dice < 60)
		send_count(c, latch);
	else
		send_waiting(
		    c, client_object(c, ASK_AWAIT, VERB_AWAIT, 'l', latch));
}

void
client_use_barrier(struct client *c)
{
	struct prng *p = &c->w->uses.prng;
	int barrier = (int)prng_below(p, CHECKER_BARRIERS_MAX);
	struct input *in =
	    client_object(c, ASK_BARRIER, VERB_BARRIER, 'g', barrier);

	in->request.limit = c->w->uses.parties;
	if (prng_chance(p, 30))
		in->request.limit++;
	send_waiting(c, in);
}
