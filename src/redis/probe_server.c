/*
 * Looks at a server that keeps locks: its state, what it permits, its settings.
 *
 * A finding is a failure if the broker could not work, or if the promises of
 * lockbrokerd(8) would not hold; a warning if they would, but at a price, or if
 * the probe can't see.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/parse.h"
#include "base/times.h"
#include "config/config.h"
#include "lua/scripts.h"
#include "redis/info.h"
#include "redis/probe_conn.h"
#include "redis/probe_server.h"

#define FENCE_US_MAX INT64_C(9007199254740992) /* 2^53 */
#define CLOCK_US_MAX 1000000
#define SHA_BYTES 40
#define BUCKETS 256 /* of a cluster */

/*
 * Runs each command of the scripts once, on a key that nobody else uses, and
 * returns those that were refused.
 */
static const char try_commands[] =
    "local k, ch, failed, refused = KEYS[1], ARGV[1], {}, {}\n"
    "for _, c in ipairs({\n"
    "{'SET', k, 'x', 'PX', 1000}, {'GET', k}, {'MGET', k}, {'EXISTS', k},\n"
    "{'PEXPIRE', k, 1000}, {'PTTL', k}, {'DEL', k},\n"
    "{'HSET', k, 'f', '1'}, {'HGET', k, 'f'}, {'HMGET', k, 'f'},\n"
    "{'HGETALL', k}, {'HINCRBY', k, 'n', 1}, {'HLEN', k},\n"
    "{'HDEL', k, 'f'}, {'DEL', k},\n"
    "{'RPUSH', k, 'x'}, {'LINDEX', k, 0}, {'LRANGE', k, 0, -1},\n"
    "{'LPOS', k, 'x'}, {'LREM', k, 0, 'y'}, {'LPOP', k}, {'DEL', k},\n"
    "{'ZADD', k, 1, 'x'}, {'ZSCORE', k, 'x'}, {'ZRANGE', k, 0, -1},\n"
    "{'ZREMRANGEBYSCORE', k, '-inf', 0}, {'ZREM', k, 'x'}, {'DEL', k},\n"
    "{'PUBLISH', ch, 'probe'}, {'TIME'}, {'INFO', 'replication'},\n"
    "{'SCAN', 0, 'COUNT', 1},\n"
    "}) do\n"
    "local r = redis.pcall(unpack(c))\n"
    "local why = type(r) == 'table' and r.err\n"
    "if why and refused[why] then\n"
    "failed[refused[why]] = c[1] .. ', ' .. failed[refused[why]]\n"
    "elseif why then\n"
    "failed[#failed + 1] = c[1] .. ': ' .. why\n"
    "refused[why] = #failed\n"
    "end\n"
    "end\n"
    "return failed\n";

/* The state that the checks of one server share. */
struct server {
	struct probe_conn conn;
	const struct config *config;
	struct info info;
	char sha[SHA_BYTES + 1]; /* of try_commands */
	long replicas;		 /* connected */
	int64_t server_us;	 /* its clock; 0: not told */
};

/* Its state. */

static const char *
info_text(const char *text, const char *key)
{
	const char *found = strstr(text, key);

	return found ? found + strlen(key) : "";
}

static bool
look_at_info(struct server *s)
{
	redisReply *reply = probe_ask(&s->conn, "INFO");
	bool ok;

	if (reply == NULL)
		return false;
	ok = reply->type == REDIS_REPLY_STRING;
	if (ok && strstr(reply->str, "lockbroker_version:") != NULL) {
		probe_find(&s->conn, FINDING_FAIL,
		    "is a lockbroker, and not a Redis: give the address of the"
		    " Redis behind it");
		ok = false;
	} else if (ok) {
		info_read(&s->info, reply->str, (size_t)reply->len);
		s->replicas = strtol(
		    info_text(reply->str, "connected_slaves:"), NULL, 10);
	} else {
		probe_find(&s->conn, FINDING_FAIL, "INFO: %s",
		    reply->str ? reply->str : "unexpected reply");
	}
	freeReplyObject(reply);
	return ok;
}

