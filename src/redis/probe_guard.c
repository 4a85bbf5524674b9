/*
 * Brokers that share a server must have some settings in common: does the
 * configuration agree with those in the guard there?
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/times.h"
#include "config/config.h"
#include "redis/probe_conn.h"
#include "redis/probe_server.h"
#include "redis/redis.h"
#include "store/gather.h"

/* Fields of the guard (lua/guard.lua), in the order in which we ask. */
enum { GUARD_CFG, GUARD_AT, GUARD_IDLE, GUARD_FIELDS };

static redisReply *
ask_guard(struct probe_conn *c, const struct config *config)
{
	const char *prefix = config->redis.prefix;
	redisReply *reply = NULL;
	unsigned i, n = redis_shards(config);

	if (config->redis.mode != CONFIG_MODE_CLUSTER)
		return probe_ask(c, "HMGET %s@guard cfg at idle", prefix);
	for (i = 0; i < n; i++) {
		reply =
		    probe_ask(c, "HMGET %s{%u}:@guard cfg at idle", prefix, i);
		if (reply == NULL || !probe_is_error(reply) ||
		    strncmp(reply->str, "MOVED", 5) != 0)
			return reply;
		if (i + 1 < n)
			freeReplyObject(reply);
	}
	return reply;
}

static const char *
text_of(const redisReply *reply, unsigned i)
{
	return reply->element[i]->type == REDIS_REPLY_STRING
		   ? reply->element[i]->str
		   : "";
}

/* Has a broker called within the recovery period, and not all signed off? */
static bool
is_used(const redisReply *reply, const struct config *config, int64_t now_ms)
{
	int64_t at_ms = atoll(text_of(reply, GUARD_AT));

	return text_of(reply, GUARD_IDLE)[0] == '\0' &&
	       now_ms - at_ms <= times_recovery_ms(config->locks.lease_ms);
}

void
probe_guard(
    struct probe_conn *c, const struct config *config, int64_t server_ms)
{
	struct store_config ours = { .lease_ms = config->locks.lease_ms,
		.replicas = config->redis.replicas,
		.shards = redis_shards(config),
		.quorum = config->redis.mode == CONFIG_MODE_QUORUM };
	redisReply *reply = ask_guard(c, config);
	char cfg[STORE_CFG_SIZE];
	const char *theirs;

	if (reply == NULL)
		return;
	store_cfg(cfg, &ours);
	if (reply->type == REDIS_REPLY_ARRAY &&
	    reply->elements == GUARD_FIELDS) {
		theirs = text_of(reply, GUARD_CFG);
		if (theirs[0] != '\0' && strcmp(theirs, cfg) != 0 &&
		    is_used(reply, config, server_ms))
			probe_find(c, FINDING_FAIL,
			    "the brokers there use %s, and this file says %s:"
			    " while they run, a broker with it grants nothing"
			    " (CHANGING THE LEASE in lockbrokerd(8))",
			    theirs, cfg);
		else if (theirs[0] != '\0' && strcmp(theirs, cfg) != 0)
			probe_find(c, FINDING_WARN,
			    "the brokers that used it last had %s, and this"
			    " file says %s: see to it that all have the same",
			    theirs, cfg);
	}
	freeReplyObject(reply);
}
