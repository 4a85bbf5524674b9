/*
 * /status.json: what the broker knows, for programs and for the page.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/json.h"
#include "base/now.h"
#include "base/text.h"
#include "config/config.h"
#include "core/parts/observe/measure.h"
#include "daemon/bridge/broker.h"
#include "daemon/monitor/monitor_state.h"
#include "daemon/monitor/statistics.h"

#define ROWS 100 /* of the queue of a name, and of its past */

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

/* Names don't stay warm there. */
static void
add_plain(struct json *j, const struct core_plain *plain)
{
	json_open(j, "plain", '{');
	add_string(j, "name", plain->name);
	add_number(j, "since", plain->since_s);
	add_number(j, "until", plain->until_s);
	json_shut(j, '}');
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
		if (nodes[i].plain.name != NULL)
			add_plain(j, &nodes[i].plain);
		json_shut(j, '}');
	}
	json_shut(j, ']');
}

/* Classes. */

/* The minutes of the last hour in which something happened: how long ago, and
 * what. */
static void
add_hour(struct json *j, const struct measure *m, size_t class, int64_t at_ms)
{
	uint32_t counts[MEASURE_BUCKETS] = { 0 };
	const struct measure_minute *minute;
	int64_t median_ms, slow_ms;
	unsigned ago, i;

	json_open(j, "hour", '[');
	for (ago = 0; ago < MEASURE_MINUTES; ago++) {
		minute = measure_minute(m, class, ago, at_ms);
		if (minute == NULL)
			continue;
		json_open(j, NULL, '{');
		add_number(j, "ago", ago);
		add_number(j, "granted", minute->granted);
		add_number(j, "timeout", minute->timeout);
		add_number(j, "lost", minute->lost);
		add_number(j, "wait_max_ms", (uint64_t)minute->wait_max_ms);
		json_shut(j, '}');
		for (i = 0; i < MEASURE_BUCKETS; i++)
			counts[i] += minute->waits[i];
	}
	json_shut(j, ']');
	median_ms = measure_percentile_ms(&measure_wait_scale, counts, 50);
	slow_ms = measure_percentile_ms(&measure_wait_scale, counts, 99);
	if (median_ms >= 0)
		add_number(j, "wait_p50_ms", (uint64_t)median_ms);
	if (slow_ms >= 0)
		add_number(j, "wait_p99_ms", (uint64_t)slow_ms);
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
		add_hour(j, m, i, at_ms);
		json_shut(j, '}');
	}
	json_shut(j, ']');
}

/* Losses. */

static void
write_who(char *out, size_t size, const struct measure_hold *h)
{
	const char *label = h->label != NULL ? h->label : "";
	const char *peer = h->peer != NULL ? h->peer : "";

	if (label[0] != '\0' && peer[0] != '\0')
		snprintf(out, size, "%s (%s)", label, peer);
	else if (label[0] != '\0' || peer[0] != '\0')
		snprintf(out, size, "%s%s", label, peer);
	else
		snprintf(
		    out, size, "session %llu", (unsigned long long)h->session);
}

static void
add_loss(struct json *j, const struct measure_hold *h, int64_t at_ms)
{
	char who[192];

	write_who(who, sizeof(who), h);
	json_open(j, NULL, '{');
	json_str(j, "name", h->name, h->name_len);
	if (h->permits > 0)
		add_number(j, "permits", h->permits);
	add_string(j, "reason", h->end);
	if (h->by != NULL)
		add_string(j, "by", h->by);
	add_string(j, "holder", who);
	add_number(j, "held_ms", (uint64_t)(h->ended_ms - h->granted_ms));
	add_number(j, "ago_ms", (uint64_t)(at_ms - h->ended_ms));
	json_shut(j, '}');
}

/* The latest comes first. */
static void
add_losses(struct json *j, const struct monitor *m, const char *user)
{
	const struct measure *measure = core_measure(m->broker->core);
	const void *place = NULL;
	struct measure_hold h;
	int64_t at_ms = now_ms();

	json_open(j, "losses", '[');
	while (measure_losses(measure, &place, &h))
		if (monitor_shows(m, user, (struct span){ h.name, h.name_len }))
			add_loss(j, &h, at_ms);
	json_shut(j, ']');
}

/* Brokers. */

static void
add_broker(void *arg, const struct core_row *row)
{
	monitor_add_row(arg, (struct span){ "", 0 },
	    (struct span){ row->name, row->name_len }, row->fields,
	    row->nfields, row->text);
}

/* While Redis does not answer, these are the brokers as it last reported them,
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

/* The name that the request asks for. */

static void
add_row(void *arg, const struct core_row *row)
{
	monitor_add_row(arg, (struct span){ row->word, strlen(row->word) },
	    (struct span){ "", 0 }, row->fields, row->nfields, row->text);
}

