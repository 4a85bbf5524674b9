/*
 * A broker without clients: starts its topology; waits until all servers can be
 * used or will not do, but five seconds at most; asks each of them what a
 * broker would find out only later; and reports the answers, and what the
 * broker would log.
 */
#include "config.h"

#include <event2/event.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "base/times.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/probe.h"
#include "redis/probe_state.h"
#include "redis/redis.h"
#include "relay/relay.h"

#define WAIT_MS 5000
#define PROXY                                                               \
	"; a proxy such as twemproxy does that: name the server itself in " \
	"redis.nodes"

/* What is found. */

/* Returns what is found of something, so far. */
static struct probed *
probed_of(struct probe *probe, const char *kind, const char *node)
{
	char what[sizeof(((struct probed *)0)->what)];
	struct probed *s;

	snprintf(what, sizeof(what), "%s%s%s", kind, node[0] != '\0' ? " " : "",
	    node);
	TAILQ_FOREACH (s, &probe->all, entry)
		if (strcmp(s->what, what) == 0)
			return s;
	s = xcalloc(1, sizeof(*s));
	s->probe = probe;
	memcpy(s->what, what, sizeof(what));
	buf_init(&s->lines);
	TAILQ_INSERT_TAIL(&probe->all, s, entry);
	return s;
}

static void
report(struct probe *probe, FILE *out)
{
	struct probed *s;

	while ((s = TAILQ_FIRST(&probe->all)) != NULL) {
		if (buf_len(&s->lines) > 0)
			(void)fwrite(
			    buf_data(&s->lines), 1, buf_len(&s->lines), out);
		TAILQ_REMOVE(&probe->all, s, entry);
		buf_fini(&s->lines);
		free(s);
	}
}

/* What the broker logs. */

