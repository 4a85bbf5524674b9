/*
 * Makes the parts of a broker from the configuration, hands on a new one, and
 * frees all.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "base/handed.h"
#include "base/hash.h"
#include "base/log.h"
#include "base/now.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/bridge/alarm.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/broker.h"
#include "daemon/bridge/tls.h"
#include "daemon/monitor/monitor.h"
#include "daemon/replace/takeover.h"
#include "daemon/replace/upgrade.h"
#include "daemon/resp/resp.h"
#include "daemon/users/identity.h"
#include "resp/scripts.h"

/* The start. */

/*
 * How many fences come with a lease: a name can pass on here that often while
 * Redis is away.  The scripts give fewer where fences would overtake the time
 * in microseconds, from which they begin again after Redis has lost everything.
 */
#define FENCES 8

/* All brokers of a Redis ask it for their list once in that time. */
#define FLEET_MS 1000

static void
core_settings(struct core_config *out, const struct config *config, bool first)
{
	memset(out, 0, sizeof(*out));
	out->broker = config->broker.name;
	out->address = config->broker.address;
	out->shards = redis_shards(config);
	out->lanes = config->redis.connections;
	/* A server that looks new to a process that takes over may have lost
	 * its data: the process before it has holds there. */
	out->trust_new = config->redis.trust_new && first;
	out->failover = config->redis.mode == CONFIG_MODE_SENTINEL ||
			config->redis.mode == CONFIG_MODE_CLUSTER;
	out->quorum = config->redis.mode == CONFIG_MODE_QUORUM;
	out->lease_ms = config->locks.lease_ms;
	out->replicas = config->redis.replicas;
	out->fences = FENCES;
	out->reply_timeout_ms = config->redis.reply_timeout_ms;
	out->fleet_ms = FLEET_MS;
	out->audit = config->log.audit;
	out->debug = config->log.level == LOG_LEVEL_DEBUG;
	out->locks = config->locks.limits;
	/* There is no other broker that would have to be let in. */
	if (out->locks.warm_ms == WARM_AUTO &&
	    config->redis.mode == CONFIG_MODE_EMBEDDED)
		out->locks.warm_ms = config->locks.lease_ms / WARM_AUTO_PART;
	out->limits = config->limits;
	out->metrics = &config->metrics;
}

static void
draw(void *out, size_t n)
{
	if (getrandom(out, n, 0) != (ssize_t)n)
		abort();
}

/* Returns texts in one allocation; the caller frees it. */
static const char **
node_texts(const struct config_nodes *nodes)
{
	const char **v =
	    xcalloc(1, nodes->n * (sizeof(char *) + ADDRESS_SIZE) + 1);
	char *text = (char *)(v + nodes->n);
	size_t i;

	for (i = 0; i < nodes->n; i++, text += ADDRESS_SIZE)
		v[i] = address_format(&nodes->v[i], text);
	return v;
}

static void
init_resp(struct broker *b, const struct resp_scripts *more)
{
	b->scripts = scripts_new();
	scripts_configure(b->scripts, more);
	b->latches = resp_latches_new();
	LIST_INIT(&b->spring_listeners);
	LIST_INIT(&b->looks);
	TAILQ_INIT(&b->wanted);
	resp_audiences_init(b);
}

/* Parts that are made before all others. */
static void
free_first(struct broker *b)
{
	seeker_free(b->seeker);
	upgrade_free(b->upgrade);
	effects_fini(&b->effects);
	resp_audiences_fini(b);
	resp_latches_free(b->latches);
	scripts_free(b->scripts);
	free(b);
}

static void
hand_over(struct broker *b, struct handed_list *out)
{
	front_hand_over(b->front, out);
	monitor_hand_over(b->monitor, out);
	redis_hand_over(b->redis, out);
}

/* A process that cannot go on leaving is drained to its end. */
static void
drain_no_more(struct broker *b)
{
	struct buf why;

	buf_init(&why);
	(void)!broker_drain_no_more(b, &why);
	buf_fini(&why);
}

