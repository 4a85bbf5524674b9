/*
 * /livez and /readyz, as Kubernetes asks for them, and /status.json.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "auth/users.h"
#include "base/json.h"
#include "base/now.h"
#include "config/config.h"
#include "core/measure/measure.h"
#include "daemon/broker.h"
#include "daemon/monitor_state.h"
#include "daemon/statistics.h"
#include "http/path.h"

/*
 * /livez fails only if a restart of the broker would help: never because Redis
 * is away.  A loop that stands still does not answer at all.
 */
void
monitor_livez(struct monitor *m, const struct http_request *r, struct span name)
{
	(void)name;
	if (broker_failed(m->broker))
		monitor_say(m, r->id, 503, "the broker can't go on");
	else
		monitor_say(m, r->id, 200, "ok");
}

static void
add_check(struct buf *out, bool ok, const char *check, const char *why)
{
	if (ok)
		buf_addf(out, "[+]%s ok\n", check);
	else
		buf_addf(out, "[-]%s failed: %s\n", check, why);
}

void
monitor_readyz(
    struct monitor *m, const struct http_request *r, struct span name)
{
	struct core_gauges gauges;
	struct redis_stats redis;
	struct span unused;
	struct buf body;
	char why[64];
	bool stopping = broker_stopping(m->broker);

	(void)name;
	core_gauges(m->broker->core, now_ms(), &gauges);
	redis_stats(m->broker->redis, &redis);
	buf_init(&body);
	if (query_find(r->query, "verbose", &unused)) {
		snprintf(why, sizeof(why), "%u of %u servers can be reached",
		    redis.up, redis.nodes);
		add_check(
		    &body, !stopping, "running", "the broker is stopping");
		add_check(&body,
		    gauges.ready ||
			(redis.nodes > 0 && redis.up == redis.nodes),
		    "redis", why);
		add_check(&body, gauges.ready, "grants", gauges.why);
		buf_addf(&body, "readyz check %s\n",
		    gauges.ready ? "passed" : "failed");
	} else {
		if (gauges.ready)
			buf_adds(&body, "ok");
		else
			broker_why(&gauges, &body);
		buf_addc(&body, '\n');
	}
	monitor_send(m, r->id, gauges.ready ? 200 : 503, NULL, &body);
}

static void
add_bool(struct json *j, const char *key, bool value)
{
	json_raw(j, key, value ? "true" : "false", value ? 4 : 5);
}

static void
add_number(struct json *j, const char *key, uint64_t value)
{
	json_key(j, key, strlen(key), "");
	buf_add_u64(&j->text, value);
}

static void
add_string(struct json *j, const char *key, const char *value)
{
	json_str(j, key, value, strlen(value));
}

static void
add_statistic(void *arg, const struct statistic *s, uint64_t value)
{
	add_number(arg, s->name, value);
}

static void
add_redis(struct json *j, struct monitor *m)
{
	struct monitor_node nodes[MONITOR_NODES];
	size_t i, n = monitor_nodes(m, nodes);

	json_open(j, "redis", '[');
	for (i = 0; i < n; i++) {
		json_open(j, NULL, '{');
		add_string(j, "node", nodes[i].address);
		add_bool(j, "up", nodes[i].up);
		add_bool(j, "ready", nodes[i].ready == nodes[i].shards);
		add_number(j, "guards", nodes[i].shards);
		add_number(j, "guards_ready", nodes[i].ready);
		if (nodes[i].why[0] != '\0')
			add_string(j, "why", nodes[i].why);
		json_shut(j, '}');
	}
	json_shut(j, ']');
}

static void
add_classes(struct json *j, const struct measure *m)
{
	int64_t at_ms = now_ms();
	size_t i;

	json_open(j, "classes", '[');
	for (i = 0; i < measure_classes(m); i++) {
		struct measure_class c = measure_class(m, i, at_ms);

		json_open(j, NULL, '{');
		add_string(j, "class", c.name);
		add_number(j, "held", c.held);
		add_number(j, "waiters", c.waiters);
		if (c.oldest_ms >= 0)
			add_number(j, "oldest_ms", (uint64_t)c.oldest_ms);
		json_shut(j, '}');
	}
	json_shut(j, ']');
}

/* The latest comes first, as on the page. */
#define LOSSES 20

static void
add_losses(struct json *j, const struct monitor *m, const char *user)
{
	struct page_hold holds[LOSSES];
	size_t i, n = monitor_holds(m, (struct span){ "", 0 }, holds, LOSSES);

	json_open(j, "losses", '[');
	for (i = 0; i < n; i++) {
		if (!monitor_shows(m, user, holds[i].name))
			continue;
		json_open(j, NULL, '{');
		json_str(j, "name", holds[i].name.p, holds[i].name.n);
		if (holds[i].permits > 0)
			add_number(j, "permits", holds[i].permits);
		add_string(j, "reason", holds[i].end);
		if (holds[i].by != NULL)
			add_string(j, "by", holds[i].by);
		add_string(j, "holder", holds[i].who);
		add_number(j, "held_ms", (uint64_t)holds[i].held_ms);
		add_number(j, "ago_ms", (uint64_t)holds[i].ago_ms);
		json_shut(j, '}');
	}
	json_shut(j, ']');
}

static void
add_broker(void *arg, const struct core_row *row)
{
	struct json *j = arg;
	const struct field *f;

	json_open(j, NULL, '{');
	json_str(j, "name", row->name, row->name_len);
	for (f = row->fields; f < row->fields + row->nfields; f++)
		if (f->id == FIELD_MISSING)
			add_bool(j, "missing", true);
		else if (f->id == FIELD_SELF)
			add_bool(j, "self", true);
		else
			monitor_add_field(j, f, row->text);
	json_shut(j, '}');
}

/* While Redis does not answer, these are the brokers as it told of them last,
 * and the time since then says so. */
static void
add_brokers(struct json *j, struct core *core)
{
	int64_t told_ms = core_brokers_told_ms(core), at_ms = now_ms();
	struct listing *g = core_brokers_begin(core);

	json_open(j, "brokers", '[');
	while (core_listing_part(core, g, at_ms, add_broker, j))
		;
	core_listing_end(g);
	json_shut(j, ']');
	if (told_ms > 0)
		add_number(j, "brokers_ago_ms",
		    at_ms > told_ms ? (uint64_t)(at_ms - told_ms) : 0);
}

void
monitor_status(struct monitor *m, const struct question *q)
{
	const struct config *config = m->broker->config;
	struct core_gauges gauges;
	struct json j;

	core_gauges(m->broker->core, now_ms(), &gauges);
	json_begin(&j);
	add_string(&j, "broker", config->broker.name);
	if (config->broker.address[0] != '\0')
		add_string(&j, "address", config->broker.address);
	add_string(&j, "version", PACKAGE_VERSION);
	add_bool(&j, "ready", gauges.ready);
	add_bool(&j, "stopping", broker_stopping(m->broker));
	if (!gauges.ready) {
		add_string(&j, "why", gauges.why);
		add_number(&j, "paused_ms", (uint64_t)gauges.paused_ms);
		add_number(&j, "ready_in_ms", (uint64_t)gauges.grace_ms);
	}
	add_redis(&j, m);
	add_classes(&j, core_measure(m->broker->core));
	add_losses(&j, m, q->user);
	add_brokers(&j, m->broker->core);
	json_open(&j, "statistics", '{');
	statistics_each(m->broker, add_statistic, &j);
	json_shut(&j, '}');
	json_close(&j);
	monitor_send(m, q->request, 200, "application/json", &j.text);
}
