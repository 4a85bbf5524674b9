/*
 * Clients that take permits of semaphores, and give them back.
 */
#include "config.h"

#include "client_parts.h"
#include "world.h"

bool
client_has_permits(const struct client *c)
{
	int i;

	for (i = 0; i < CHECKER_SEMAPHORES_MAX; i++)
		if (c->permits[i] > 0)
			return true;
	return false;
}

/* Any semaphore, or, to give permits back, one of which the client has some. */
static int
choose_semaphore(struct client *c, bool release)
{
	int at = 0;

	if (uses_has(c->w, USE_SEMAPHORES))
		at = (int)prng_below(&c->w->uses.prng, CHECKER_SEMAPHORES_MAX);
	while (release && c->permits[at] == 0)
		at = (at + 1) % CHECKER_SEMAPHORES_MAX;
	return at;
}

static void
send_permits(struct client *c, bool release)
{
	struct world *w = c->w;
	struct prng *p = &w->prng;
	int at = choose_semaphore(c, release);
	struct input *in = client_object(c, release ? ASK_RELEASE : ASK_ACQUIRE,
	    release ? VERB_RELEASE : VERB_ACQUIRE, 's', at);
	struct core_request *rq = &in->request;
	uint64_t most = release ? c->permits[at] : w->permits[at];

	rq->number = (uint64_t)prng_range(p, 1, (int64_t)most);
	rq->limit = w->permits[at];
	if (uses_has(w, USE_SEMAPHORES) && prng_chance(&w->uses.prng, 150))
		rq->limit++;
	if (!release && uses_wants_slot(w, c->broker)) {
		rq->slot = true;
		rq->number = 1;
	}
	if (release)
		c->permits[at] -= rq->number;
	else
		rq->wait_ms = client_choose_wait(c, true);
	if (!release && prng_chance(p, 100)) {
		rq->has_hold = true;
		rq->hold_ms = prng_skewed(p, 1, 2 * w->lease_ms);
	}
	checker_wants(w, in->ref, rq);
	client_send(c, in);
}

void
client_use_permits(struct client *c)
{
	send_permits(c, client_has_permits(c) && prng_chance(&c->w->prng, 700));
}
