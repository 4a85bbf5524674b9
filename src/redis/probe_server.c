/*
 * Looks at a server that keeps locks.  The greeting of its link refuses one
 * that is too old, loads its data, may evict locks, or lacks what the greeting
 * needs; here are its role, its settings, and what it permits besides.
 *
 * A finding is a failure if the broker could not work, or if the promises of
 * lockbroker-guarantees(7) would not hold; a warning if they would, but at a price, or if
 * the probe can't see.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/times.h"
#include "config/config.h"
#include "redis/io.h"
#include "redis/probe_state.h"
#include "redis/redis.h"
#include "store/gather.h"

#define FENCE_US_MAX INT64_C(9007199254740992) /* 2^53 */
#define CLOCK_US_MAX 1000000
#define KEY_SIZE 128

/* What the scripts call: on a key of nobody else, the guard, and a channel. */
static const char script_commands[] =
    "SET k x PX 1000,GET k,MGET k,EXISTS k,PEXPIRE k 1000,PTTL k,DEL k,"
    "HSET k f 1,HGET k f,HMGET g cfg at idle,HGETALL k,HINCRBY k n 1,HLEN k,"
    "HDEL k f,DEL k,RPUSH k x,LINDEX k 0,LRANGE k 0 -1,LPOS k x,LREM k 0 y,"
    "LPOP k,DEL k,ZADD k 1 x,ZSCORE k x,ZRANGE k 0 -1,"
    "ZREMRANGEBYSCORE k -inf 0,ZREM k x,DEL k,PUBLISH c probe,TIME,"
    "INFO replication,SCAN 0 COUNT 1";

/* Runs them, and returns what we ask of the clock and the guard, and then each
 * reason for which some were refused. */
static const char try_commands[] =
    "local named = { k = KEYS[1], g = KEYS[2], c = ARGV[1] }\n"
    "local out, refused = { '', '', '', '' }, {}\n"
    "for line in ARGV[2]:gmatch('[^,]+') do\n"
    "local c = {}\n"
    "for w in line:gmatch('%S+') do c[#c + 1] = named[w] or w end\n"
    "local r = redis.pcall(unpack(c))\n"
    "local why = type(r) == 'table' and r.err\n"
    "if why and refused[why] then\n"
    "out[refused[why]] = c[1] .. ', ' .. out[refused[why]]\n"
    "elseif why then\n"
    "out[#out + 1] = c[1] .. ': ' .. why\n"
    "refused[why] = #out\n"
    "elseif c[1] == 'TIME' then out[1] = r[1] .. ('%06d'):format(r[2])\n"
    "elseif c[1] == 'HMGET' then\n"
    "for i = 1, 3 do out[i + 1] = r[i] or '' end\n"
    "end\n"
    "end\n"
    "return out\n";

enum { NOW_US, GUARD_CFG, GUARD_AT_MS, GUARD_IDLE, REFUSED };

/* When something counts. */
enum when { ALWAYS, WITH_REPLICAS, SOME_REPLICAS, IN_CLUSTER };

/* A command that the broker sends by itself. */
struct needed {
	enum finding without;
	enum when when;
	const char *command;
};

/* A setting: a number that is between two others, or a word. */
struct setting {
	const char *name;
	enum when when;
	const char *word; /* NULL: a number; "": any */
	int64_t min, max;
	enum finding otherwise;
	const char *advice;
};

struct server {
	struct probe_link conn;
	const struct config *config;
	const struct info *info;
	bool permits;	/* all that was asked so far */
	bool elsewhere; /* another node of the cluster has the bucket */

	/* What the answer is about. */
	const struct needed *needed;
	const struct setting *setting;
	char sha[64]; /* of try_commands */
};

static bool
is_in_cluster(const struct server *s)
{
	return s->config->redis.mode == CONFIG_MODE_CLUSTER;
}

static bool
counts(const struct server *s, enum when when)
{
	unsigned wanted = s->config->redis.replicas;

	return when == ALWAYS || (when == IN_CLUSTER && is_in_cluster(s)) ||
	       (when == WITH_REPLICAS && wanted > 0) ||
	       (when == SOME_REPLICAS && wanted + s->info->replicas > 0);
}

/* Its state. */

static void
check_replicas(struct server *s)
{
	unsigned wanted = s->config->redis.replicas, n = s->info->replicas;
	enum finding finding = n > wanted ? FINDING_WARN : FINDING_OK;
	const char *then = "";

	if (n < wanted) {
		finding = FINDING_FAIL;
		then = ": no grant would count";
	} else if (n > wanted) {
		then = wanted == 0 ? ": a failover may lose locks"
				   : ": one that has not confirmed may be"
				     " promoted";
	}
	if (n > 0 || wanted > 0)
		probe_find(&s->conn, finding,
		    "%u replicas are connected, redis.replicas is %u%s", n,
		    wanted, then);
}

