/*
 * Several independent masters, each one shard: a majority of them decides
 * (core/parts/quorum/votes.h).  This file only keeps a pool for each.
 */
#include "config.h"

#include <stdlib.h>

#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/pool.h"
#include "redis/topology.h"

#define RETRY_MS_MAX 2000

/* One server.  Owned by its topology. */
struct server {
	struct topology *topology;
	struct pool *pool;
	uint32_t shard;
};

struct topology {
	struct topology_env env;
	size_t n;
	struct server *servers;
};

static void
on_up(void *arg)
{
	const struct server *s = arg;
	struct topology *t = s->topology;

	t->env.handler->link(t->env.arg, s->shard, true, "");
}

static void
on_down(void *arg, const char *why)
{
	const struct server *s = arg;
	struct topology *t = s->topology;

	t->env.handler->link(t->env.arg, s->shard, false, why);
}

static const struct pool_handler pool_handler = {
	.up = on_up,
	.down = on_down,
	.failed = on_down,
};

static struct topology *
quorum_new(const struct topology_env *env, char *why, size_t why_size)
{
	const struct config_nodes *nodes = &env->config->redis.nodes;
	struct topology *t = xcalloc(1, sizeof(*t));
	struct pool_config c;
	struct server *s;
	size_t i;

	(void)why;
	(void)why_size;
	t->env = *env;
	t->n = nodes->n;
	t->servers = xcalloc(t->n, sizeof(*t->servers));
	for (i = 0; i < t->n; i++) {
		c = topology_pool(env, &nodes->v[i], RETRY_MS_MAX);
		s = &t->servers[i];
		s->topology = t;
		s->shard = (uint32_t)i;
		s->pool = pool_new(&c, &pool_handler, s);
	}
	return t;
}

static void
quorum_start(struct topology *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		pool_start(t->servers[i].pool);
}

static void
quorum_free(struct topology *t)
{
	size_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->n; i++)
		pool_free(t->servers[i].pool);
	free(t->servers);
	free(t);
}

static struct pool *
quorum_route(struct topology *t, uint32_t shard)
{
	struct pool *pool = t->servers[shard].pool;

	return pool_is_up(pool) ? pool : NULL;
}

static void
quorum_flush(struct topology *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		pool_flush(t->servers[i].pool);
}

const struct topology_ops topo_quorum = { quorum_new, quorum_start, quorum_free,
	quorum_route, quorum_flush, NULL, NULL, NULL };
