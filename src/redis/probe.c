/*
 * Chooses the servers to look at: those that the configuration names, the one
 * that Sentinels name, and the masters of a cluster.
 */
#include "config.h"

#include <event2/event.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/bucket.h"
#include "redis/cluster_map.h"
#include "redis/io.h"
#include "redis/probe.h"
#include "redis/probe_state.h"
#include "redis/redis.h"
#include "relay/relay.h"

/* Is there such a program, as execvp(3) looks for it? */
static bool
can_run(const char *program)
{
	const char *path = getenv("PATH");
	char file[PATH_MAX];
	size_t len;

	if (strchr(program, '/') != NULL)
		return access(program, X_OK) == 0;
	for (; path != NULL && *path != '\0';
	     path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s%s%s", (int)len, path,
		    len > 0 ? "/" : "", program);
		if (access(file, X_OK) == 0)
			return true;
	}
	return false;
}

static void
probe_embedded(struct probe *probe)
{
	const char *program = probe->config->redis.server;

	if (can_run(program))
		probe_say(probe, FINDING_OK, "embedded",
		    "the broker starts %s by itself; there is nothing to ask"
		    " yet",
		    program);
	else
		probe_say(probe, FINDING_FAIL, "embedded",
		    "there is no program %s to start: install redis-server, or"
		    " set redis.server to its path",
		    program);
	probe_say(probe, FINDING_WARN, "embedded", PROBE_EMBEDDED);
}

static void
probe_nodes(struct probe *probe)
{
	const struct config_nodes *nodes = &probe->config->redis.nodes;
	size_t i;

	for (i = 0; i < nodes->n; i++)
		probe_server(probe, &nodes->v[i]);
}

/* Sentinels. */

/* The address that most of them name, or NULL. */
static const struct address *
majority(const struct address *said, size_t n, size_t configured)
{
	size_t i, k, votes;

	for (i = 0; i < n; i++) {
		votes = 0;
		for (k = 0; k < n; k++)
			votes += address_same(&said[i], &said[k]);
		if (votes > configured / 2)
			return &said[i];
	}
	return NULL;
}

static void
probe_sentinels(struct probe *probe)
{
	const struct config_nodes *nodes = &probe->config->redis.nodes;
	struct address *said = xcalloc(nodes->n, sizeof(*said));
	const struct address *master;
	size_t i, n = 0;

	for (i = 0; i < nodes->n; i++)
		if (probe_sentinel(probe, &nodes->v[i], &said[n]))
			n++;
	master = majority(said, n, nodes->n);
	if (master == NULL)
		probe_say(probe, FINDING_FAIL, "sentinels",
		    "no majority of those configured agrees on a master");
	else
		probe_server(probe, master);
	if (probe->config->redis.replicas == 0)
		probe_say(probe, FINDING_WARN, "redis.replicas",
		    "is 0: a failover may grant a lock twice; only fences"
		    " help then");
	for (i = 0; i < n; i++)
		address_fini(&said[i]);
	free(said);
}

/* A cluster. */

/* A node, and the masters of its map, each once. */
struct node {
	struct probe_link conn;
	struct address *masters; /* owned */
	size_t n;
	unsigned covered; /* slots */
	bool known;	  /* it has a map */
};

static void
add_master(void *arg, const struct cluster_range *range)
{
	struct node *node = arg;
	struct address *one = &node->masters[node->n];
	size_t i;

	if (!range->master || range->last < range->first)
		return;
	node->covered += range->last - range->first + 1;
	*one = (struct address){ .host = xstrdup(range->host),
		.port = range->port };
	for (i = 0; i < node->n && !address_same(&node->masters[i], one); i++)
		continue;
	if (i < node->n)
		address_fini(one);
	else
		node->n++;
}

static void
on_slots(void *arg, const redisReply *reply)
{
	struct node *node = arg;
	const char *host = node->conn.config.address->host;

	/* One more than there are ranges, to try whether it is new. */
	node->masters = xcalloc(reply->elements + 1, sizeof(*node->masters));
	node->known = cluster_slots_read(
	    reply, host ? host : "localhost", add_master, node);
	if (!node->known)
		probe_find(&node->conn, FINDING_FAIL, "CLUSTER SLOTS: %s",
		    reply->type == REDIS_REPLY_ERROR
			? reply->str
			: "an answer that no cluster gives");
}

