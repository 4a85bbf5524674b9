/*
 * The Sentinels.
 *
 * What is modelled is what brokers can tell: a failover takes place a while
 * after the master was last heard of, on the side of the network where most
 * Sentinels are; the replica that has most is taken; other Sentinels hear of
 * it later, replicas are told one by one, and a master that comes back is left
 * alone for a while before it is made a replica.  Each role that they change
 * disconnects all clients.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "world.h"

#define WATCH_US 100000

static event_fn on_watch;

int
sentinels_side(const struct world *w)
{
	int i, n = 0;

	for (i = 0; i < SENTINELS; i++)
		n += w->sentinels.v[i].node.side;
	return n > SENTINELS / 2;
}

/* Those that listen hear that it names another master now. */
static void
names(struct sentinel *one, struct server *master)
{
	static const char text[] = "sim";
	struct conn *c;

	if (one->says == master)
		return;
	one->says = master;
	TAILQ_FOREACH (c, &one->node.conns, entry)
		if (c->subscribed)
			conn_message(c, (struct text){ text, strlen(text) }, 0);
}

static bool
is_there(const struct world *w, const struct server *s)
{
	return s->up && !s->frozen && s->side == sentinels_side(w);
}

/* The replica that has most; if several have, any of them. */
static struct server *
best_replica(struct world *w)
{
	struct server *s, *best = NULL;
	uint64_t ties = 0;

	for (s = w->servers; s < w->servers + w->nservers; s++) {
		if (s == w->sentinels.master || !is_there(w, s) ||
		    s->repl.master == NULL || s->humble)
			continue;
		if (best != NULL && s->repl.offset < best->repl.offset)
			continue;
		if (best == NULL || s->repl.offset > best->repl.offset)
			ties = 0;
		if (prng_below(&w->prng, ++ties) == 0)
			best = s;
	}
	return best;
}

/*
 * A spare server takes the place of the old master, which never comes back, so
 * that there are never more of them than redis.replicas says.  The spare joins
 * the new master while the old one may still go on, and never the old one,
 * which would then have enough replicas.
 */
static void
call_spare(struct world *w, struct server *old)
{
	struct server *s;

	if (old->retiring || !prng_chance(&w->prng, 500))
		return;
	for (s = w->servers; s < w->servers + w->nservers; s++) {
		if (!s->spare || !s->up)
			continue;
		s->spare = false;
		old->retiring = true;
		replica_follow(s, w->sentinels.master);
		return;
	}
}

bool
sentinels_failover(struct world *w)
{
	struct sentinels *all = &w->sentinels;
	struct server *old = all->master, *s = best_replica(w);
	int leader = (int)prng_below(&w->prng, SENTINELS);

	if (s == NULL)
		return false;
	/* The old master goes on, for those who do not hear of the failover;
	 * and, if nobody asks Sentinels, for those who were there before it
	 * froze. */
	old->rogue = (old->up && !old->frozen) ||
		     w->o->topology->mode == CONFIG_MODE_STANDALONE;
	replica_promote(s);
	s->rogue = false;
	all->master = s;
	all->failovers++;
	call_spare(w, old);
	checker_amnesia(w);
	all->down_us = -1;
	if (all->v[leader].node.side == sentinels_side(w))
		names(&all->v[leader], s);
	return true;
}

static void
watch_master(struct world *w)
{
	struct sentinels *all = &w->sentinels;

	if (is_there(w, all->master) && all->master->db.master)
		all->down_us = -1;
	else if (all->down_us < 0)
		all->down_us = world_now(w);
	else if (world_now(w) - all->down_us > all->down_after_us &&
		 prng_chance(&w->prng, 300))
		sentinels_failover(w);
}

