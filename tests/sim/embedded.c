/*
 * Embedded: a broker, and a server that it starts and stops, in place of
 * src/redis/embedded.c.  What the server has is there again after either of
 * them died, unless its file was set aside, or has lost its end.
 *
 * In some runs there is a second broker, which uses that server, too; in others
 * one process replaces the other, and becomes the owner (leaving.h).
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "redis/embedded.h"
#include "redis/io.h"

#include "clocks.h"
#include "faults_parts.h"
#include "net.h"
#include "topology.h"
#include "world.h"

#define RESTART_MS_MAX 200

void
embedded_draw(struct world *w)
{
	w->nservers = 1;
	w->shards = 1;
	w->nbrokers = w->nbrokers == 2 ? 2 : 1;
	w->owned = true;
	w->whole = true;
}

static bool
is_owner(const struct broker *b)
{
	return b->w->leaves ? b->part == PART_ALONE : b->index == 0;
}

/* The broker starts its server when it begins to connect. */
void
embedded_begin(struct broker *b)
{
	struct server *s = &b->w->servers[0];

	if (is_owner(b) && s->up && !leaving_shared(b))
		server_stop(s);
}

/* The server ends with its owner; and where processes replace each other, with
 * the last of them. */
void
embedded_end(struct broker *b)
{
	if (b->w->owned && b->w->servers[0].up &&
	    (b->w->leaves ? !leaving_shared(b) : is_owner(b)))
		server_stop(&b->w->servers[0]);
}

/* What the server has when it starts (redis/data_dir.c). */
static enum server_data
draw_data(struct world *w)
{
	if (!faults_active(w, FAULT_ASIDE) || prng_chance(&w->prng, 600))
		return SERVER_KEPT;
	w->whole = world_ablated(w, ABLATE_ASIDE);
	w->written = false;
	checker_amnesia(w);
	return prng_chance(&w->prng, 500) ? SERVER_EMPTY : SERVER_SAVED;
}

static enum store_data
what_is_known(const struct world *w)
{
	if (!w->whole)
		return STORE_DOUBTED;
	return w->written ? STORE_WHOLE : STORE_NEW;
}

/* embedded.h */

struct embedded {
	struct world *w;
	bool owner;
	struct timer *start;
	const struct embedded_handler *handler;
	void *arg;
};

static void
on_start(void *arg)
{
	struct embedded *e = arg;
	struct server *s = &e->w->servers[0];

	if (!e->owner || (s->up && e->w->leaves))
		e->handler->started(e->arg, STORE_DOUBTED);
	if (!e->owner || s->up)
		return;
	server_start(s, draw_data(e->w));
	if (faults_has(e->w, FAULT_CLOCK))
		clocks_jump_later(s);
	e->handler->started(e->arg, what_is_known(e->w));
}

struct embedded *
embedded_new(struct io *io, const struct config *config,
    const struct embedded_handler *handler, void *arg, char *why,
    size_t why_size)
{
	struct embedded *e = xcalloc(1, sizeof(*e));

	(void)config;
	(void)why;
	(void)why_size;
	e->w = net_broker(io)->w;
	e->owner = is_owner(net_broker(io));
	e->handler = handler;
	e->arg = arg;
	e->start = timer_new(io, on_start, e);
	if (e->owner)
		e->w->embedded = e;
	return e;
}

void
embedded_start(struct embedded *e)
{
	timer_in(e->start, 0);
}

void
embedded_died(struct world *w)
{
	if (w->embedded != NULL)
		timer_in(w->embedded->start,
		    prng_skewed(&w->prng, 5, RESTART_MS_MAX));
}

void
embedded_hand_over(const struct embedded *e, struct handed_list *out)
{
	(void)e;
	(void)out;
}

void
embedded_own(struct embedded *e)
{
	e->owner = true;
	e->w->embedded = e;
	if (!e->w->servers[0].up)
		timer_in(e->start, 0);
}

bool
embedded_leave(struct embedded *e)
{
	e->owner = false;
	return true;
}

void
embedded_ready(struct embedded *e)
{
	(void)e;
}

void
embedded_wrote(struct embedded *e, bool grants)
{
	if (!e->owner)
		return;
	e->w->written = true;
	e->w->whole = e->w->whole || grants;
}

void
embedded_stuck(struct embedded *e)
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
	if (e->owner && e->w->embedded == e)
		e->w->embedded = NULL;
	timer_free(e->start);
	free(e);
}
