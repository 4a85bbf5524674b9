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

const struct topology topologies[] = {
	{ "standalone", standalone_draw, standalone_begin, standalone_route },
	{ "quorum", quorum_draw, quorum_begin, quorum_route },
	{ NULL, NULL, NULL, NULL },
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
