/*
 * Where the values of the statistics come from.  The core counts its own work;
 * other parts are asked for their values.
 */
#include "config.h"

#include <string.h>

#include "base/log.h"
#include "base/now.h"
#include "daemon/bridge/bridge.h"
#include "daemon/monitor/monitor.h"
#include "daemon/monitor/statistics.h"
#include "daemon/replace/leavers.h"
#include "daemon/replace/upgrade.h"
#include "daemon/users/identity.h"
#include "http/server.h"
#include "relay/relay.h"

/* Everything that statistics are taken from. */
struct sources {
	const struct broker *broker;
	const struct core_stats *core;
	struct core_gauges gauges;
	struct redis_stats redis;
	const struct identity_stats *identity;
	const struct front_stats *front;
	struct relay_stats tls;
	struct http_stats http;
	struct leavers_sum leaving;
	uint64_t leaving_ms;
	uint64_t clients, uptime_s, http_auth_failed;
};

static const struct statistic statistics[] = {
#define STATISTIC(name, type, help, value) { name, STATISTIC_##type, help },
#include "daemon/monitor/statistics.def"
#undef STATISTIC
#define STAT(id, name, type, help) { name, STATISTIC_##type, help },
	CORE_STATS(STAT)
#undef STAT
};

static void
ask(struct broker *b, struct sources *s)
{
	int64_t at_ms = now_ms();

	s->broker = b;
	s->core = core_stats(b->core);
	core_gauges(b->core, at_ms, &s->gauges);
	redis_stats(b->redis, &s->redis);
	s->identity = identity_stats(b->identity);
	memset(&s->tls, 0, sizeof(s->tls));
	if (b->relay != NULL)
		relay_stats(b->relay, &s->tls);
	monitor_stats(b->monitor, &s->http, &s->http_auth_failed);
	s->front = front_stats(b->front);
	s->leaving = leavers_sum(upgrade_leavers(b->upgrade));
	s->leaving_ms = s->leaving.processes > 0
			    ? (uint64_t)(at_ms - s->leaving.since_ms)
			    : 0;
	s->clients = front_count(b->front);
	s->uptime_s = (uint64_t)(at_ms - b->start_ms) / 1000;
}

static void
evaluate(const struct sources *s, uint64_t *out)
{
#define STATISTIC(name, type, help, value) *out++ = value;
#include "daemon/monitor/statistics.def"
#undef STATISTIC
#define STAT(id, name, type, help) *out++ = s->core->id;
	CORE_STATS(STAT)
#undef STAT
}

void
statistics_each(struct broker *b,
    void (*fn)(void *arg, const struct statistic *s, uint64_t value), void *arg)
{
	uint64_t values[sizeof(statistics) / sizeof(statistics[0])];
	struct sources sources;
	size_t i;

	ask(b, &sources);
	evaluate(&sources, values);
	for (i = 0; i < sizeof(values) / sizeof(values[0]); i++)
		if (values[i] != STATISTIC_NONE)
			fn(arg, &statistics[i], values[i]);
}
