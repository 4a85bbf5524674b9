/*
 * What the probe asks a server that keeps locks.  The greeting of its link
 * refuses a server that is too old, loads its data, may evict locks, or lacks
 * what the greeting needs; here are its role, its settings, and what else it
 * permits.  A Sentinel: will it act as the broker assumes?
 *
 * A finding is a failure if the broker could not work, or if the promises of
 * lockbroker-guarantees(7) would not hold; a warning if they would, but at a
 * price, or if the probe cannot see.
 */
#include "config.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "base/text.h"
#include "base/times.h"
#include "config/config.h"
#include "redis/cluster_map.h"
#include "redis/probe_state.h"
#include "redis/redis.h"
#include "store/gather.h"

#define FENCE_US_MAX INT64_C(9007199254740992) /* 2^53 */
#define CLOCK_US_MAX 1000000

/* What the scripts call: on a key of their own, the guard, and a channel. */
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

#define SETTING "CONFIG GET "
#define SLOTS_WORD "cluster_slots_assigned:"

#define MIN_REPLICAS (-1) /* redis.replicas */
#define MIN_PAD (-2)	  /* more than 0.3 of locks.lease */

/* Reads the answer to a question, which may be an error. */
struct ask;
typedef void reader(
    struct probed *s, const struct ask *ask, const redisReply *reply);

/* When a question is asked. */
enum when { ALWAYS, WITH_REPLICAS, SOME_REPLICAS, IN_CLUSTER };

/*
 * A question: something that the broker sends by itself, or a setting, which
 * should be a number between two others, or begin with a word.
 */
struct ask {
	const char *command; /* as link_sendf(), of redis.prefix */
	reader *read;
	enum finding otherwise;
	enum when when;
	const char *word; /* NULL: a number; "": any */
	int64_t min, max; /* or one of the two above */
	const char *advice;
};

/* Does a server say that the user may not do that? */
static bool
is_denial(const char *text)
{
	static const char *const words[] = { "NOPERM", "no permissions",
		"ACL of Redis lacks rights", "The user executing the script",
		"ACL failure" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i]) != NULL)
			return true;
	return false;
}

void
probe_find(struct probed *s, enum finding finding, const char *fmt, ...)
{
	static const char *const words[] = { "ok", "warn", "fail" };
	size_t from = buf_len(&s->lines);
	char *line;
	va_list ap;

	buf_addf(&s->lines, "%-4s  %s: ", words[finding], s->what);
	va_start(ap, fmt);
	buf_addv(&s->lines, fmt, ap);
	va_end(ap);
	buf_addc(&s->lines, '\0');
	line = buf_data(&s->lines) + from;
	if (finding == FINDING_FAIL && is_denial(line)) {
		if (strncmp(s->what, "sentinel", strlen("sentinel")) == 0)
			s->probe->sentinel_denied = true;
		else
			s->probe->denied = true;
	}
	buf_cut(&s->lines, buf_len(&s->lines) - 1);
	/* Servers choose some of the text; it must not control a terminal. */
	text_clean(line, buf_len(&s->lines) - from, ' ');
	buf_addc(&s->lines, '\n');
	s->probe->failed |= finding == FINDING_FAIL;
}

static bool
is_in_cluster(const struct probed *s)
{
	return s->probe->config->redis.mode == CONFIG_MODE_CLUSTER;
}

static bool
counts(const struct probed *s, enum when when)
{
	unsigned wanted = s->probe->config->redis.replicas;

	return when == ALWAYS || (when == IN_CLUSTER && is_in_cluster(s)) ||
	       (when == WITH_REPLICAS && wanted > 0) ||
	       (when == SOME_REPLICAS && wanted + s->info.replicas > 0);
}

static void
check_replicas(struct probed *s)
{
	unsigned wanted = s->probe->config->redis.replicas,
		 n = s->info.replicas;
	enum finding finding = n > wanted ? FINDING_WARN : FINDING_OK;
	const char *then = "";

	if (n < wanted) {
		finding = FINDING_FAIL;
		then = ": no grant would count";
	} else if (n > wanted) {
		then = wanted == 0 ? ": a failover may lose locks"
				   : ": a replica that has not confirmed can "
				     "be promoted";
	}
	if (n > 0 || wanted > 0)
		probe_find(s, finding,
		    "%u replicas are connected, redis.replicas is %u%s", n,
		    wanted, then);
}