static void
check_version(struct server *s)
{
	const unsigned *v = s->info.version;
	char text[INFO_VERSION_SIZE];
	bool old = v[0] < 6 || (v[0] == 6 && v[1] == 0 && v[2] < 6);

	probe_find(&s->conn, old ? FINDING_FAIL : FINDING_OK, "version %s%s",
	    info_version(&s->info, text),
	    old ? " is too old: use Redis 6.0.6 or later" : "");
	if (v[0] == 6 && !old)
		probe_find(&s->conn, FINDING_WARN,
		    "before Redis 7 renewals fail while memory is full");
}

static void
check_role(struct server *s)
{
	if (s->info.loading)
		probe_find(&s->conn, FINDING_FAIL, "is loading its data");
	if (!s->info.replica)
		probe_find(&s->conn, FINDING_OK, "is a master");
	else
		probe_find(&s->conn, FINDING_FAIL,
		    "is a replica; only a master can grant");
}

static void
check_memory(struct server *s)
{
	if (info_evicts(&s->info) && s->info.maxmemory > 0)
		probe_find(&s->conn, FINDING_FAIL,
		    "maxmemory-policy %s may evict locks; set noeviction",
		    s->info.policy);
	else if (info_evicts(&s->info))
		probe_find(&s->conn, FINDING_WARN,
		    "maxmemory-policy %s is harmless only while maxmemory is"
		    " 0; set noeviction",
		    s->info.policy);
	else
		probe_find(&s->conn, FINDING_OK, "maxmemory-policy %s",
		    s->info.policy);
}

static bool
read_time(const redisReply *reply, int64_t *us)
{
	const redisReply *const *v;
	uint64_t seconds, rest;

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
		return false;
	v = (const redisReply *const *)reply->element;
	if (v[0]->type != REDIS_REPLY_STRING ||
	    v[1]->type != REDIS_REPLY_STRING ||
	    !parse_number(
		v[0]->str, (size_t)v[0]->len, INT64_MAX / 2000000, &seconds) ||
	    !parse_number(v[1]->str, (size_t)v[1]->len, 999999, &rest))
		return false;
	*us = (int64_t)(seconds * 1000000 + rest);
	return true;
}

