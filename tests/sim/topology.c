/*
 * The table of topologies.
 */
#include "config.h"

#include <string.h>

#include "topology.h"
#include "world.h"

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

	w->nservers = (int)prng_range(p, 2, 4);
	w->shards = 1;
	w->replicates = true;
	w->replicas = (unsigned)w->nservers - 1;
	if (prng_chance(p, 300))
		w->replicas = (unsigned)prng_below(p, w->replicas);
	w->writable = prng_chance(p, 200);
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

/* The links are given up when nothing of them is on the stack. */
static void
on_refused(void *object, uint64_t tag)
{
	struct pool *p = object;
	struct world *w = p->broker->w;

	if (!p->broker->alive || tag != p->link.generation)
		return;
	if (broker_stalled(p->broker))
		events_at(&w->events, world_now(w) + 10000, on_refused, p, tag);
	else
		pool_refuse(p);
}

static void
replicated_refused(struct pool *p, bool refused)
{
	if (refused)
		events_at(&p->broker->w->events, world_now(p->broker->w),
		    on_refused, p, p->link.generation);
}

const struct topology topologies[] = {
	{ .word = "standalone",
	    .draw = standalone_draw,
	    .begin = standalone_begin,
	    .route = standalone_route },
	{ .word = "replicated",
	    .faults = FAULT_LAG | FAULT_PARTITION | FAULT_FAILOVER,
	    .draw = replicas_draw,
	    .make = sentinels_init,
	    .start = sentinels_start,
	    .begin = standalone_begin,
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
	    .faults = FAULT_PARTITION,
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