static void
check_info(struct server *s)
{
	bool evicts = info_evicts(s->info);
	char version[INFO_VERSION_SIZE];

	probe_find(
	    &s->conn, FINDING_OK, "version %s", info_version(s->info, version));
	if (s->info->version[0] == 6)
		probe_find(&s->conn, FINDING_WARN,
		    "before Redis 7 renewals fail while memory is full");
	if (s->info->replica)
		probe_find(&s->conn, FINDING_FAIL,
		    "is a replica; only a master can grant");
	else
		probe_find(&s->conn, FINDING_OK, "is a master");
	probe_find(&s->conn, evicts ? FINDING_WARN : FINDING_OK,
	    "maxmemory-policy %s%s", s->info->policy,
	    evicts ? " is harmless only while maxmemory is 0; set noeviction"
		   : "");
	check_replicas(s);
}

/* Looks at the clock once only, though what matters is that it never jumps. */
static void
check_clock(struct server *s, int64_t theirs_us)
{
	struct probe *probe = s->conn.probe;
	int64_t off_us = theirs_us - (int64_t)io_wall_us(probe->io);

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

/* Brokers that share a server must have some settings in common. */
static void
check_guard(struct server *s, const char *theirs, bool used)
{
	const struct config *config = s->config;
	const struct store_config ours = { .lease_ms = config->locks.lease_ms,
		.replicas = config->redis.replicas,
		.shards = redis_shards(config),
		.quorum = config->redis.mode == CONFIG_MODE_QUORUM };
	char cfg[STORE_CFG_SIZE];

	store_cfg(cfg, &ours);
	if (theirs[0] == '\0' || strcmp(theirs, cfg) == 0)
		return;
	if (used)
		probe_find(&s->conn, FINDING_FAIL,
		    "the brokers there use %s, and this file says %s: while"
		    " they run, a broker with it grants nothing (CHANGING THE"
		    " LEASE in lockbroker-admin(7))",
		    theirs, cfg);
	else
		probe_find(&s->conn, FINDING_WARN,
		    "the brokers that used it last had %s, and this file says"
		    " %s: see to it that all have the same",
		    theirs, cfg);
}

/* Its settings. */

static void
on_setting(void *arg, const redisReply *reply)
{
	struct server *s = arg;
	const struct setting *setting = s->setting;
	const char *value;
	bool fits;

	if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
	    reply->element[1]->type == REDIS_REPLY_STRING) {
		value = reply->element[1]->str;
		fits = setting->word ? strncmp(value, setting->word,
					   strlen(setting->word)) == 0
				     : atoll(value) >= setting->min &&
					   atoll(value) <= setting->max;
		probe_find(&s->conn, fits ? FINDING_OK : setting->otherwise,
		    "%s %s%s", setting->name, value,
		    fits ? "" : setting->advice);
	} else if (setting->when == ALWAYS) {
		probe_find(&s->conn, FINDING_WARN,
		    "CONFIG GET is not permitted: see lockbroker-admin(7) for the"
		    " settings it should have");
	}
}

/* clang-format off */
static void
check_settings(struct server *s)
{
	const struct setting settings[] = {
		{ "appendonly", ALWAYS, "", 0, 0, FINDING_OK, "" },
		{ "min-replicas-to-write", WITH_REPLICAS, NULL,
		    s->config->redis.replicas, INT64_MAX, FINDING_WARN,
		    "; set it to redis.replicas, so that a master that was cut"
		    " off stops taking writes" },
		{ "min-replicas-max-lag", WITH_REPLICAS, NULL, 0, 2, FINDING_WARN,
		    "; 2 stops a master that was cut off sooner" },
		{ "repl-backlog-ttl", SOME_REPLICAS, NULL, 0, 0, FINDING_WARN,
		    "; with 0, replicas that come back late cost no grace period" },
		/* A replica whose full copy begins late confirms late. */
		{ "repl-diskless-sync-delay", SOME_REPLICAS, NULL, 0, 0,
		    FINDING_WARN,
		    "; with 0, a replica that comes back confirms sooner" },
		{ "cluster-node-timeout", IN_CLUSTER, NULL,
		    times_pad_ms(s->config->locks.lease_ms) + 1, INT64_MAX,
		    FINDING_FAIL, " must be more than 0.3 of locks.lease" },
		{ "cluster-require-full-coverage", IN_CLUSTER, "no", 0, 0,
		    FINDING_WARN,
		    "; with no, the other names go on when a master is gone" },
	};
	size_t i;

	for (i = 0; i < sizeof(settings) / sizeof(settings[0]); i++) {
		s->setting = &settings[i];
		if (counts(s, settings[i].when))
			probe_ask(&s->conn, on_setting, "CONFIG GET %s",
			    settings[i].name);
	}
}
/* clang-format on */

/* What it permits. */

