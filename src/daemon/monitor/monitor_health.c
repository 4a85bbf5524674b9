/*
 * /livez and /readyz, as Kubernetes asks for them.
 */
#include "config.h"

#include <stdio.h>

#include "base/now.h"
#include "daemon/bridge/broker.h"
#include "daemon/monitor/monitor_state.h"
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
		monitor_say(m, r->id, 503, "the broker cannot continue");
	else
		monitor_say(m, r->id, 200, "ok");
}

/* For this long a right counts as missing after it was missed. */
#define LACKS_MS (INT64_C(5) * 60 * 1000)

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
	struct buf body, grants;
	char why[64];
	bool stopping = m->broker->stopping;

	(void)name;
	core_gauges(m->broker->core, now_ms(), &gauges);
	redis_stats(m->broker->redis, &redis);
	buf_init(&body);
	if (query_find(r->query, "verbose", &unused)) {
		snprintf(why, sizeof(why), "%u of %u servers reachable",
		    redis.up, redis.nodes);
		add_check(&body, !stopping && !m->broker->draining, "running",
		    stopping ? "the broker is stopping"
			     : "the broker is drained");
		add_check(&body,
		    gauges.ready ||
			(redis.nodes > 0 && redis.up == redis.nodes),
		    "redis", why);
		buf_init(&grants);
		broker_why(&gauges, &grants);
		buf_addc(&grants, '\0');
		add_check(&body, gauges.ready, "grants", buf_data(&grants));
		buf_fini(&grants);
		if (redis.lacked_ms > 0 &&
		    now_ms() - redis.lacked_ms < LACKS_MS)
			buf_addf(
			    &body, "[!]rights: %s; see the log\n", redis.lacks);
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
