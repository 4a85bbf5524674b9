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
	broker_add_node(b, b->w->servers[0].name, NET_SERVER);
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
	int i;

	for (i = 0; i < SENTINELS; i++)
		broker_add_node(
		    b, b->w->sentinels.v[i].node.name, NET_SENTINEL + i);
}

/* An address that always leads to the master. */
static void
replicated_begin(struct broker *b)
{
	static char name[] = "master";

	broker_add_node(b, name, NET_MASTER);
}

const struct topology topologies[] = {
	{ .word = "standalone",
	    .mode = CONFIG_MODE_STANDALONE,
	    .faults = FAULT_BACK | FAULT_STANDSTILL | FAULT_SPOIL,
	    .draw = standalone_draw,
	    .begin = standalone_begin },
	{ .word = "embedded",
	    .mode = CONFIG_MODE_EMBEDDED,
	    .faults = FAULT_ASIDE,
	    .draw = embedded_draw,
	    .begin = embedded_begin },
	{ .word = "replicated",
	    .mode = CONFIG_MODE_STANDALONE,
	    .faults = FAULT_LAG | FAULT_PARTITION | FAULT_FAILOVER,
	    .draw = replicas_draw,
	    .make = sentinels_init,
	    .start = sentinels_watch,
	    .begin = replicated_begin },
	{ .word = "sentinel",
	    .mode = CONFIG_MODE_SENTINEL,
	    .faults = FAULT_LAG | FAULT_PARTITION | FAULT_FAILOVER,
	    .draw = replicas_draw,
	    .make = sentinels_init,
	    .start = sentinels_watch,
	    .begin = sentinel_begin },
	{ .word = "quorum",
	    .mode = CONFIG_MODE_QUORUM,
	    .faults = FAULT_PARTITION | FAULT_REPLACE,
	    .draw = quorum_draw,
	    .begin = quorum_begin },
	{ .word = "cluster",
	    .mode = CONFIG_MODE_CLUSTER,
	    .faults = FAULT_LAG | FAULT_PARTITION | FAULT_FAILOVER | FAULT_MOVE,
	    .draw = cluster_draw,
	    .make = cluster_make,
	    .start = takeover_watch,
	    .begin = cluster_begin },
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
