/*
 * Chooses the servers to look at: those that the configuration names, the one
 * that Sentinels name, and the masters of a cluster.
 */
#include "config.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/cluster_map.h"
#include "redis/probe.h"
#include "redis/probe_conn.h"
#include "redis/probe_server.h"
#include "redis/redis.h"
#include "redis/slot.h"
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

/* The masters of the map, each once. */
struct masters {
	struct address *v; /* owned */
	size_t n;
	size_t room;
	unsigned covered; /* slots */
};

static bool
is_among(const struct masters *m, const struct address *one)
{
	size_t i;

	for (i = 0; i < m->n; i++)
		if (address_same(&m->v[i], one))
			return true;
	return false;
}

static void
add_master(void *arg, const struct cluster_range *range)
{
	struct address one = { .port = range->port };
	struct masters *m = arg;

	if (!range->master || range->last < range->first)
		return;
	m->covered += range->last - range->first + 1;
	one.host = xstrdup(range->host);
	if (m->n < m->room && !is_among(m, &one))
		m->v[m->n++] = one;
	else
		address_fini(&one);
}

static bool
probe_masters(
    struct probe *probe, const struct address *asked, const redisReply *slots)
{
	struct masters m = { .room = slots->elements };
	size_t i;
	bool ok;

	m.v = xcalloc(m.room, sizeof(*m.v));
	ok = cluster_slots_read(
	    slots, asked->host ? asked->host : "localhost", add_master, &m);
	for (i = 0; i < m.n; i++) {
		if (ok)
			probe_server(probe, &m.v[i]);
		address_fini(&m.v[i]);
	}
	free(m.v);
	if (ok)
		probe_say(probe, m.covered == SLOTS ? FINDING_OK : FINDING_FAIL,
		    "cluster", "%u of %d slots have a master, %zu masters",
		    m.covered, SLOTS, m.n);
	return ok;
}

/* Asks one node for the map; returns true if it had one. */
static bool
probe_map(struct probe *probe, const struct address *address)
{
	const struct config_redis *redis = &probe->config->redis;
	struct probe_conn c;
	redisReply *reply;
	bool ok = false;

	if (!probe_open(
		&c, probe, "node", address, redis->user, redis->password))
		return false;
	reply = probe_ask(&c, "CLUSTER SLOTS");
	if (reply != NULL && probe_is_error(reply))
		probe_find(&c, FINDING_FAIL, "CLUSTER SLOTS: %s", reply->str);
	else if (reply != NULL && reply->type == REDIS_REPLY_ARRAY)
		ok = probe_masters(probe, address, reply);
	if (reply != NULL && !probe_is_error(reply) && !ok)
		probe_find(&c, FINDING_FAIL,
		    "CLUSTER SLOTS: an answer that no cluster gives");
	if (reply != NULL)
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

static bool
begin_tls(struct probe *probe)
{
	char why[RELAY_WHY_SIZE];

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

	if (config->redis.tls && !begin_tls(&probe))
		return false;
	modes[config->redis.mode](&probe);
	check_clocks(&probe);
	relay_free(probe.relay);
	return !probe.failed;
}