/* A server that says that it is a master is left alone for a while. */
static void
watch_server(struct world *w, struct server *s)
{
	struct sentinels *all = &w->sentinels;

	if (s->spare || !is_there(w, s) || s->repl.master == all->master) {
		s->master_us = -1;
		return;
	}
	if (s->repl.master != NULL) {
		if (prng_chance(&w->prng, 200))
			replica_follow(s, all->master);
		return;
	}
	if (s->master_us < 0)
		s->master_us = world_now(w);
	if (world_now(w) - s->master_us < all->demote_us)
		return;
	s->master_us = -1;
	s->rogue = false;
	if (s->retiring)
		replica_retire(s);
	else
		replica_follow(s, all->master);
	checker_amnesia(w);
}

/*
 * There are two masters at once, and not because one was dead or frozen: then
 * brokers may be on both.
 */
static void
watch_split(struct world *w)
{
	const struct server *s;

	for (s = w->servers; s < w->servers + w->nservers; s++)
		if (s != w->sentinels.master && s->db.master && s->up &&
		    !s->frozen && (s->rogue || s->side != sentinels_side(w)))
			w->split_us = world_now(w) + WATCH_US;
}

static void
on_watch(void *object, uint64_t tag)
{
	struct world *w = object;
	struct sentinel *one;
	struct server *s;

	(void)tag;
	watch_master(w);
	for (s = w->servers; s < w->servers + w->nservers; s++) {
		if (s != w->sentinels.master)
			watch_server(w, s);
		if (world_now(w) / 1000000 !=
		    (world_now(w) - WATCH_US) / 1000000)
			replica_cron(s);
	}
	for (one = w->sentinels.v; one < w->sentinels.v + SENTINELS; one++)
		if (one->node.side == sentinels_side(w) &&
		    prng_chance(&w->prng, 300))
			names(one, w->sentinels.master);
	watch_split(w);
	events_at(&w->events, world_now(w) + WATCH_US, on_watch, w, 0);
}

static void
init_one(struct world *w, int index)
{
	struct sentinel *one = &w->sentinels.v[index];

	server_init(&one->node, w, w->nservers + index);
	snprintf(one->node.name, sizeof(one->node.name), "s%d", index);
	one->node.sentinel = one;
	one->says = w->sentinels.master;
}

void
sentinels_fini(struct world *w)
{
	int i;

	for (i = 0; i < SENTINELS && w->sentinels.master != NULL; i++)
		server_fini(&w->sentinels.v[i].node);
}

void
sentinels_init(struct world *w)
{
	struct sentinels *all = &w->sentinels;
	struct prng *p = &w->prng;
	int i;

	/* Longer than a stall, or a master that was frozen goes on. */
	all->down_after_us =
	    (w->pad_ms + prng_range(p, 100, 1500)) * 1000 + WATCH_US;
	all->demote_us = prng_range(p, 500, 8000) * 1000;
	all->master = &w->servers[0];
	all->down_us = -1;
	for (i = 0; i < SENTINELS; i++)
		init_one(w, i);
	for (i = 1; i < w->members; i++)
		replica_attach(&w->servers[i], all->master);
	for (; i < w->nservers; i++)
		replica_retire(&w->servers[i]);
	/* It counts for WAIT all the same. */
	if (w->members > 2 && prng_chance(p, 300))
		w->servers[w->members - 1].humble = true;
}

void
sentinels_watch(struct world *w)
{
	events_at(&w->events, world_now(w) + prng_range(&w->prng, 1, WATCH_US),
	    on_watch, w, 0);
}

/* Commands that brokers send. */

static redisReply *
master_address(const struct server *s)
{
	redisReply *reply = answer_array(2);
	char port[16];

	snprintf(port, sizeof(port), "%d", NET_SERVER + s->index);
	reply->element[0] = answer_text(s->name, strlen(s->name));
	reply->element[1] = answer_text(port, strlen(port));
	return reply;
}

redisReply *
sentinel_command(const struct sentinel *one, const struct request *r)
{
	static const char info[] = "sentinel_tilt:0\r\n";

	if (strcmp(r->words[0].p, "SENTINEL") == 0)
		return master_address(one->says);
	if (strcmp(r->words[0].p, "INFO") == 0)
		return answer_text(info, strlen(info));
	return NULL;
}