static void
on_command(void *arg, const redisReply *reply)
{
	struct server *s = arg;
	const char *command = s->needed->command;

	if (reply->type != REDIS_REPLY_ERROR)
		return;
	s->permits = false;
	probe_find(&s->conn, s->needed->without, "%.*s: %s",
	    (int)strcspn(command, " "), command, reply->str);
}

static void
check_commands(struct server *s, const char *channel)
{
	static const struct needed needed[] = {
		{ FINDING_FAIL, ALWAYS, "PING" },
		{ FINDING_WARN, ALWAYS, "CLIENT SETNAME lockbroker" },
		{ FINDING_FAIL, ALWAYS, "PUBLISH %s probe" },
		{ FINDING_FAIL, WITH_REPLICAS, "WAIT 0 1" },
		{ FINDING_FAIL, IN_CLUSTER, "CLUSTER INFO" },
		{ FINDING_FAIL, IN_CLUSTER, "ASKING" },
	};
	size_t i;

	for (i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
		s->needed = &needed[i];
		if (counts(s, needed[i].when))
			probe_ask(
			    &s->conn, on_command, needed[i].command, channel);
	}
}

static void
on_loaded(void *arg, const redisReply *reply)
{
	struct server *s = arg;

	if (reply->type == REDIS_REPLY_STRING)
		snprintf(s->sha, sizeof(s->sha), "%s", reply->str);
}

/* Is it a list of texts, and has it all that we asked for? */
static bool
is_list(const redisReply *reply)
{
	size_t i;

	for (i = 0; i < reply->elements; i++)
		if (reply->element[i]->type != REDIS_REPLY_STRING)
			return false;
	return reply->elements >= REFUSED;
}

/* Replicas that were attached just now are refused by each command that writes,
 * and are no lack of rights. */
static void
tell_refused(struct server *s, const char *why)
{
	if (strstr(why, "NOREPLICAS") != NULL)
		probe_find(&s->conn, FINDING_FAIL,
		    "refuses to write: of %u replicas fewer than"
		    " min-replicas-to-write are in step"
		    " (min-replicas-max-lag); try again in a moment",
		    s->info->replicas);
	else
		probe_find(&s->conn, FINDING_FAIL, "in a script, %s", why);
}

static void
on_tried(void *arg, const redisReply *reply)
{
	struct server *s = arg;
	int64_t period_ms = times_recovery_ms(s->config->locks.lease_ms), now;
	redisReply *const *v = reply->element;
	size_t i;

	s->elsewhere = is_in_cluster(s) && reply->type == REDIS_REPLY_ERROR &&
		       strncmp(reply->str, "MOVED", 5) == 0;
	if (s->elsewhere)
		return;
	s->permits &= is_list(reply) && reply->elements == REFUSED;
	if (!is_list(reply)) {
		probe_find(&s->conn, FINDING_FAIL, "EVALSHA: %s",
		    reply->str ? reply->str : "unexpected reply");
		return;
	}
	now = atoll(v[NOW_US]->str);
	if (now != 0)
		check_clock(s, now);
	check_guard(s, v[GUARD_CFG]->str,
	    v[GUARD_IDLE]->len == 0 &&
		now / 1000 - atoll(v[GUARD_AT_MS]->str) <= period_ms);
	for (i = REFUSED; i < reply->elements; i++)
		tell_refused(s, v[i]->str);
}

/* A node of a cluster has only some buckets: tries until it finds one. */
static void
check_scripts(struct server *s, const char *channel)
{
	const char *prefix = s->config->redis.prefix;
	unsigned i, n = redis_shards(s->config);
	char bucket[16] = "";

	probe_ask(&s->conn, on_loaded, "SCRIPT LOAD %s", try_commands);
	for (i = 0; i == 0 || (s->elsewhere && i < n); i++) {
		if (is_in_cluster(s))
			snprintf(bucket, sizeof(bucket), "{%u}:", i);
		probe_ask(&s->conn, on_tried,
		    "EVALSHA %s 2 %s%s@probe:%d %s%s@guard %s %s", s->sha,
		    prefix, bucket, (int)getpid(), prefix, bucket, channel,
		    script_commands);
	}
}

static void
check_permits(struct server *s)
{
	char channel[KEY_SIZE];

	snprintf(channel, sizeof(channel), "%s@probe", s->config->redis.prefix);
	s->permits = true;
	check_commands(s, channel);
	check_scripts(s, channel);
	if (!link_is_up(s->conn.link))
		return;
	if (!probe_hears(&s->conn, channel))
		probe_find(&s->conn, FINDING_FAIL, "%s", s->conn.why);
	else if (s->permits)
		probe_find(&s->conn, FINDING_OK,
		    "every command that is needed is permitted");
}

void
probe_server(struct probe *probe, const struct address *address)
{
	struct server s = { .config = probe->config };

	if (!probe_open(&s.conn, probe, "redis", address, &s))
		return;
	s.info = link_info(s.conn.link);
	check_info(&s);
	check_settings(&s);
	if (!s.info->replica)
		check_permits(&s);
	probe_close(&s.conn);
}
