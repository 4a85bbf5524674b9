/*
 * What topologies have in common.
 */
#include "config.h"

#include "config/config.h"
#include "redis/pool.h"
#include "redis/topology.h"

/* The log repeats what stays down, for readers who came later. */
#define REMIND_MS (INT64_C(5) * 60 * 1000)

struct pool_config
topology_pool(const struct topology_env *env, const struct address *address,
    int64_t retry_ms_max)
{
	return (struct pool_config){
		.io = env->io,
		.gather = env->gather,
		.redis = &env->config->redis,
		.address = address,
		.client_name = env->client_name,
		.lease_ms = env->config->locks.lease_ms,
		.retry_ms_max = retry_ms_max,
		.remind_ms = REMIND_MS,
		.stats = env->stats,
		.owner = env->handler,
		.owner_arg = env->arg,
	};
}
