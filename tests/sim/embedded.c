/*
 * Embedded: one broker, and a server that is its own and ends with it.  What
 * clients may still count on then is in a note on disk (daemon/promise.c, whose
 * rule is copied here).
 */
#include "config.h"

#include "topology.h"
#include "world.h"

void
embedded_draw(struct world *w)
{
	w->nservers = 1;
	w->shards = 1;
	w->nbrokers = 1;
	w->owned = true;
}

/* A server of this process; nothing was written to any disk. */
void
embedded_begin(struct broker *b)
{
	struct server *s = &b->w->servers[0];

	b->floor_ms = b->promised_ms;
	b->npools = 1;
	b->pools[0].server = s;
	if (s->up)
		server_stop(s);
	server_start(s, SERVER_EMPTY);
	checker_amnesia(b->w);
}

/* Before a client is told a valid=. */
void
embedded_promise(struct broker *b)
{
	int64_t until_ms = core_promised_ms(b->core);

	if (!b->w->owned || until_ms <= b->promised_ms)
		return;
	b->promised_ms = until_ms + b->w->lease_ms / 3;
}

int64_t
embedded_floor_ms(const struct broker *b)
{
	return world_ablated(b->w, ABLATE_NOTE) ? 0 : b->promised_ms;
}

/* A clean end: nobody counts on more than what was not given back. */
void
embedded_end(struct broker *b)
{
	if (!b->w->owned)
		return;
	if (b->stopping && core_stopped(b->core)) {
		b->promised_ms = core_promised_ms(b->core);
		if (b->promised_ms < b->floor_ms)
			b->promised_ms = b->floor_ms;
	}
	if (b->w->servers[0].up)
		server_stop(&b->w->servers[0]);
}