/* Looks at the clock once only, though what matters is that it never jumps. */
static void
check_clock(struct probed *s, int64_t theirs_us)
{
	struct probe *probe = s->probe;
	int64_t off_us = theirs_us - (int64_t)now_wall_us();

	if (!probe->clock_known || off_us < probe->clock_min_us)
		probe->clock_min_us = off_us;
	if (!probe->clock_known || off_us > probe->clock_max_us)
		probe->clock_max_us = off_us;
	probe->clock_known = true;
	if (theirs_us >= FENCE_US_MAX)
		probe_find(
		    s, FINDING_FAIL, "its clock is beyond the year 2255");
	else
		probe_find(s,
		    llabs(off_us) > CLOCK_US_MAX ? FINDING_WARN : FINDING_OK,
		    "its clock differs by %+" PRId64 " ms from ours",
		    off_us / 1000);
}

/* Brokers that share a server must have some settings in common. */
static void
check_guard(struct probed *s, const char *theirs, bool used)
{
	const struct config *config = s->probe->config;
	const struct store_config ours = { .lease_ms = config->locks.lease_ms,
		.replicas = config->redis.replicas,
		.shards = redis_shards(config),
		.quorum = config->redis.mode == CONFIG_MODE_QUORUM };
	char cfg[STORE_CFG_SIZE];

	store_cfg(cfg, &ours);
	if (theirs[0] == '\0' || strcmp(theirs, cfg) == 0)
		return;
	if (used)
		probe_find(s, FINDING_FAIL,
		    "the brokers there use %s, this file %s: while they run, "
		    "a broker with this file grants nothing (CHANGING THE "
		    "LEASE in lockbroker-admin(7))",
		    theirs, cfg);
	else
		probe_find(s, FINDING_WARN,
		    "the last brokers there used %s, this file %s: set the "
		    "same on all",
		    theirs, cfg);
}

/*
 * Sends a question, with what its command needs, and has the answer read.  If
 * the connection breaks, nothing is read, which is reported once.
 */
#define ask_server(s, ask, ...)         \
	((s)->asks[(s)->asked] = (ask), \
	    (s)->asked += link_sendf(   \
		(s)->link, 0, on_answer, (s), (ask)->command, __VA_ARGS__))

static void
on_answer(void *arg, const redisReply *reply)
{
	struct probed *s = arg;
	const struct ask *ask = s->asks[s->answered++];

	if (reply != NULL)
		ask->read(s, ask, reply);
	else if (!s->broken)
		probe_find(s, FINDING_FAIL, "the connection broke");
	s->broken |= reply == NULL;
}

/* Answers. */

static bool
fits(const struct probed *s, const struct ask *ask, const char *value)
{
	const struct config *config = s->probe->config;
	int64_t n = atoll(value), min = ask->min;

	if (ask->word != NULL)
		return strncmp(value, ask->word, strlen(ask->word)) == 0;
	if (min == MIN_REPLICAS)
		min = config->redis.replicas;
	else if (min == MIN_PAD)
		min = times_pad_ms(config->locks.lease_ms) + 1;
	return n >= min && n <= ask->max;
}

static void
on_setting(struct probed *s, const struct ask *ask, const redisReply *reply)
{
	const char *name = ask->command + strlen(SETTING), *value;
	bool good;

	if (reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
	    reply->element[1]->type == REDIS_REPLY_STRING) {
		value = reply->element[1]->str;
		good = fits(s, ask, value);
		probe_find(s, good ? FINDING_OK : ask->otherwise, "%s %s%s",
		    name, value, good ? "" : ask->advice);
	} else if (ask->when == ALWAYS) {
		probe_find(s, FINDING_WARN,
		    "CONFIG GET is not permitted: see lockbroker-admin(7) "
		    "for the settings that Redis needs");
	}
}

