/*
 * Clients that watch names, and administrators who force them.
 */
#include "config.h"

#include "client_parts.h"
#include "world.h"

static int
some_name(struct client *c)
{
	return (int)prng_below(&c->w->uses.prng, (uint64_t)c->w->nnames);
}

void
client_use_watch(struct client *c)
{
	bool ends = prng_chance(&c->w->uses.prng, 300);
	struct input *in = client_request(c, ends ? ASK_UNWATCH : ASK_WATCH,
	    ends ? VERB_UNWATCH : VERB_WATCH, some_name(c));

	client_send(c, in);
}

void
client_use_force(struct client *c)
{
	client_send(
	    c, client_request(c, ASK_FORCE, VERB_UNLOCK_FORCE, some_name(c)));
}