static const struct upgrade_hooks upgrade_hooks = {
	.hold_back = broker_hold_back,
	.take_over = broker_take_over,
	.leave = broker_leave,
	.return_no_more = broker_return_no_more,
	.come_back = broker_return,
	.drain = broker_drain,
	.drain_no_more = drain_no_more,
	.inherit = broker_inherit,
	.hand_over = hand_over,
	.keep = broker_keep,
	.close_places = broker_close_places,
	.seek = seeker_begin,
};

/* An embedded server of the new process would be another Redis, so it is not
 * even made. */
static bool
fits(const struct broker *b)
{
	return b->config->redis.mode != CONFIG_MODE_EMBEDDED ||
	       !upgrade_pending(b->upgrade) || handed_has(HANDED_REDIS);
}

static struct redis *
make_redis(struct broker *b, uint64_t instance)
{
	const struct config *config = b->config;
	char why[256] = SUCCESSION_OTHER_REDIS;
	struct redis *redis = NULL;

	if (fits(b))
		redis = redis_new(b->base, config,
		    config->redis.tls ? b->relay : NULL, config->broker.name,
		    instance, &bridge_redis_handler, b, why, sizeof(why));
	if (redis == NULL)
		LOG(ERROR, "redis-impossible", LOG_S("why", why));
	return redis;
}

struct broker *
broker_new(struct event_base *base, const struct config *config,
    struct systemd *notify)
{
	struct broker *b = xcalloc(1, sizeof(*b));
	struct core_config core_config;
	const char **nodes = NULL;
	uint64_t random[4];

	draw(random, sizeof(random));
	hash_seed(random[0], random[1]);
	draw(random, sizeof(random));
	b->base = base;
	b->config = config;
	b->start_ms = now_ms();
	b->hooks = &bridge_hooks;
	b->upgrade = upgrade_new(b, notify, &upgrade_hooks);
	b->seeker = seeker_new(b);
	effects_init(&b->effects);
	buf_init(&b->rows);
	init_resp(b, &config->resp.scripts);
	TAILQ_INIT(&b->jobs);
	core_settings(&core_config, config, !upgrade_pending(b->upgrade));
	core_config.instance = b->instance = random[0];
	core_config.seed[0] = random[1];
	core_config.seed[1] = random[2];
	if (core_config.quorum)
		nodes = node_texts(&config->redis.nodes);
	core_config.nodes = nodes;
	b->core = core_new(&core_config);
	free(nodes);
	b->front = front_new(base, &config->limits, &bridge_front_handler, b);
	b->identity = identity_new(b);
	identity_load(b->identity, config->users, NULL);
	b->monitor = monitor_new(b);
	b->alarm = alarm_new(base, bridge_on_alarm, b);
	if (b->alarm == NULL) {
		LOG(ERROR, "loop-failed", LOG_S("why", strerror(errno)));
		broker_free(b);
		return NULL;
	}
	if (!tls_begin(b)) {
		broker_free(b);
		return NULL;
	}
	b->redis = make_redis(b, random[0]);
	if (b->redis != NULL)
		return b;
	broker_free(b);
	return NULL;
}

static void
free_client(void *arg, struct conn *c)
{
	struct client *client = conn_data(c);

	if (client != NULL)
		resp_free(arg, client->resp);
	free(client);
}

void
broker_free(struct broker *b)
{
	if (b == NULL)
		return;
	/* Processes that this one has replaced may come back to its paths. */
	if (!b->stopping && !upgrade_stopped(b->upgrade))
		front_share_paths(b->front, true);
	lists_fini(b);
	monitor_free(b->monitor);
	identity_free(b->identity);
	front_each(b->front, free_client, b);
	front_free(b->front);
	redis_free(b->redis);
	relay_free(b->relay);
	core_free(b->core);
	alarm_free(b->alarm);
	buf_fini(&b->rows);
	free_first(b);
}

/* Afterwards. */

bool
broker_reload(struct broker *b, const struct config *config, struct users *was)
{
	core_reconfigure(b->core, &config->locks.limits, &config->limits,
	    &config->metrics, config->log.audit,
	    config->log.level == LOG_LEVEL_DEBUG);
	scripts_configure(b->scripts, &config->resp.scripts);
	front_set_limits(b->front, &config->limits);
	identity_load(b->identity, config->users, was);
	return tls_reload(b);
}
