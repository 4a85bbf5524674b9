/*
 * The life of a pool: its links, up and down, and probes of those that are up.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/pool_state.h"
#include "redis/topology.h"

#define PROBE_MS 2000
#define POLICY_EVERY 3	 /* probes: once a minute, if it has nothing */
#define QUIET_TIMES 10	 /* one in this many, if the broker has nothing */
#define DOWN_LINES_MAX 4 /* lines in the log until it is up again */
#define STEADY_MS 10000	 /* sooner down again: the same problem continues */
#define FLAPS_MAX 3	 /* and is then logged now and then only */

/* The log repeats what stays down, for readers who came later. */
#define REMIND_MS (INT64_C(5) * 60 * 1000)

void
pool_ignore(void *arg, const redisReply *reply)
{
	(void)arg;
	(void)reply;
}

const char *
pool_node(const struct pool *p)
{
	return p->node;
}

/* Up and down. */

static void
log_down(struct pool *p, const char *why, const char *advice)
{
	int64_t now = io_now_ms(p->config.io);

	if (p->down_ms == 0) {
		p->flaps = now - p->up_ms < STEADY_MS ? p->flaps + 1 : 0;
		p->down_ms = now;
	}
	if (p->flaps > FLAPS_MAX && advice == NULL)
		advice = "each connection is lost soon after it is made: see "
			 "the log of Redis, for example for "
			 "client-output-buffer-limit";
	if (advice == NULL && now - p->down_ms < p->config.quiet_ms)
		return;
	if (now - p->down_told_ms < p->config.remind_ms &&
	    (p->down_lines >= DOWN_LINES_MAX || strcmp(why, p->down_why) == 0))
		return;
	snprintf(p->down_why, sizeof(p->down_why), "%s", why);
	p->down_lines++;
	p->down_told_ms = now;
	LOG(WARNING, "redis-down", LOG_S("node", p->node), LOG_S("why", why),
	    LOG_N("down_ms", now - p->down_ms), LOG_IF("advice", advice));
}

/* Logs that a lane is down; the others do its work. */
static void
log_lane_down(struct lane *lane, const char *why)
{
	if (lane->down_lines >= DOWN_LINES_MAX)
		return;
	lane->down_lines++;
	LOG(INFO, "redis-link-down", LOG_S("node", lane->pool->node),
	    LOG_N("lane", lane->index), LOG_S("why", why));
}

static void
log_up(struct pool *p, const struct info *info)
{
	char version[INFO_VERSION_SIZE];
	int64_t now = io_now_ms(p->config.io);

	if (p->flaps <= FLAPS_MAX)
		LOG(NOTICE, "redis-up", LOG_S("node", p->node),
		    LOG_S("version", info_version(info, version)),
		    LOG_S("role", info->replica ? "replica" : "master"),
		    LOG_N("down_ms", p->down_ms > 0 ? now - p->down_ms : 0));
	if (info->no_password)
		LOG(INFO, "redis-no-password", LOG_S("node", p->node),
		    LOG_S("advice",
			"redis.password is set, but Redis needs none"));
	if (info_evicts(info) && !p->policy_told) {
		LOG(WARNING, "redis-policy", LOG_S("node", p->node),
		    LOG_S("policy", info->policy),
		    LOG_S("advice",
			"harmless while maxmemory is 0; set noeviction"));
		p->policy_told = true;
	}
	p->up_ms = now;
	p->down_ms = 0;
	p->told_why[0] = '\0';
	if (p->flaps > FLAPS_MAX)
		return;
	p->down_lines = 0;
	p->down_told_ms = 0;
	p->down_why[0] = '\0';
}

/* Do two links lead to different servers?  No, if one reports no run_id. */
static bool
is_elsewhere(const struct link *l, const struct link *other)
{
	const char *here = link_info(l)->run_id;
	const char *there = link_info(other)->run_id;

	return l != other && link_is_up(other) && *here && *there &&
	       strcmp(here, there) != 0;
}

/*
 * Cuts the links that lead to another server than `l`, which has just come up.
 * A load balancer or a name may have led it elsewhere, and a broker that used
 * both servers would hold some of its names on a server that no other broker
 * looks at.  The newest link counts, because the old ones may be left over from
 * a server that was restarted.
 *
 * Nobody waits for commands still in sockets to the old server:
 * pool_kill_stale() finds another run_id and lets go.  The guard of the new
 * server answers for that.
 */
