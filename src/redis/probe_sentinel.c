/*
 * A Sentinel: does it know the master, and will it act as the broker assumes?
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/probe_conn.h"
#include "redis/probe_server.h"
#include "redis/sentinel_answer.h"

static bool
ask_master(struct probe_conn *c, struct address *master)
{
	const char *name = c->probe->config->redis.master;
	redisReply *reply =
	    probe_ask(c, "SENTINEL get-master-addr-by-name %s", name);
	struct sentinel_answer said;
	bool ok;

	if (reply == NULL)
		return false;
	ok = sentinel_answer_read(reply, &said);
	if (probe_is_error(reply))
		probe_find(c, FINDING_FAIL, "SENTINEL: %s%s", reply->str,
		    strstr(reply->str, "unknown command") != NULL
			? ": is that a Sentinel? their port is 26379"
			: "");
	else if (reply->type == REDIS_REPLY_NIL)
		probe_find(c, FINDING_FAIL, "knows no master '%s'", name);
	else if (!ok)
		probe_find(
		    c, FINDING_FAIL, "gives an answer that no Sentinel gives");
	if (ok) {
		master->path = NULL;
		master->host = xstrdup(said.host);
		master->port = said.port;
		probe_find(c, FINDING_OK, "says '%s' is %s:%u", name, said.host,
		    said.port);
	}
	freeReplyObject(reply);
	return ok;
}

/* Returns a field of SENTINEL MASTER; "" if it is not there. */
static const char *
field(const redisReply *reply, const char *name)
{
	size_t i;

	for (i = 0; i + 1 < reply->elements; i += 2)
		if (reply->element[i]->str && reply->element[i + 1]->str &&
		    strcmp(reply->element[i]->str, name) == 0)
			return reply->element[i + 1]->str;
	return "";
}

static long
number(const redisReply *reply, const char *name)
{
	return strtol(field(reply, name), NULL, 10);
}

static void
check_fields(struct probe_conn *c, const redisReply *reply)
{
	const struct config *config = c->probe->config;
	long stall_ms = (long)times_pad_ms(config->locks.lease_ms);
	long down_ms = number(reply, "down-after-milliseconds");
	long replicas = number(reply, "num-slaves");
	long sentinels = number(reply, "num-other-sentinels") + 1;

	probe_find(c, down_ms > stall_ms ? FINDING_OK : FINDING_FAIL,
	    "down-after-milliseconds %ld%s", down_ms,
	    down_ms > stall_ms ? "" : " must be more than 0.3 of locks.lease");
	if (strcmp(field(reply, "flags"), "master") != 0)
		probe_find(c, FINDING_WARN, "thinks the master is '%s'",
		    field(reply, "flags"));
	if (replicas != (long)config->redis.replicas)
		probe_find(c, FINDING_WARN,
		    "knows %ld replicas, redis.replicas is %u: it must be the"
		    " number of those that may be promoted",
		    replicas, config->redis.replicas);
	if (sentinels != (long)config->redis.nodes.n)
		probe_find(c, FINDING_WARN,
		    "knows %ld Sentinels, redis.nodes has %zu", sentinels,
		    config->redis.nodes.n);
}

static void
check_master(struct probe_conn *c)
{
	redisReply *reply =
	    probe_ask(c, "SENTINEL master %s", c->probe->config->redis.master);

	if (reply == NULL)
		return;
	if (reply->type == REDIS_REPLY_ARRAY)
		check_fields(c, reply);
	else
		probe_find(c, FINDING_WARN,
		    "SENTINEL master is not permitted: see that"
		    " down-after-milliseconds is more than 0.3 of locks.lease");
	freeReplyObject(reply);
}

static void
check_tilt(struct probe_conn *c)
{
	redisReply *reply = probe_ask(c, "INFO sentinel");

	if (reply == NULL)
		return;
	if (reply->type == REDIS_REPLY_STRING &&
	    strstr(reply->str, "sentinel_tilt:1"))
		probe_find(c, FINDING_WARN,
		    "is in TILT: its clock jumped, or it was stopped");
	freeReplyObject(reply);
}

/* Must come last on its connection. */
static void
check_hints(struct probe_conn *c)
{
	redisReply *reply = probe_ask(c, "SUBSCRIBE +switch-master");

	if (reply == NULL)
		return;
	if (probe_is_error(reply))
		probe_find(c, FINDING_WARN,
		    "SUBSCRIBE: %s; failovers are found a second later",
		    reply->str);
	freeReplyObject(reply);
}

bool
probe_sentinel(
    struct probe *probe, const struct address *address, struct address *master)
{
	const struct config_redis *redis = &probe->config->redis;
	struct probe_conn c;
	bool ok;

	if (!probe_open(&c, probe, "sentinel", address, redis->sentinel_user,
		redis->sentinel_password))
		return false;
	ok = ask_master(&c, master);
	if (ok) {
		check_master(&c);
		check_tilt(&c);
		check_hints(&c);
	}
	probe_close(&c);
	return ok;
}
