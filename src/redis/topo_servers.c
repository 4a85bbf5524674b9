/*
 * Servers at addresses that the configuration has, each one shard: one that
 * runs already, one that we start ourselves (embedded.h), or several masters of
 * which a majority decides (core/parts/quorum/votes.h).
 *
 * An address may lead to another server one day, if an operator or a cloud
 * makes a replica the master.  The old master may live on as a replica and keep
 * our connections; so if it says for a while that it is a replica, we give them
 * up and resolve the name again.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/embedded.h"
#include "redis/io.h"
#include "redis/pool.h"
#include "redis/topology.h"

#define RETRY_MS_MAX 2000
#define OWN_RETRY_MS_MAX 100 /* to our own server */
#define OWN_QUIET_MS 3000    /* it may take this long to start */

/* How long we put up with a replica, at first and at last. */
#define REPLICA_MS_MIN 5000
#define REPLICA_MS_MAX 60000

/* One server.  Owned by its topology. */
struct server {
	struct topology *topology;
	struct pool *pool;
	uint32_t shard;
	bool replica;	       /* it says that it is one */
	int64_t replica_ms;    /* for how long we put up with that */
	struct timer *look_up; /* fires when that is over */
};

struct topology {
	struct topology_env env;
	size_t n;
	struct server *servers;
	struct embedded *embedded; /* NULL: no server is ours */
	struct address own;	   /* of that */
};

static void
on_look_up(void *arg)
{
	struct server *s = arg;

	pool_move(s->pool, "it is a replica and stays one");
	s->replica_ms *= 2;
	if (s->replica_ms > REPLICA_MS_MAX)
		s->replica_ms = REPLICA_MS_MAX;
	timer_in(s->look_up, s->replica_ms);
}

static void
on_guard(void *arg, const struct guard_report *report)
{
	struct server *s = arg;
	struct topology *t = s->topology;
	bool replica = report->state == GUARD_READONLY;

	if (t->embedded != NULL) {
		embedded_wrote(t->embedded, report->state == GUARD_BLESSED);
		gather_begun(t->env.gather, STORE_DOUBTED);
	}
	if (replica == s->replica)
		return;
	s->replica = replica;
	s->replica_ms = REPLICA_MS_MIN;
	if (replica)
		timer_in(s->look_up, s->replica_ms);
	else
		timer_stop(s->look_up);
}

static void
on_up(void *arg)
{
	const struct server *s = arg;
	struct topology *t = s->topology;

	if (t->embedded != NULL)
		embedded_ready(t->embedded);
	t->env.handler->link(t->env.arg, s->shard, true, "");
}

static void
on_down(void *arg, const char *why)
{
	const struct server *s = arg;
	const struct topology_env *env = &s->topology->env;

	env->handler->link(env->arg, s->shard, false, why);
}

static void
on_refused(void *arg, const struct refusal *refusal)
{
	const struct server *s = arg;
	struct topology *t = s->topology;

	if (t->embedded != NULL && strcmp(refusal->prefix, "MISCONF") == 0)
		embedded_stuck(t->embedded);
}

static const struct pool_handler pool_handler = {
	.up = on_up,
	.down = on_down,
	.failed = on_down,
	.guard = on_guard,
	.refused = on_refused,
};

/* The first call that this server answers says so there (lua/guard.lua). */
static void
on_server_started(void *arg, enum store_data data)
{
	struct topology *t = arg;

	gather_begun(t->env.gather, data);
	pool_start(t->servers[0].pool);
}

static void
on_server_fatal(void *arg, const char *why)
{
	struct topology *t = arg;

	t->env.handler->fatal(t->env.arg, why);
}

static const struct embedded_handler embedded_handler = { on_server_started,
	on_server_fatal };

static void
servers_free(struct topology *t)
{
	size_t i;

	if (t == NULL)
		return;
	for (i = 0; i < t->n; i++) {
		pool_free(t->servers[i].pool);
		timer_free(t->servers[i].look_up);
	}
	embedded_free(t->embedded);
	free(t->servers);
	free(t);
}

/* Finds where the servers are; returns false, with a line in why. */
static bool
find_servers(struct topology *t, char *why, size_t why_size)
{
	const struct config *config = t->env.config;

	if (config->redis.mode != CONFIG_MODE_EMBEDDED) {
		if (config->redis.nodes.n == t->n)
			return true;
		snprintf(why, why_size,
		    "redis.mode standalone needs one of redis.nodes");
		return false;
	}
	t->embedded = embedded_new(
	    t->env.io, config, &embedded_handler, t, why, why_size);
	if (t->embedded == NULL)
		return false;
	t->own.path = embedded_path(t->embedded);
	return true;
}

static void
server_init(struct topology *t, struct server *s, const struct address *address)
{
	struct pool_config c = pool_config_of(&t->env, address, RETRY_MS_MAX);

	if (t->embedded != NULL) {
		c.retry_ms_max = OWN_RETRY_MS_MAX;
		c.quiet_ms = OWN_QUIET_MS;
		c.own = true;
	}
	s->topology = t;
	s->shard = (uint32_t)(s - t->servers);
	s->look_up = timer_new(t->env.io, on_look_up, s);
	s->pool = pool_new(&c, &pool_handler, s);
}

static struct topology *
servers_new(const struct topology_env *env, char *why, size_t why_size)
{
	const struct config_nodes *nodes = &env->config->redis.nodes;
	struct topology *t = xcalloc(1, sizeof(*t));
	size_t i;

	t->env = *env;
	t->n = env->config->redis.mode == CONFIG_MODE_QUORUM ? nodes->n : 1;
	t->servers = xcalloc(t->n, sizeof(*t->servers));
	if (!find_servers(t, why, why_size)) {
		servers_free(t);
		return NULL;
	}
	for (i = 0; i < t->n; i++)
		server_init(t, &t->servers[i],
		    t->embedded != NULL ? &t->own : &nodes->v[i]);
	return t;
}

static void
servers_start(struct topology *t)
{
	size_t i;

	if (t->embedded != NULL)
		embedded_start(t->embedded);
	else
		for (i = 0; i < t->n; i++)
			pool_start(t->servers[i].pool);
}

static struct pool *
servers_route(struct topology *t, uint32_t shard)
{
	struct pool *pool = t->servers[shard].pool;

	return pool_is_up(pool) ? pool : NULL;
}

static void
servers_flush(struct topology *t)
{
	size_t i;

	for (i = 0; i < t->n; i++)
		pool_flush(t->servers[i].pool);
}

static void
servers_hand_over(const struct topology *t, struct handed_list *out)
{
	if (t->embedded != NULL)
		embedded_hand_over(t->embedded, out);
}

static bool
servers_own(struct topology *t, bool own)
{
	if (t->embedded == NULL)
		return true;
	if (!own)
		return embedded_leave(t->embedded);
	embedded_own(t->embedded);
	return true;
}

const struct topology_ops topo_servers = { servers_new, servers_start,
	servers_free, servers_route, servers_flush, NULL, servers_hand_over,
	servers_own };