/* Nothing happens between the parts, so no list begins again. */
static void
add_list(struct json *j, struct core *core, const char *key, struct listing *g)
{
	json_open(j, key, '[');
	while (core_listing_part(core, g, now_ms(), add_row, j))
		;
	json_shut(j, ']');
}

/* Semaphores, latches and barriers: who has permits, and who waits. */
static void
add_kinds(struct json *j, struct core *core, const struct question *q)
{
	struct listing *g;
	enum kind kind;

	for (kind = KIND_SYNC; kind < KIND_MAX; kind++) {
		g = core_line_begin(core, kind, q->name, q->name_len, ROWS);
		add_list(j, core, kind_words[kind], g);
		core_listing_end(g);
	}
}

/* All of this process. */
static void
add_lists(struct json *j, struct core *core, const struct question *q)
{
	struct listing *g = core_queue_begin(core, q->name, q->name_len, ROWS);

	add_list(j, core, "queue", g);
	add_number(j, "waiters", core_listing_waiters(core, g));
	core_listing_end(g);
	g = core_history_begin(core, q->name, q->name_len, ROWS);
	add_list(j, core, "history", g);
	core_listing_end(g);
	add_kinds(j, core, q);
}

static void
add_asked(struct json *j, struct monitor *m, const struct question *q)
{
	const struct span name = { q->name, q->name_len };
	const char *fault = text_name_why(name, NAME_MAX_BYTES);

	if (fault == NULL && !monitor_shows(m, q->user, name))
		fault = "you are not allowed to view this name";
	json_open(j, "asked", '{');
	json_str(j, "name", q->name, q->name_len);
	if (fault != NULL) {
		add_string(j, "fault", fault);
	} else {
		json_raw(j, "lock", buf_data(&q->lock), buf_len(&q->lock));
		add_string(j, "class",
		    measure_class_of(
			core_measure(m->broker->core), q->name, q->name_len));
		add_lists(j, m->broker->core, q);
	}
	json_shut(j, '}');
}

/* All. */

/* The holds that a drain waits for, and for how long at most. */
static void
add_drain(struct json *j, struct broker *b)
{
	int64_t left_ms = broker_leave_left_ms(b);

	add_number(j, "drain_holds", broker_counts(b).holds);
	add_number(j, "drain_ms", (uint64_t)(now_ms() - b->leaving_ms));
	if (left_ms > 0)
		add_number(j, "drain_left_ms", (uint64_t)left_ms);
}

static void
add_self(struct json *j, const struct monitor *m)
{
	const struct config *config = m->broker->config;
	struct core_gauges gauges;

	core_gauges(m->broker->core, now_ms(), &gauges);
	add_string(j, "broker", config->broker.name);
	if (config->broker.address[0] != '\0')
		add_string(j, "address", config->broker.address);
	add_string(j, "version", PACKAGE_VERSION);
	add_number(j, "time", (uint64_t)time(NULL));
	add_number(j, "uptime_ms", (uint64_t)(now_ms() - m->broker->start_ms));
	add_number(j, "lease_ms", (uint64_t)config->locks.lease_ms);
	add_bool(j, "ready", gauges.ready);
	add_bool(j, "stopping", m->broker->stopping);
	add_bool(j, "draining", m->broker->draining);
	if (m->broker->draining)
		add_drain(j, m->broker);
	if (gauges.ready)
		return;
	add_string(j, "why", gauges.why);
	add_number(j, "paused_ms", (uint64_t)gauges.paused_ms);
	add_number(j, "paused_since",
	    (uint64_t)(broker_paused_since_ms(&gauges) / 1000));
	add_number(j, "ready_in_ms", (uint64_t)gauges.grace_ms);
}

static void
add_names(struct json *j, const struct monitor *m)
{
	const struct buf *names = &m->names.rows.text;

	add_number(j, "names_total", m->names.total);
	buf_addc(&j->text, ',');
	buf_add(&j->text, buf_data(names) + 1, buf_len(names) - 1);
}

void
monitor_status(struct monitor *m, const struct question *q)
{
	struct json j;

	json_begin(&j);
	add_self(&j, m);
	add_redis(&j, m);
	add_classes(&j, core_measure(m->broker->core));
	add_losses(&j, m, q->user);
	add_brokers(&j, m->broker->core);
	if (q->name_len > 0)
		add_asked(&j, m, q);
	json_open(&j, "statistics", '{');
	statistics_each(m->broker, add_statistic, &j);
	json_shut(&j, '}');
	add_names(&j, m);
	json_close(&j);
	monitor_send(m, q->request, 200, "application/json", &j.text);
}
