/*
 * The facade: gathers operations, sends calls where the topology says, and
 * makes sure that redis_submit() calls no handler.
 *
 * redis_flush() answers calls that cannot be sent at its end, when all others
 * have been written.  Operations submitted from a handler leave with the next
 * flush, for which the loop turns at once.  This file does not flush by itself:
 * the owner may have something to tell its clients before.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/io.h"
#include "redis/pool.h"
#include "redis/redis.h"
#include "redis/topology.h"

struct redis {
	struct io *io;
	struct topology_env env;
	const struct topology_ops *ops;
	struct topology *topology;
	struct redis_handler handler;
	struct redis_stats stats;
	char *client_name;
	struct call_list unsent;
	struct timer *again;
	bool flushing;
};

static const struct mode {
	const struct topology_ops *ops;
	unsigned shards; /* 0: one for each node */
	bool tagged;
	bool fails_over; /* to a replica, without asking us */
} modes[] = {
	[CONFIG_MODE_EMBEDDED] = { &topo_servers, 1, false, false },
	[CONFIG_MODE_STANDALONE] = { &topo_servers, 1, false, false },
	[CONFIG_MODE_SENTINEL] = { &topo_sentinel, 1, false, true },
	[CONFIG_MODE_CLUSTER] = { &topo_cluster, 256, true, true },
	[CONFIG_MODE_QUORUM] = { &topo_servers, 0, false, false },
};

unsigned
redis_shards(const struct config *config)
{
	unsigned shards = modes[config->redis.mode].shards;

	return shards > 0 ? shards : (unsigned)config->redis.nodes.n;
}

static struct gather *
make_gather(struct io *io, const struct config *config, const char *broker,
    uint64_t instance)
{
	struct store_config c = {
		.prefix = config->redis.prefix,
		.broker = broker,
		.instance = instance,
		.address = config->broker.address,
		.version = PACKAGE_VERSION,
		.http = config->broker.http_address,
		.lease_ms = config->locks.lease_ms,
		.replicas = config->redis.replicas,
		.shards = redis_shards(config),
		.lanes = config->redis.connections,
		.tagged = modes[config->redis.mode].tagged,
		.quorum = config->redis.mode == CONFIG_MODE_QUORUM,
	};

	io_random(io, c.seed, sizeof(c.seed));
	return gather_new(&c);
}

static void
on_again(void *arg)
{
	(void)arg;
}

struct redis *
redis_new(struct event_base *base, const struct config *config,
    struct relay *relay, const char *broker, uint64_t instance,
    const struct redis_handler *handler, void *arg, char *why, size_t why_size)
{
	const struct mode *mode = &modes[config->redis.mode];
	struct redis *r;

	assert(mode->ops != NULL);
	r = xcalloc(1, sizeof(*r));
	r->handler = *handler;
	r->ops = mode->ops;
	TAILQ_INIT(&r->unsent);
	r->client_name = xformat("lockbroker-%s", broker);
	r->io = io_new(base, relay);
	r->again = timer_new(r->io, on_again, NULL);
	r->env = (struct topology_env){
		.io = r->io,
		.config = config,
		.gather = make_gather(r->io, config, broker, instance),
		.client_name = r->client_name,
		.handler = &r->handler,
		.arg = arg,
		.stats = &r->stats,
	};
	r->topology = r->ops->new (&r->env, why, why_size);
	if (r->topology == NULL) {
		redis_free(r);
		return NULL;
	}
	return r;
}

void
redis_leave(struct redis *r, bool leave)
{
	gather_leave(r->env.gather, leave);
}

void
redis_hand_over(const struct redis *r, struct handed_list *out)
{
	if (r->ops->hand_over != NULL)
		r->ops->hand_over(r->topology, out);
}

bool
redis_own(struct redis *r, bool own)
{
	return r->ops->own == NULL || r->ops->own(r->topology, own);
}

void
redis_start(struct redis *r)
{
	const struct config_redis *config = &r->env.config->redis;

	if (modes[config->mode].fails_over && config->replicas == 0)
		LOG(WARNING, "replicas-none",
		    LOG_S("advice",
			"with redis.replicas 0 a failover can grant a lock "
			"twice without notice to the holder; set it to the "
			"number of replicas that each master has, or check "
			"fences"));
	r->ops->start(r->topology);
}

void
redis_submit(struct redis *r, const struct op *op)
{
	gather_add(r->env.gather, op);
}

static void
send_call(void *arg, struct call *call)
{
	struct redis *r = arg;
	struct pool *pool = r->ops->route(r->topology, call->shard);

	if (pool == NULL || !pool_send(pool, call))
		TAILQ_INSERT_TAIL(&r->unsent, call, entry);
}

static void
answer_unsent(struct redis *r)
{
	struct store_handler handler = { r->handler.guard, r->handler.outcome };
	struct call_list calls = TAILQ_HEAD_INITIALIZER(calls);
	struct call *call;

	TAILQ_CONCAT(&calls, &r->unsent, entry);
	while ((call = TAILQ_FIRST(&calls)) != NULL) {
		TAILQ_REMOVE(&calls, call, entry);
		call->sent_ms = 0;
		(void)call_finish(
		    r->env.gather, call, NULL, true, &handler, r->env.arg);
	}
}

void
redis_flush(struct redis *r)
{
	/* A handler may call this within a flush, which is not done yet. */
	if (!r->flushing) {
		r->flushing = true;
		/* For fences, which rise even if servers forgot theirs. */
		gather_clock(r->env.gather, io_wall_us(r->io));
		gather_flush(r->env.gather, send_call, r);
		r->ops->flush(r->topology);
		answer_unsent(r);
		r->flushing = false;
	}
	if (gather_is_due(r->env.gather))
		timer_in(r->again, 0);
}

const char *
redis_node(const struct redis *r, uint32_t shard)
{
	const struct pool *pool = r->ops->route(r->topology, shard);

	return pool ? pool_node(pool) : "";
}

struct link *
redis_link(const struct redis *r, uint32_t shard)
{
	struct pool *pool = r->ops->route(r->topology, shard);

	return pool != NULL ? pool_link(pool) : NULL;
}

struct link *
redis_sentinel(const struct redis *r, size_t i)
{
	return r->ops->sentinel ? r->ops->sentinel(r->topology, i) : NULL;
}

void
redis_stats(const struct redis *r, struct redis_stats *out)
{
	*out = r->stats;
}

void
redis_free(struct redis *r)
{
	struct call *call, *next;

	if (r == NULL)
		return;
	if (r->topology != NULL)
		r->ops->free(r->topology);
	TAILQ_FOREACH_SAFE (call, &r->unsent, entry, next)
		call_free(call);
	timer_free(r->again);
	gather_free(r->env.gather);
	io_free(r->io);
	free(r->client_name);
	free(r);
}
