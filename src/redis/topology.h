/*
 * Which servers stand behind the shards, and which of them takes a call now.
 *
 * To add a mode: a struct topology_ops, and a row in the table of redis.c.
 * A topology owns one pool for each server that it uses.  It may have several
 * shards on one pool (the buckets of a cluster), one shard (standalone, the
 * master that Sentinels name) or one pool for each shard (quorum).  When the
 * server of a shard changes, the topology calls `link` with down, then up.
 */
#ifndef LOCKBROKER_REDIS_TOPOLOGY_H
#define LOCKBROKER_REDIS_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "redis/redis.h"
#include "store/gather.h"

struct config;
struct handed_list;
struct io;
struct link;
struct pool;
struct topology;

/* What a topology works with; all of it outlives the topology. */
struct topology_env {
	struct io *io;
	const struct config *config;
	struct gather *gather;
	const char *client_name;
	const struct redis_handler *handler; /* of the owner of the redis */
	void *arg;
	struct redis_stats *stats;
};

struct topology_ops {
	/* Returns NULL, with a line in why, if it cannot work at all. */
	struct topology *(*new)(
	    const struct topology_env *env, char *why, size_t why_size);
	void (*start)(struct topology *t);
	void (*free)(struct topology *t);
	/* Returns the pool that takes the calls of a shard now; NULL: none. */
	struct pool *(*route)(struct topology *t, uint32_t shard);
	/* Flushes every pool, at the end of a turn. */
	void (*flush)(struct topology *t);
	/* Like redis_sentinel(); NULL in modes that have none. */
	struct link *(*sentinel)(const struct topology *t, size_t i);
	/* For a server of our own; NULL in modes that have none. */
	void (*hand_over)(const struct topology *t, struct handed_list *out);
	bool (*own)(struct topology *t, bool own);
};

extern const struct topology_ops topo_servers; /* all but these two */
extern const struct topology_ops topo_sentinel;
extern const struct topology_ops topo_cluster;

#endif
