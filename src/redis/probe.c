/*
 * Which servers are looked at: those that the configuration names, those that
 * Sentinels name, and the masters of a cluster.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/probe.h"
#include "redis/probe_conn.h"
#include "redis/probe_server.h"
#include "redis/tls.h"
#include "store/times.h"

static void
probe_embedded(struct probe *probe)
{
	probe_say(probe, FINDING_OK, "embedded",
	    "the broker starts %s by itself; there is nothing to ask yet",
	    probe->config->redis.server);
}

static void
probe_nodes(struct probe *probe)
{
	const struct config_nodes *nodes = &probe->config->redis.nodes;
	size_t i;

	for (i = 0; i < nodes->n; i++)
		probe_server(probe, &nodes->v[i]);
}

/* ---- Sentinels ---- */

/* The address that most of them name, or NULL. */
static const struct config_address *
majority(const struct config_address *said, size_t n, size_t configured)
{
	size_t i, k, votes;

	for (i = 0; i < n; i++) {
		votes = 0;
		for (k = 0; k < n; k++)
			votes += config_address_same(&said[i], &said[k]);
		if (votes > configured / 2)
			return &said[i];
	}
	return NULL;
}

static void
probe_sentinels(struct probe *probe)
{
	const struct config_nodes *nodes = &probe->config->redis.nodes;
	struct config_address *said = xcalloc(nodes->n, sizeof(*said));
	const struct config_address *master;
	size_t i, n = 0;

	for (i = 0; i < nodes->n; i++)
		if (probe_sentinel(probe, &nodes->v[i], &said[n]))
			n++;
	master = majority(said, n, nodes->n);
	if (!master)
		probe_say(probe, FINDING_FAIL, "sentinels",
		    "no majority of those configured agrees on a master");
	else
		probe_server(probe, master);
	if (probe->config->redis.replicas == 0)
		probe_say(probe, FINDING_WARN, "redis.replicas",
		    "is 0: a failover may grant a lock twice; only fences"
		    " help then");
	for (i = 0; i < n; i++)
		config_address_fini(&said[i]);
	free(said);
}

/* ---- a cluster ---- */

/* A node of CLUSTER SLOTS: host, port. */
static bool
read_node(const redisReply *node, const struct config_address *asked,
    struct config_address *out)
{
	const redisReply *host;

	if (node->type != REDIS_REPLY_ARRAY || node->elements < 2 ||
	    node->element[1]->type != REDIS_REPLY_INTEGER)
		return false;
	host = node->element[0];
	out->path = NULL;
	out->port = (uint16_t)node->element[1]->integer;
	/* An unknown host is that of the node we asked. */
	if (host->type == REDIS_REPLY_STRING && host->len > 0)
		out->host = xstrdup(host->str);
	else
		out->host = xstrdup(asked->host ? asked->host : "localhost");
	return true;
}

static bool
is_among(const struct config_address *list, size_t n,
    const struct config_address *one)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (config_address_same(&list[i], one))
			return true;
	return false;
}

/* Each master once. */
static void
probe_masters(struct probe *probe, const struct config_address *asked,
    const redisReply *slots)
{
	struct config_address *seen = xcalloc(slots->elements, sizeof(*seen));
	const redisReply *range;
	int64_t covered = 0;
	size_t i, n = 0;

	for (i = 0; i < slots->elements; i++) {
		range = slots->element[i];
		if (range->type != REDIS_REPLY_ARRAY || range->elements < 3 ||
		    !read_node(range->element[2], asked, &seen[n]))
			continue;
		covered +=
		    range->element[1]->integer - range->element[0]->integer + 1;
		if (is_among(seen, n, &seen[n]))
			config_address_fini(&seen[n]);
		else
			probe_server(probe, &seen[n++]);
	}
	probe_say(probe, covered == 16384 ? FINDING_OK : FINDING_FAIL,
	    "cluster", "%" PRId64 " of 16384 slots have a master, %zu masters",
	    covered, n);
	for (i = 0; i < n; i++)
		config_address_fini(&seen[i]);
	free(seen);
}

/* Asks one node for the map; true where it had one. */
static bool
probe_map(struct probe *probe, const struct config_address *address)
{
	const struct config_redis *redis = &probe->config->redis;
	struct probe_conn c;
	redisReply *reply;
	bool ok = false;

	if (!probe_open(
		&c, probe, "node", address, redis->user, redis->password))
		return false;
	reply = probe_ask(&c, "CLUSTER SLOTS");
	if (reply && probe_is_error(reply))
		probe_find(&c, FINDING_FAIL, "CLUSTER SLOTS: %s", reply->str);
	else if (reply && reply->type == REDIS_REPLY_ARRAY) {
		ok = true;
		probe_masters(probe, address, reply);
	}
	if (reply)
		freeReplyObject(reply);
	probe_close(&c);
	return ok;
}

static void
probe_cluster(struct probe *probe)
{
	const struct config_nodes *nodes = &probe->config->redis.nodes;
	struct probe_conn c;
	bool mapped = false;
	size_t i;

	for (i = 0; i < nodes->n; i++) {
		if (!mapped)
			mapped = probe_map(probe, &nodes->v[i]);
		else if (probe_open(&c, probe, "node", &nodes->v[i],
			     probe->config->redis.user,
			     probe->config->redis.password))
			probe_close(&c);
	}
}

/* ---- all ---- */

static void
check_clocks(struct probe *probe)
{
	int64_t grace_us = times_grace_ms(probe->config->locks.lease_ms) * 1000;
	int64_t apart_us = probe->clock_max_us - probe->clock_min_us;

	if (!probe->clock_known || apart_us < grace_us / 2)
		return;
	probe_say(probe, FINDING_WARN, "clocks",
	    "are %" PRId64 " ms apart: after a failover that loses all data,"
	    " fences may not rise",
	    apart_us / 1000);
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
	char why[256];

	if (config->redis.tls) {
		probe.tls = tls_new(&config->redis, why, sizeof(why));
		if (!probe.tls) {
			probe_say(&probe, FINDING_FAIL, "tls", "%s", why);
			return false;
		}
	}
	modes[config->redis.mode](&probe);
	check_clocks(&probe);
	tls_free(probe.tls);
	return !probe.failed;
}