/* Looks at the clock once only, though what matters is that it never jumps. */
static void
check_clock(struct server *s)
{
	struct probe *probe = s->conn.probe;
	redisReply *reply = probe_ask(&s->conn, "TIME");
	struct timespec t;
	int64_t theirs_us, off_us;

	if (reply == NULL)
		return;
	clock_gettime(CLOCK_REALTIME, &t);
	if (!read_time(reply, &theirs_us)) {
		probe_find(&s->conn, FINDING_WARN, "TIME: %s",
		    reply->str ? reply->str : "unexpected reply");
		freeReplyObject(reply);
		return;
	}
	freeReplyObject(reply);
	s->server_us = theirs_us;
	off_us = theirs_us - ((int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000);
	if (!probe->clock_known || off_us < probe->clock_min_us)
		probe->clock_min_us = off_us;
	if (!probe->clock_known || off_us > probe->clock_max_us)
		probe->clock_max_us = off_us;
	probe->clock_known = true;
	if (theirs_us >= FENCE_US_MAX)
		probe_find(&s->conn, FINDING_FAIL,
		    "its clock is beyond the year 2255");
	else
		probe_find(&s->conn,
		    llabs(off_us) > CLOCK_US_MAX ? FINDING_WARN : FINDING_OK,
		    "its clock differs by %+" PRId64 " ms from ours",
		    off_us / 1000);
}

/* What it permits. */

/* When a command is needed. */
enum when { ALWAYS, WITH_REPLICAS, IN_CLUSTER };

/* A command that the broker sends by itself; argv ends with NULL. */
struct needed {
	enum finding without;
	enum when when;
	const char *argv[6];
};

static redisReply *
ask_words(struct probe_conn *c, const char *const *words)
{
	const char *argv[6];
	size_t lens[6];
	int argc;

	for (argc = 0; argc < 6 && words[argc] != NULL; argc++) {
		argv[argc] = words[argc];
		lens[argc] = strlen(words[argc]);
	}
	return probe_askv(c, argc, argv, lens);
}

/* Returns true if the command is permitted. */
static bool
check_command(struct server *s, const struct needed *n)
{
	redisReply *reply = ask_words(&s->conn, n->argv);
	bool ok;

	if (reply == NULL)
		return false;
	ok = !probe_is_error(reply);
	if (!ok)
		probe_find(
		    &s->conn, n->without, "%s: %s", n->argv[0], reply->str);
	freeReplyObject(reply);
	return ok;
}

static bool
is_needed(const struct server *s, enum when when)
{
	if (when == WITH_REPLICAS)
		return s->config->redis.replicas > 0;
	return when == ALWAYS || s->config->redis.mode == CONFIG_MODE_CLUSTER;
}

static bool
check_commands(struct server *s)
{
	char channel[128];
	const struct needed needed[] = {
		{ FINDING_FAIL, ALWAYS, { "PING" } },
		{ FINDING_WARN, ALWAYS, { "CLIENT", "SETNAME", "lockbroker" } },
		{ FINDING_FAIL, ALWAYS, { "CLIENT", "ID" } },
		{ FINDING_FAIL, ALWAYS,
		    { "CLIENT", "KILL", "ID", "9223372036854775807" } },
		{ FINDING_FAIL, ALWAYS, { "PUBLISH", channel, "probe" } },
		{ FINDING_FAIL, WITH_REPLICAS, { "WAIT", "0", "1" } },
		{ FINDING_FAIL, IN_CLUSTER, { "CLUSTER", "INFO" } },
		{ FINDING_FAIL, IN_CLUSTER, { "ASKING" } },
	};
	bool ok = true;
	size_t i;

	snprintf(channel, sizeof(channel), "%s@probe", s->config->redis.prefix);
	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++)
		if (is_needed(s, needed[i].when))
			ok &= check_command(s, &needed[i]);
	return ok;
}

/* Must come last on its connection. */
static bool
check_subscribe(struct server *s)
{
	char channel[128];
	const struct needed needed = { FINDING_FAIL, ALWAYS,
		{ "SUBSCRIBE", channel } };

	snprintf(channel, sizeof(channel), "%s@probe", s->config->redis.prefix);
	return check_command(s, &needed);
}

/* Loads a script; its SHA goes into s->sha. */
static bool
load(struct server *s, const char *text)
{
	const char *words[] = { "SCRIPT", "LOAD", text, NULL };
	redisReply *reply;
	bool ok;

	/* Like link_script(): older servers don't know the first line. */
	if (s->info.version[0] < 7 && strncmp(text, "#!", 2) == 0)
		words[2] = strchr(text, '\n') + 1;
	reply = ask_words(&s->conn, words);
	if (reply == NULL)
		return false;
	ok = reply->type == REDIS_REPLY_STRING &&
	     (size_t)reply->len == SHA_BYTES;
	if (ok)
		memcpy(s->sha, reply->str, SHA_BYTES + 1);
	else
		probe_find(&s->conn, FINDING_FAIL, "SCRIPT LOAD: %s",
		    reply->str ? reply->str : "unexpected reply");
	freeReplyObject(reply);
	return ok;
}

static redisReply *
run_on(struct server *s, const char *key)
{
	char channel[128];
	const char *words[] = { "EVALSHA", s->sha, "1", key, channel, NULL };

	snprintf(channel, sizeof(channel), "%s@probe", s->config->redis.prefix);
	return ask_words(&s->conn, words);
}

