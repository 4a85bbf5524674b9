/*
 * The table of topologies.
 */
#include "config.h"

#include <string.h>

#include "topology.h"
#include "world.h"

#define REPLICA_US 5000000

/* One server, one shard. */
static void
standalone_draw(struct world *w)
{
	w->nservers = 1;
	w->shards = 1;
}

static void
standalone_begin(struct broker *b)
{
	b->npools = 1;
	b->pools[0].server = &b->w->servers[0];
}

static struct pool *
standalone_route(struct broker *b, uint32_t shard)
{
	(void)shard;
	return &b->pools[0];
}

/* A master and its replicas, one shard. */
static void
replicas_draw(struct world *w)
{
	struct prng *p = &w->prng;

	w->nservers = w->members = (int)prng_range(p, 2, 4);
	w->shards = 1;
	w->replicates = true;
	w->replicas = (unsigned)w->members - 1;
	if (prng_chance(p, 300))
		w->replicas = (unsigned)prng_below(p, w->replicas);
	w->writable = prng_chance(p, 200);
	w->nservers += prng_chance(p, 500);
}

static void
sentinel_begin(struct broker *b)
{
	b->npools = 1;
	b->pools[0].server = NULL;
	follower_begin(b);
}

/* An address that always leads to the master. */
static struct server *
replicated_locate(struct pool *p)
{
	return p->broker->w->sentinels.v[0].says;
}

/* As redis/topo_standalone.c: a replica is put up with for a while. */
static void
on_look_up(void *object, uint64_t tag)
{
	struct pool *p = object;
	struct world *w = p->broker->w;
	int64_t again_us = REPLICA_US;

	if (!p->broker->alive || tag != p->broker->follower.polls)
		return;
	if (broker_stalled(p->broker))
		again_us = 10000;
	else
		pool_refuse(p);
	events_at(&w->events, world_now(w) + again_us, on_look_up, p, tag);
}

static void
replicated_refused(struct pool *p, bool refused)
{
	struct world *w = p->broker->w;
	struct follower *f = &p->broker->follower;

	if (refused == f->refused)
		return;
	f->refused = refused;
	f->polls++;
	if (refused)
		events_at(&w->events, world_now(w) + REPLICA_US, on_look_up, p,
		    f->polls);
}

static void
replicated_begin(struct broker *b)
{
	standalone_begin(b);
	b->follower.refused = false;
	b->follower.polls++;
}

const struct topology topologies[] = {
	{ .word = "standalone",
	    .draw = standalone_draw,
	    .begin = standalone_begin,
	    .route = standalone_route },
	{ .word = "embedded",
	    .draw = embedded_draw,
	    .begin = embedded_begin,
	    .route = standalone_route },
	{ .word = "replicated",
	    .faults = FAULT_LAG | FAULT_PARTITION | FAULT_FAILOVER,
	    .draw = replicas_draw,
	    .make = sentinels_init,
	    .start = sentinels_start,
	    .begin = replicated_begin,
	    .route = standalone_route,
	    .locate = replicated_locate,
	    .refused = replicated_refused },
	{ .word = "sentinel",
	    .faults = FAULT_LAG | FAULT_PARTITION | FAULT_FAILOVER,
	    .draw = replicas_draw,
	    .make = sentinels_init,
	    .start = sentinels_start,
	    .begin = sentinel_begin,
	    .route = standalone_route,
	    .link = follower_link,
	    .refused = follower_refused },
	{ .word = "quorum",
	    .faults = FAULT_PARTITION | FAULT_REPLACE,
	    .draw = quorum_draw,
	    .begin = quorum_begin,
	    .route = quorum_route },
	{ .word = "cluster",
	    .faults = FAULT_PARTITION | FAULT_MOVE,
	    .draw = cluster_draw,
	    .begin = cluster_begin,
	    .route = cluster_route,
	    .link = cluster_link },
	{ .word = NULL },
};

const struct topology *
topology_find(const char *word)
{
	const struct topology *t;

	for (t = topologies; t->word != NULL; t++)
		if (strcmp(t->word, word) == 0)
			return t;
	return NULL;
}
