/*
 * Administrators who drill names, and clients that go on after they were told
 * that they have lost one, for a while or to their end.
 */
#include "config.h"

#include "client_parts.h"
#include "world.h"

void
client_use_drill(struct client *c)
{
	struct world *w = c->w;
	struct prng *p = &w->uses.drills;
	int name = (int)prng_below(p, (uint64_t)w->nnames);
	struct input *in = client_request(c, ASK_DRILL, VERB_DRILL, name);
	struct core_request *rq = &in->request;

	rq->max_ms = prng_skewed(p, 1, 4 * w->lease_ms);
	if (c->tagged == 0 && prng_chance(p, 500)) {
		rq->untagged = false;
		c->tagged = in->ref;
		c->untagged = 0;
	}
	checker_wants(w, in->ref, rq);
	client_send(c, in);
	if (c->untagged == 0 || prng_chance(p, 100))
		client_plan(c, 1000, w->lease_ms * 1000);
}

void
client_drilled(struct client *c, int name)
{
	c->drilled |= 1u << name;
	c->stubborn &= ~(1u << name);
	if (prng_chance(&c->w->uses.drills, 200))
		c->stubborn |= 1u << name;
}

bool
client_lets_go(struct client *c)
{
	unsigned names = c->drilled & ~c->stubborn;
	int i;

	for (i = 0; i < CLIENT_NAMES_MAX; i++) {
		if (((names >> i) & 1) == 0 ||
		    !prng_chance(&c->w->uses.drills, 400))
			continue;
		c->drilled &= ~(1u << i);
		client_send(c, client_request(c, ASK_UNLOCK, VERB_UNLOCK, i));
		return true;
	}
	return false;
}