/* A node of a cluster has only some buckets: tries until it finds one. */
static redisReply *
run_somewhere(struct server *s)
{
	const char *prefix = s->config->redis.prefix;
	redisReply *reply = NULL;
	char key[128];
	unsigned i;

	if (s->config->redis.mode != CONFIG_MODE_CLUSTER) {
		snprintf(
		    key, sizeof(key), "%s@probe:%ld", prefix, (long)getpid());
		return run_on(s, key);
	}
	for (i = 0; i < BUCKETS; i++) {
		snprintf(key, sizeof(key), "%s{%u}:@probe:%ld", prefix, i,
		    (long)getpid());
		reply = run_on(s, key);
		if (reply == NULL || !probe_is_error(reply) ||
		    strncmp(reply->str, "MOVED", 5) != 0)
			return reply;
		if (i + 1 < BUCKETS)
			freeReplyObject(reply);
	}
	return reply;
}

static bool
check_scripts(struct server *s)
{
	redisReply *reply;
	bool ok;
	size_t i;

	if (!load(s, lua_keep) || !load(s, lua_acquire) ||
	    !load(s, try_commands))
		return false;
	reply = run_somewhere(s);
	if (reply == NULL)
		return false;
	ok = reply->type == REDIS_REPLY_ARRAY && reply->elements == 0;
	if (probe_is_error(reply))
		probe_find(&s->conn, FINDING_FAIL, "EVALSHA: %s", reply->str);
	for (i = 0; i < reply->elements; i++)
		probe_find(&s->conn, FINDING_FAIL, "in a script, %s",
		    reply->element[i]->str ? reply->element[i]->str
					   : "unexpected reply");
	freeReplyObject(reply);
	return ok;
}

/* Its settings. */

/* Reads a setting of the running server; false if the server won't tell it. */
static bool
probe_setting(
    struct probe_conn *c, const char *name, char *value, unsigned size)
{
	redisReply *reply = probe_ask(c, "CONFIG GET %s", name);
	bool ok;

	if (reply == NULL)
		return false;
	ok = reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
	     reply->element[1]->type == REDIS_REPLY_STRING;
	if (ok)
		snprintf(value, size, "%s", reply->element[1]->str);
	freeReplyObject(reply);
	return ok;
}

static void
check_min_replicas(struct server *s)
{
	long wanted = (long)s->config->redis.replicas, n;
	char value[64];

	if (wanted == 0 || !probe_setting(&s->conn, "min-replicas-to-write",
			       value, sizeof(value)))
		return;
	n = strtol(value, NULL, 10);
	probe_find(&s->conn, n < wanted ? FINDING_WARN : FINDING_OK,
	    "min-replicas-to-write %ld%s", n,
	    n < wanted ? "; set it to redis.replicas, so that a master that"
			 " was cut off stops taking writes"
		       : "");
	if (n < wanted || !probe_setting(&s->conn, "min-replicas-max-lag",
			      value, sizeof(value)))
		return;
	n = strtol(value, NULL, 10);
	probe_find(&s->conn, n > 2 ? FINDING_WARN : FINDING_OK,
	    "min-replicas-max-lag %ld%s", n,
	    n > 2 ? "; 2 stops a master that was cut off sooner" : "");
}

/* Checks a setting that should be 0 if there are replicas. */
static void
check_zero(struct server *s, const char *name, const char *with_0)
{
	char value[64];
	bool zero;

	if (s->replicas == 0 && s->config->redis.replicas == 0)
		return;
	if (!probe_setting(&s->conn, name, value, sizeof(value)))
		return;
	zero = strcmp(value, "0") == 0;
	probe_find(&s->conn, zero ? FINDING_OK : FINDING_WARN, "%s %s%s%s",
	    name, value, zero ? "" : "; with 0, ", zero ? "" : with_0);
}

static void
check_saving(struct server *s)
{
	char only[16], sync[16];

	if (!probe_setting(&s->conn, "appendonly", only, sizeof(only)) ||
	    !probe_setting(&s->conn, "appendfsync", sync, sizeof(sync)))
		return;
	probe_find(&s->conn, FINDING_OK,
	    "appendonly %s, appendfsync %s (locks need no persistence)", only,
	    sync);
}