static void
on_command(struct probed *s, const struct ask *ask, const redisReply *reply)
{
	if (reply->type != REDIS_REPLY_ERROR)
		return;
	s->permits = false;
	probe_find(s, ask->otherwise, "%.*s: %s",
	    (int)strcspn(ask->command, " "), ask->command, reply->str);
}

static void
on_ping(struct probed *s, const struct ask *ask, const redisReply *reply)
{
	on_command(s, ask, reply);
	if (reply->type != REDIS_REPLY_ERROR)
		probe_find(s, FINDING_OK, "answers, within %" PRId64 " ms%s",
		    now_ms() - s->asked_ms,
		    s->probe->config->redis.tls ? ", over TLS" : "");
}

/* All slots of a cluster, and not those alone that the broker uses. */
static void
on_cluster(struct probed *s, const struct ask *ask, const redisReply *reply)
{
	const char *at = NULL;
	int n;

	on_command(s, ask, reply);
	if (reply->type == REDIS_REPLY_STRING)
		at = strstr(reply->str, SLOTS_WORD);
	if (at == NULL)
		return;
	n = atoi(at + strlen(SLOTS_WORD));
	probe_find(s, n == SLOTS ? FINDING_OK : FINDING_FAIL,
	    "%d of %d slots have a master", n, SLOTS);
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

/* A server whose replicas were attached just now refuses each command that
 * writes; that is no lack of rights. */
static void
tell_refused(struct probed *s, const char *why)
{
	if (strstr(why, "NOREPLICAS") != NULL)
		probe_find(s, FINDING_FAIL,
		    "refuses writes: fewer than min-replicas-to-write of %u "
		    "replicas are in sync (min-replicas-max-lag); try again "
		    "in a moment",
		    s->info.replicas);
	else
		probe_find(s, FINDING_FAIL, "in a script, %s", why);
}

static void
on_tried(struct probed *s, const struct ask *ask, const redisReply *reply)
{
	const struct config *config = s->probe->config;
	int64_t period_ms = times_recovery_ms(config->locks.lease_ms), now;
	redisReply *const *v = reply->element;
	size_t i;

	(void)ask;
	s->permits &= is_list(reply) && reply->elements == REFUSED;
	if (!is_list(reply)) {
		probe_find(s, FINDING_FAIL, "EVALSHA: %s",
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
	if (s->permits)
		probe_find(s, FINDING_OK,
		    "all commands that the broker needs are permitted");
}

static const struct ask tried = { .read = on_tried,
	.command = "EVALSHA %s 2 %s%s@probe:%d %s%s@guard %s@probe %s" };

/* Keys are in a bucket that the server has. */
static void
on_loaded(struct probed *s, const struct ask *ask, const redisReply *reply)
{
	const char *prefix = s->probe->config->redis.prefix;
	char bucket[16] = "";

	(void)ask;
	if (is_in_cluster(s))
		snprintf(bucket, sizeof(bucket), "{%" PRIu32 "}:", s->shard);
	ask_server(s, &tried,
	    reply->type == REDIS_REPLY_STRING ? reply->str : "", prefix, bucket,
	    (int)getpid(), prefix, bucket, prefix, script_commands);
}

/* clang-format off */
static const struct ask asks[] = {
	{ SETTING "appendonly", on_setting, FINDING_OK, ALWAYS, "", 0, 0, "" },
	{ SETTING "min-replicas-to-write", on_setting, FINDING_WARN,
	    WITH_REPLICAS, NULL, MIN_REPLICAS, INT64_MAX,
	    "; set it to redis.replicas, so that an isolated master stops "
	    "accepting writes" },
	{ SETTING "min-replicas-max-lag", on_setting, FINDING_WARN,
	    WITH_REPLICAS, NULL, 0, 2,
	    "; 2 stops an isolated master sooner" },
	{ SETTING "repl-backlog-ttl", on_setting, FINDING_WARN, SOME_REPLICAS,
	    NULL, 0, 0,
	    "; with 0, replicas that return late cost no grace period" },
	/* A replica whose full copy begins late confirms late. */
	{ SETTING "repl-diskless-sync-delay", on_setting, FINDING_WARN,
	    SOME_REPLICAS, NULL, 0, 0,
	    "; with 0, a returning replica confirms sooner" },
	{ SETTING "cluster-node-timeout", on_setting, FINDING_FAIL, IN_CLUSTER,
	    NULL, MIN_PAD, INT64_MAX, " must be more than 0.3 of locks.lease" },
	{ SETTING "cluster-require-full-coverage", on_setting, FINDING_WARN,
	    IN_CLUSTER, "no", 0, 0,
	    "; with no, the other names continue to work when a master is lost" },
	{ "PING", on_ping, FINDING_FAIL, ALWAYS, NULL, 0, 0, NULL },
	{ "CLIENT SETNAME lockbroker", on_command, FINDING_WARN, ALWAYS, NULL, 0, 0, NULL },
	{ "PUBLISH %s@probe probe", on_command, FINDING_FAIL, ALWAYS, NULL, 0, 0, NULL },
	{ "WAIT 0 1", on_command, FINDING_FAIL, WITH_REPLICAS, NULL, 0, 0, NULL },
	{ "CLUSTER INFO", on_cluster, FINDING_FAIL, IN_CLUSTER, NULL, 0, 0, NULL },
	{ "ASKING", on_command, FINDING_FAIL, IN_CLUSTER, NULL, 0, 0, NULL },
};
/* clang-format on */

static const struct ask load = { .read = on_loaded,
	.command = "SCRIPT LOAD %s" };

void
probe_server(struct probed *s)
{
	const char *prefix = s->probe->config->redis.prefix;
	size_t i;

	s->asked_ms = now_ms();
	s->info = *link_info(s->link);
	s->permits = !s->info.replica;
	if (s->info.version[0] == 6)
		probe_find(s, FINDING_WARN,
		    "before Redis 7 renewals fail while memory is full");
	if (s->info.replica)
		probe_find(
		    s, FINDING_FAIL, "is a replica; only a master can grant");
	check_replicas(s);
	for (i = 0; i < sizeof(asks) / sizeof(asks[0]); i++)
		if (counts(s, asks[i].when))
			ask_server(s, &asks[i], prefix);
	if (!s->info.replica)
		ask_server(s, &load, try_commands);
	link_flush(s->link);
}

/* Sentinels. */

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

static void
on_master(struct probed *s, const struct ask *ask, const redisReply *reply)
{
	const struct config *config = s->probe->config;
	bool slow = atoll(field(reply, "down-after-milliseconds")) >
		    times_pad_ms(config->locks.lease_ms);

	(void)ask;
	if (reply->type != REDIS_REPLY_ARRAY) {
		probe_find(s, FINDING_WARN,
		    "SENTINEL master is not permitted: make sure that "
		    "down-after-milliseconds is more than 0.3 of locks.lease");
		return;
	}
	probe_find(s, slow ? FINDING_OK : FINDING_FAIL,
	    "down-after-milliseconds %s%s",
	    field(reply, "down-after-milliseconds"),
	    slow ? "" : " must be more than 0.3 of locks.lease");
	if (strcmp(field(reply, "flags"), "master") != 0)
		probe_find(s, FINDING_WARN, "reports the master '%s'",
		    field(reply, "flags"));
	if (atoll(field(reply, "num-slaves")) != config->redis.replicas)
		probe_find(s, FINDING_WARN,
		    "knows %s replicas, redis.replicas is %u: set it to the "
		    "number of replicas that can be promoted",
		    field(reply, "num-slaves"), config->redis.replicas);
	if (atoll(field(reply, "num-other-sentinels")) + 1 !=
	    (long long)config->redis.nodes.n)
		probe_find(s, FINDING_WARN,
		    "knows %lld Sentinels, redis.nodes has %zu",
		    atoll(field(reply, "num-other-sentinels")) + 1,
		    config->redis.nodes.n);
}

void
probe_sentinel(struct probed *s)
{
	static const struct ask ask = { .read = on_master,
		.command = "SENTINEL master %s" };

	ask_server(s, &ask, s->probe->config->redis.master);
	link_flush(s->link);
}