static void
leave_other_servers(struct pool *p, const struct link *l)
{
	static const char why[] =
	    "a new connection leads to a different server";
	struct link *ear = subscriber_link(p->subscriber);
	bool left = is_elsewhere(l, ear);
	uint32_t i;

	if (left)
		link_cut(ear, why, NULL);
	for (i = 0; i < p->nlanes; i++) {
		if (!is_elsewhere(l, p->lanes[i].link))
			continue;
		link_cut(p->lanes[i].link, why, NULL);
		left = true;
	}
	if (left)
		LOG(WARNING, "redis-two-servers", LOG_S("node", p->node),
		    LOG_S("why", why),
		    LOG_S("advice",
			"unless Redis has just restarted, make redis.nodes "
			"lead to one server, or use mode sentinel"));
}

static void
on_up(void *arg, struct link *l)
{
	struct lane *lane = arg;
	struct pool *p = lane->pool;
	bool first = p->nup++ == 0;

	lane->down_lines = 0;
	leave_other_servers(p, l);
	pool_kill_stale(p);
	if (!first)
		return;
	log_up(p, link_info(l));
	p->config.stats->up++;
	p->handler.up(p->arg);
}

static void
on_down(
    void *arg, struct link *l, bool was_up, const char *why, const char *advice)
{
	struct lane *lane = arg;
	struct pool *p = lane->pool;

	if (was_up) {
		assert(p->nup > 0);
		p->nup--;
		p->config.stats->reconnects++;
		pool_note_stale(lane, l);
		pool_kill_stale(p);
	}
	if (p->nup > 0) {
		log_lane_down(lane, why);
		return;
	}
	log_down(p, why, advice);
	if (was_up) {
		p->config.stats->up--;
		p->handler.down(p->arg, why);
	} else if (p->handler.failed && strcmp(why, p->told_why) != 0) {
		p->handler.failed(p->arg, why);
	}
	snprintf(p->told_why, sizeof(p->told_why), "%s", why);
}

static const struct link_handler lane_handler = { on_up, on_down, NULL };

/* Probes: are all still there? */

static void
on_policy(void *arg, const redisReply *reply)
{
	struct pool *p = arg;
	struct info info = { .policy = "" };
	uint32_t i;

	if (reply == NULL || reply->type != REDIS_REPLY_STRING)
		return;
	info_read(&info, reply->str, (size_t)reply->len);
	if (!info_evicts(&info) || info.maxmemory == 0)
		return;
	/* The greeting of the next connection says why it is refused. */
	for (i = 0; i < p->nlanes; i++)
		link_cut(p->lanes[i].link, "Redis may evict locks", NULL);
}

static void
on_published(void *arg, const redisReply *reply)
{
	struct pool *p = arg;

	if (reply != NULL && reply->type == REDIS_REPLY_INTEGER)
		subscriber_published(p->subscriber, reply->integer > 0);
}

/*
 * Probes find a dead connection before a lock needs it.  A broker that has
 * nothing needs probes less, and TCP checks its connections, too; so it probes
 * seldom, and a thousand such brokers are no load.
 */
static void
on_probe(void *arg)
{
	struct pool *p = arg;
	struct lane *first = pool_any_lane(p, 0);
	char text[32];
	uint32_t i;

	timer_in(p->probe, PROBE_MS);
	if (first != NULL && p->flaps > FLAPS_MAX &&
	    io_now_ms(p->config.io) - p->up_ms >= STEADY_MS) {
		p->flaps = 0;
		log_up(p, link_info(first->link));
	}
	if (first == NULL || (p->quiet && ++p->skipped < QUIET_TIMES))
		return;
	p->skipped = 0;
	if (subscriber_probe(p->subscriber, text, sizeof(text)))
		(void)link_sendf(first->link, 0, on_published, p,
		    "PUBLISH %s %s", gather_channel(p->config.gather), text);
	if (++p->probes % POLICY_EVERY == 0)
		(void)link_sendf(first->link, 0, on_policy, p, "INFO memory");
	for (i = 0; i < p->nlanes; i++)
		(void)link_sendf(
		    p->lanes[i].link, 0, pool_ignore, NULL, "PING");
	for (i = 0; i < p->nlanes; i++)
		link_flush(p->lanes[i].link);
}

/* Life. */

struct pool_config
pool_config_of(const struct topology_env *env, const struct address *address,
    int64_t retry_ms_max)
{
	return (struct pool_config){
		.io = env->io,
		.gather = env->gather,
		.redis = &env->config->redis,
		.address = address,
		.client_name = env->client_name,
		.lease_ms = env->config->locks.lease_ms,
		.retry_ms_max = retry_ms_max,
		.remind_ms = REMIND_MS,
		.stats = env->stats,
		.owner = env->handler,
		.owner_arg = env->arg,
	};
}