/* Looks at all masters that a node knows; returns false if it knows none. */
static bool
probe_masters(struct probe *probe, struct node *node)
{
	size_t i;

	probe_ask(&node->conn, on_slots, "CLUSTER SLOTS");
	for (i = 0; i < node->n; i++) {
		if (node->known)
			probe_server(probe, &node->masters[i]);
		address_fini(&node->masters[i]);
	}
	free(node->masters);
	if (node->known)
		probe_say(probe,
		    node->covered == SLOTS ? FINDING_OK : FINDING_FAIL,
		    "cluster", "%u of %d slots have a master, %zu masters",
		    node->covered, SLOTS, node->n);
	return node->known;
}

static void
probe_cluster(struct probe *probe)
{
	const struct config_nodes *nodes = &probe->config->redis.nodes;
	bool mapped = false;
	struct node node;
	size_t i;

	for (i = 0; i < nodes->n; i++) {
		memset(&node, 0, sizeof(node));
		if (!probe_open(&node.conn, probe, "node", &nodes->v[i], &node))
			continue;
		mapped = mapped || probe_masters(probe, &node);
		probe_close(&node.conn);
	}
}

/* All. */

static void
check_clocks(struct probe *probe)
{
	int64_t grace_us =
	    times_recovery_ms(probe->config->locks.lease_ms) * 1000;
	int64_t apart_us = probe->clock_max_us - probe->clock_min_us;

	if (!probe->clock_known || apart_us < grace_us / 2)
		return;
	probe_say(probe, FINDING_WARN, "clocks",
	    "are %" PRId64 " ms apart: after a failover that loses all data,"
	    " fences may not rise",
	    apart_us / 1000);
}

/* What a user of the broker needs, as lockbroker-admin(7) has it. */
#define ACL_REDIS                                                     \
	"+ping +info +select +client|setname +client|id +client|kill" \
	" +script|load +evalsha +publish +subscribe +wait +time"      \
	" +get +mget +set +del +exists +pexpire +pttl +scan"          \
	" +hget +hgetall +hmget +hset +hdel +hlen +hincrby"           \
	" +rpush +lpop +lindex +lrange +lpos +lrem"                   \
	" +zadd +zrange +zrem +zremrangebyscore +zscore"
#define ACL_CLUSTER                                      \
	" +cluster|slots +cluster|info +cluster|keyslot" \
	" +cluster|getkeysinslot +asking"
#define ACL_SENTINEL                                                   \
	"&+switch-master -@all +ping +info +client|setname +subscribe" \
	" +sentinel|get-master-addr-by-name +sentinel|master"

/* Rights are missed one at a time: says at once which are wanted. */
static void
tell_rights(struct probe *probe)
{
	const struct config_redis *redis = &probe->config->redis;

	if (probe->denied)
		probe_say(probe, FINDING_WARN, "redis.user",
		    "one of the broker's own has all rights after: ACL SETUSER"
		    " %s resetkeys ~%s* resetchannels &%s* -@all " ACL_REDIS
		    "%s",
		    redis->user[0] != '\0' ? redis->user : "lockbroker",
		    redis->prefix, redis->prefix,
		    redis->mode == CONFIG_MODE_CLUSTER ? ACL_CLUSTER : "");
	if (probe->sentinel_denied)
		probe_say(probe, FINDING_WARN, "redis.sentinel_user",
		    "one of the broker's own has all rights after: ACL SETUSER"
		    " %s resetchannels " ACL_SENTINEL,
		    redis->sentinel_user[0] != '\0' ? redis->sentinel_user
						    : "lockbroker");
}

/* Starts the process that speaks TLS, if it is needed. */
static bool
begin_tls(struct probe *probe)
{
	char why[RELAY_WHY_SIZE];

	if (!probe->config->redis.tls)
		return true;
	probe->relay = relay_new(NULL, NULL, NULL, why);
	if (probe->relay != NULL && redis_tls(probe->relay, probe->config, why))
		return true;
	probe_say(probe, FINDING_FAIL, "tls", "%s", why);
	relay_free(probe->relay);
	return false;
}

bool
probe_run(const struct config *config, FILE *out)
{
	static void (*const modes[])(struct probe *) = {
		[CONFIG_MODE_EMBEDDED] = probe_embedded,
		[CONFIG_MODE_STANDALONE] = probe_nodes,
		[CONFIG_MODE_SENTINEL] = probe_sentinels,
		[CONFIG_MODE_CLUSTER] = probe_cluster,
		[CONFIG_MODE_QUORUM] = probe_nodes,
	};
	struct probe probe = { .config = config, .out = out };

	if (!begin_tls(&probe))
		return false;
	probe.base = event_base_new();
	if (probe.base == NULL)
		abort();
	probe.io = io_new(probe.base, probe.relay);
	modes[config->redis.mode](&probe);
	check_clocks(&probe);
	tell_rights(&probe);
	io_free(probe.io);
	event_base_free(probe.base);
	relay_free(probe.relay);
	return !probe.failed;
}
