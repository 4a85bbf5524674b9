/*
 * Connections that were lost, as redis/pool_stale.c has it: what they had still
 * to run may run yet, so they are killed before anything takes their place.
 * Another link of the pool is sent the CLIENT KILL, and calls follow it there.
 */
#include "config.h"

#include <string.h>

#include "world.h"

/* A link that is up, looked for from the first on; NULL: there is none. */
static struct link *
any_link(struct pool *p, int first)
{
	struct link *l;
	int i;

	for (i = 0; i < p->nlinks; i++) {
		l = &p->links[(first + i) % p->nlinks];
		if (l->state == LINK_UP)
			return l;
	}
	return NULL;
}

void
link_note_stale(struct link *l)
{
	const struct conn *c = l->conn;

	/* Ids start again with the server. */
	if (l->nstale > 0 && l->stale[0].run != c->run)
		l->nstale = 0;
	if (l->nstale == VICTIMS_MAX)
		world_fail(l->pool->broker->w, "P7",
		    "the simulator has no room for another lost connection");
	else
		l->stale[l->nstale++] = (struct victim){ c->id, c->run };
	l->more_stale = l->killer != NULL;
}

/* Only where the server is still the same. */
void
pool_kill_stale(struct pool *p)
{
	struct link *l, *by;
	int i;

	for (i = 0; i < p->nlinks; i++) {
		l = &p->links[i];
		by = any_link(p, i);
		if (l->nstale == 0 || l->killer != NULL || by == NULL)
			continue;
		if (l->stale[0].run != by->conn->run) {
			l->nstale = 0;
			continue;
		}
		l->more_stale = false;
		l->killer = by;
		link_send_kill(by, l);
	}
}

/* NULL: the link that was to do it is lost. */
void
link_killed(struct link *l, const redisReply *reply)
{
	l->killer = NULL;
	if (reply != NULL && !l->more_stale)
		l->nstale = 0;
	else
		pool_kill_stale(l->pool); /* somebody else must do it */
}

struct link *
pool_lane(struct pool *p, int index)
{
	struct link *l = &p->links[index];

	if (l->nstale == 0)
		return any_link(p, index);
	/* Behind the CLIENT KILL, on the same connection. */
	if (l->killer == NULL || l->more_stale || l->killer->state != LINK_UP)
		return NULL;
	return l->killer;
}