static struct link_config
link_config_of(const struct pool_config *c)
{
	const struct config_redis *redis = c->redis;

	return (struct link_config){
		.io = c->io,
		.address = c->address,
		.user = redis->user,
		.password = c->own ? "" : redis->password,
		.password_file = c->own ? "" : redis->password_file,
		.cluster = redis->mode == CONFIG_MODE_CLUSTER,
		.database = redis->database,
		.client_name = c->client_name,
		.connect_timeout_ms = redis->connect_timeout_ms,
		.reply_timeout_ms = redis->reply_timeout_ms,
		.retry_ms_max = c->retry_ms_max,
	};
}

/*
 * The history of the server on which we listen, if that server ran our last
 * call: so it was a master then, and messages under this history are published
 * there.
 */
static const char *
history_heard(const struct pool *p)
{
	const char *run_id = link_info(subscriber_link(p->subscriber))->run_id;

	return strcmp(run_id, p->history_run_id) == 0 ? p->history : "";
}

static void
on_message(void *arg, const char *text, size_t len)
{
	const struct pool *p = arg;

	if (p->config.owner->message != NULL &&
	    (!p->handler.message || p->handler.message(p->arg, text, len)))
		p->config.owner->message(
		    p->config.owner_arg, text, len, history_heard(p));
}

static void
on_listening(void *arg, bool on)
{
	struct pool *p = arg;

	assert(on || p->config.stats->listening > 0);
	if (on) {
		leave_other_servers(p, subscriber_link(p->subscriber));
		p->config.stats->listening++;
		if (p->config.owner->resubscribed != NULL)
			p->config.owner->resubscribed(p->config.owner_arg);
	} else {
		p->config.stats->listening--;
	}
}

static const struct subscriber_handler subscriber_handler = { on_message,
	on_listening };

struct pool *
pool_new(const struct pool_config *config, const struct pool_handler *handler,
    void *arg)
{
	struct pool *p = xcalloc(1, sizeof(*p));
	struct link_config c = link_config_of(config);
	uint32_t i;

	p->config = *config;
	p->handler = *handler;
	p->arg = arg;
	(void)address_format(config->address, p->node);
	p->nlanes = config->redis->connections;
	p->lanes = xcalloc(p->nlanes, sizeof(*p->lanes));
	for (i = 0; i < p->nlanes; i++) {
		p->lanes[i].pool = p;
		p->lanes[i].index = i;
		p->lanes[i].killer = NO_LANE;
		TAILQ_INIT(&p->lanes[i].line);
		TAILQ_INIT(&p->lanes[i].held);
		p->lanes[i].link = link_new(&c, &lane_handler, &p->lanes[i]);
	}
	c.channel = gather_channel(config->gather);
	p->subscriber = subscriber_new(&c, p->node, &subscriber_handler, p);
	p->probe = timer_new(config->io, on_probe, p);
	config->stats->nodes++;
	return p;
}

void
pool_start(struct pool *p)
{
	uint32_t i;

	for (i = 0; i < p->nlanes; i++)
		link_start(p->lanes[i].link);
	link_start(subscriber_link(p->subscriber));
	timer_in(p->probe, PROBE_MS);
}

/* For commands still in sockets see leave_other_servers(). */
void
pool_move(struct pool *p, const char *why)
{
	uint32_t i;

	for (i = 0; i < p->nlanes; i++)
		link_move(p->lanes[i].link, why);
	link_move(subscriber_link(p->subscriber), why);
	(void)address_format(p->config.address, p->node);
	p->down_lines = 0;
	memset(&p->refusals, 0, sizeof(p->refusals));
	p->short_told = p->policy_told = false;
}

bool
pool_is_up(const struct pool *p)
{
	return p->nup > 0;
}

bool
pool_is_idle(const struct pool *p)
{
	return p->under_way == 0;
}

struct link *
pool_link(struct pool *p)
{
	struct lane *lane = pool_any_lane(p, 0);

	return lane != NULL ? lane->link : NULL;
}

static void
lane_fini(struct lane *lane)
{
	struct call *call;

	link_free(lane->link);
	while ((call = TAILQ_FIRST(&lane->line)) != NULL) {
		TAILQ_REMOVE(&lane->line, call, entry);
		gather_drop(lane->pool->config.gather, call);
	}
	free(lane->stale);
}

void
pool_free(struct pool *p)
{
	uint32_t i;

	if (p == NULL)
		return;
	assert(p->config.stats->nodes > 0 && !p->closing);
	p->closing = true;
	p->config.stats->nodes--;
	if (p->nup > 0)
		p->config.stats->up--;
	timer_free(p->probe);
	subscriber_free(p->subscriber);
	for (i = 0; i < p->nlanes; i++)
		lane_fini(&p->lanes[i]);
	free(p->lanes);
	free(p);
}