static void
check_node_timeout(struct server *s)
{
	int64_t stall_ms = times_pad_ms(s->config->locks.lease_ms);
	char value[64];
	long ms;

	if (s->config->redis.mode != CONFIG_MODE_CLUSTER ||
	    !probe_setting(
		&s->conn, "cluster-node-timeout", value, sizeof(value)))
		return;
	ms = strtol(value, NULL, 10);
	probe_find(&s->conn, ms > stall_ms ? FINDING_OK : FINDING_FAIL,
	    "cluster-node-timeout %ld ms%s", ms,
	    ms > stall_ms ? "" : " must be more than 0.3 of locks.lease");
}

static void
check_coverage(struct server *s)
{
	char value[64];
	bool no;

	if (s->config->redis.mode != CONFIG_MODE_CLUSTER ||
	    !probe_setting(&s->conn, "cluster-require-full-coverage", value,
		sizeof(value)))
		return;
	no = strcmp(value, "no") == 0;
	probe_find(&s->conn, no ? FINDING_OK : FINDING_WARN,
	    "cluster-require-full-coverage %s%s", value,
	    no ? "" : "; with no, the other names go on when a master is gone");
}

static void
check_settings(struct server *s)
{
	char value[64];

	if (!probe_setting(&s->conn, "appendonly", value, sizeof(value))) {
		probe_find(&s->conn, FINDING_WARN,
		    "CONFIG GET is not permitted: see lockbrokerd(8) for the"
		    " settings it should have");
		return;
	}
	check_min_replicas(s);
	check_zero(s, "repl-backlog-ttl",
	    "replicas that come back late cost no grace period");
	/* A replica whose full copy begins late confirms late. */
	check_zero(s, "repl-diskless-sync-delay",
	    "a replica that comes back confirms sooner");
	check_saving(s);
	check_node_timeout(s);
	check_coverage(s);
}

static void
check_replicas(struct server *s)
{
	long wanted = (long)s->config->redis.replicas;

	if (wanted == 0 && s->replicas == 0)
		return;
	if (wanted == 0)
		probe_find(&s->conn, FINDING_WARN,
		    "%ld replicas are connected, and redis.replicas is 0: a"
		    " failover may lose locks",
		    s->replicas);
	else if (s->replicas < wanted)
		probe_find(&s->conn, FINDING_FAIL,
		    "%ld replicas are connected, redis.replicas is %ld: no"
		    " grant would count",
		    s->replicas, wanted);
	else
		probe_find(&s->conn,
		    s->replicas > wanted ? FINDING_WARN : FINDING_OK,
		    "%ld replicas are connected, %ld confirm%s", s->replicas,
		    wanted,
		    s->replicas > wanted ? "; one that has not may be promoted"
					 : "");
}

static void
check_all(struct server *s)
{
	bool ok;

	if (!look_at_info(s))
		return;
	check_version(s);
	check_role(s);
	check_memory(s);
	check_replicas(s);
	check_clock(s);
	check_settings(s);
	if (s->info.replica)
		return;
	probe_guard(&s->conn, s->config, s->server_us / 1000);
	ok = check_commands(s);
	ok &= check_scripts(s);
	ok &= check_subscribe(s);
	if (ok)
		probe_find(&s->conn, FINDING_OK,
		    "every command that is needed is permitted");
}

void
probe_server(struct probe *probe, const struct address *address)
{
	const struct config_redis *redis = &probe->config->redis;
	struct server s = { .config = probe->config };
	redisReply *reply;

	if (!probe_open(
		&s.conn, probe, "redis", address, redis->user, redis->password))
		return;
	reply = redis->database > 0
		    ? probe_ask(&s.conn, "SELECT %u", redis->database)
		    : NULL;
	if (reply != NULL && probe_is_error(reply))
		probe_find(&s.conn, FINDING_FAIL, "SELECT: %s", reply->str);
	else
		check_all(&s);
	if (reply != NULL)
		freeReplyObject(reply);
	probe_close(&s.conn);
}