/* With those events a server cannot be used.  Other warnings stay warnings. */
static bool
is_failure(const char *event)
{
	static const char *const events[] = { "redis-down",
		"redis-unsubscribed", "sentinel-down", "sentinel-stranger",
		"cluster-no-map", "cluster-degraded" };
	size_t i;

	for (i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (strcmp(events[i], event) == 0)
			return true;
	return false;
}

/* A reason and an advice need no key; the node is named before. */
static void
add_value(struct buf *out, const struct log_value *v)
{
	static const char plain[] = "why advice error", left[] = "node down_ms";

	if (strstr(left, v->key) != NULL)
		return;
	buf_adds(out, buf_len(out) > 0 ? "; " : ": ");
	if (strstr(plain, v->key) == NULL)
		buf_addf(out, "%s ", v->key);
	if (v->str == NULL)
		buf_addf(out, "%" PRId64, v->num);
	else
		buf_add(out, v->str, v->len);
}

/* A line such as `redis-down node=N why=W` becomes `down: W` of `redis N`. */
static void
on_log(void *arg, enum log_level level, const char *event,
    const struct log_value *values, size_t n)
{
	bool up = strcmp(event, "redis-up") == 0, fails = is_failure(event);
	size_t i, kind_len = strcspn(event, "-");
	char kind[32], node[ADDRESS_SIZE] = "";
	struct probe *probe = arg;
	struct probed *s;
	struct buf text;

	if (!up && level < LOG_LEVEL_WARNING)
		return;
	buf_init(&text);
	for (i = 0; i < n; i++) {
		add_value(&text, &values[i]);
		if (strcmp(values[i].key, "node") == 0)
			snprintf(node, sizeof(node), "%.*s", (int)values[i].len,
			    values[i].str);
	}
	buf_addc(&text, '\0');
	snprintf(kind, sizeof(kind), "%.*s", (int)kind_len, event);
	s = probed_of(probe, kind, node);
	/* A node that is up knows which node has which slots. */
	if (up && probe->config->redis.mode == CONFIG_MODE_CLUSTER)
		memset(probe->refused, 0,
		    redis_shards(probe->config) * sizeof(*probe->refused));
	s->down = !up && (s->down || fails);
	probe_find(s,
	    up	    ? FINDING_OK
	    : fails ? FINDING_FAIL
		    : FINDING_WARN,
	    "%s%s%s", event + kind_len + 1, buf_data(&text),
	    strstr(buf_data(&text), "closed the connection") != NULL ? PROXY
								     : "");
	buf_fini(&text);
}

/* The broker. */

static void
on_link(void *arg, uint32_t shard, bool up, const char *why)
{
	struct probe *probe = arg;

	probe->refused[shard] = !up;
	if (!up)
		snprintf(probe->why, sizeof(probe->why), "%s", why);
}

/* The probe sends no operation, so it receives no outcome. */
static const struct redis_handler handler = { .link = on_link };

static bool
is_waiting(const struct probe *probe)
{
	const struct probed *s;

	TAILQ_FOREACH (s, &probe->all, entry)
		if (s->answered < s->asked)
			return true;
	return false;
}

static void
run_loop(struct event_base *base)
{
	if (event_base_loop(base, EVLOOP_ONCE) != 0)
		abort();
}

/* Is everything known that waiting can show? */
static bool
is_settled(const struct probe *probe, const struct redis *redis)
{
	const struct config *config = probe->config;
	struct redis_stats stats;
	const struct probed *s;
	size_t i, known = 0, sentinels = 0;

	for (i = 0; i < redis_shards(config); i++)
		if (redis_link(redis, (uint32_t)i) == NULL &&
		    !probe->refused[i])
			return false;
	if (config->redis.mode == CONFIG_MODE_SENTINEL)
		sentinels = config->redis.nodes.n;
	for (i = 0; i < sentinels; i++)
		known += redis_sentinel(redis, i) != NULL;
	TAILQ_FOREACH (s, &probe->all, entry)
		known += s->down;
	redis_stats(redis, &stats);
	return stats.listening >= stats.up &&
	       known + stats.up >= stats.nodes + sentinels;
}

/* Asks each server that has a shard, and each Sentinel.  The loop must not run
 * meanwhile. */
static void
ask_all(struct probe *probe, struct redis *redis)
{
	const struct config *config = probe->config;
	unsigned i, unusable = 0, shards = redis_shards(config);
	char node[ADDRESS_SIZE];
	struct link *l;
	struct probed *s;

	for (i = 0; i < shards; i++) {
		l = redis_link(redis, i);
		unusable += l == NULL;
		s = probed_of(
		    probe, "redis", l != NULL ? redis_node(redis, i) : "");
		if (l == NULL || s->link != NULL)
			continue;
		s->link = l;
		s->shard = i;
		probe_server(s);
	}
	if (unusable > 0 && !probe->failed)
		probe_find(probed_of(probe, "redis", ""), FINDING_FAIL,
		    "%u of %u shards have no server that can be used: %s",
		    unusable, shards,
		    probe->why[0] != '\0' ? probe->why : "no answer yet");
	if (config->redis.mode != CONFIG_MODE_SENTINEL)
		return;
	for (i = 0; i < config->redis.nodes.n; i++) {
		l = redis_sentinel(redis, i);
		s = probed_of(probe, "sentinel",
		    address_format(&config->redis.nodes.v[i], node));
		s->link = l;
		if (l != NULL && !s->down)
			probe_sentinel(s);
	}
}

static void
look(struct probe *probe, struct event_base *base, struct redis *redis)
{
	const struct timeval wait = ms_to_timeval(WAIT_MS);

	(void)event_base_loopexit(base, &wait);
	redis_start(redis);
	while (!event_base_got_exit(base) && !is_settled(probe, redis))
		run_loop(base);
	ask_all(probe, redis);
	while (is_waiting(probe))
		run_loop(base);
}

static void
check_clocks(struct probe *probe)
{
	int64_t grace_us =
	    times_recovery_ms(probe->config->locks.lease_ms) * 1000;
	int64_t apart_us = probe->clock_max_us - probe->clock_min_us;

	if (!probe->clock_known || apart_us < grace_us / 2)
		return;
	probe_find(probed_of(probe, "clocks", ""), FINDING_WARN,
	    "are %" PRId64 " ms apart: after a failover that loses all data,"
	    " fences may not rise",
	    apart_us / 1000);
}

/* What the broker's user in Redis needs, as in lockbroker-admin(7). */
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

/* Redis reports missing rights one at a time: lists at once all that are
 * needed. */
static void
tell_rights(struct probe *probe)
{
	const struct config_redis *redis = &probe->config->redis;

	if (probe->denied)
		probe_find(probed_of(probe, "redis.user", ""), FINDING_WARN,
		    "a user for the broker gets all rights by: ACL SETUSER "
		    "%s resetkeys ~%s* resetchannels &%s* -@all " ACL_REDIS
		    "%s",
		    redis->user[0] != '\0' ? redis->user : "lockbroker",
		    redis->prefix, redis->prefix,
		    redis->mode == CONFIG_MODE_CLUSTER ? ACL_CLUSTER : "");
	if (probe->sentinel_denied)
		probe_find(probed_of(probe, "redis.sentinel_user", ""),
		    FINDING_WARN,
		    "a user for the broker gets all rights by: ACL SETUSER "
		    "%s resetchannels " ACL_SENTINEL,
		    redis->sentinel_user[0] != '\0' ? redis->sentinel_user
						    : "lockbroker");
}

static struct relay *
begin_tls(struct probe *probe, char why[RELAY_WHY_SIZE])
{
	struct relay *relay = relay_new(NULL, NULL, NULL, why);

	if (relay != NULL && redis_tls(relay, probe->config, why))
		return relay;
	relay_free(relay);
	return NULL;
}

static void
probe_servers(struct probe *probe)
{
	struct event_base *base = event_base_new();
	char why[RELAY_WHY_SIZE] = "";
	struct relay *relay = NULL;
	struct redis *redis = NULL;

	if (base == NULL)
		abort();
	probe->refused =
	    xcalloc(redis_shards(probe->config), sizeof(*probe->refused));
	if (probe->config->redis.tls)
		relay = begin_tls(probe, why);
	if (why[0] == '\0')
		redis = redis_new(base, probe->config, relay, "probe", 0,
		    &handler, probe, why, sizeof(why));
	if (redis != NULL)
		look(probe, base, redis);
	else
		probe_find(
		    probed_of(probe, "redis", ""), FINDING_FAIL, "%s", why);
	log_to(NULL, NULL);
	redis_free(redis);
	relay_free(relay);
	free(probe->refused);
	event_base_free(base);
}

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
	struct probed *s = probed_of(probe, "embedded", "");

	if (can_run(program))
		probe_find(s, FINDING_OK,
		    "the broker starts %s itself; nothing to check yet",
		    program);
	else
		probe_find(s, FINDING_FAIL,
		    "program %s does not exist: install redis-server, or set "
		    "redis.server to its path",
		    program);
	probe_find(s, FINDING_WARN, PROBE_EMBEDDED);
}

bool
probe_run(const struct config *config, FILE *out)
{
	struct probe probe = { .config = config };

	TAILQ_INIT(&probe.all);
	log_to(on_log, &probe);
	if (config->redis.mode == CONFIG_MODE_EMBEDDED)
		probe_embedded(&probe);
	else
		probe_servers(&probe);
	check_clocks(&probe);
	tell_rights(&probe);
	report(&probe, out);
	return !probe.failed;
}
