/*
 * Embedded: one broker, and a server that belongs to it and ends with it, in
 * place of src/redis/embedded.c.  What clients may still count on after that
 * is in a note on disk (daemon/promise.c, whose rule is copied here).
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "redis/embedded.h"
#include "redis/io.h"

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

/* A server of this process only: nothing was written to any disk. */
void
embedded_begin(struct broker *b)
{
	struct server *s = &b->w->servers[0];

	b->floor_ms = b->promised_ms;
	if (s->up)
		server_stop(s);
	server_start(s, SERVER_EMPTY);
	checker_amnesia(b->w);
}

/* Called before a client is told a valid=. */
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

/* A clean end: nobody counts on anything but what was not given back. */
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

/* embedded.h: the server runs before it is started (embedded_begin()). */

struct embedded {
	struct timer *started;
	const struct embedded_handler *handler;
	void *arg;
};

static void
on_started(void *arg)
{
	const struct embedded *e = arg;

	e->handler->started(e->arg);
}

struct embedded *
embedded_new(struct io *io, const char *program, unsigned database,
    const struct embedded_handler *handler, void *arg, char *why,
    size_t why_size)
{
	struct embedded *e = xcalloc(1, sizeof(*e));

	(void)program;
	(void)database;
	(void)why;
	(void)why_size;
	e->handler = handler;
	e->arg = arg;
	e->started = timer_new(io, on_started, e);
	return e;
}

void
embedded_start(struct embedded *e)
{
	timer_in(e->started, 0);
}

void
embedded_ready(struct embedded *e)
{
	(void)e;
}

char *
embedded_path(struct embedded *e)
{
	static char path[] = "/own";

	(void)e;
	return path;
}

void
embedded_free(struct embedded *e)
{
	if (e == NULL)
		return;
	timer_free(e->started);
	free(e);
}
