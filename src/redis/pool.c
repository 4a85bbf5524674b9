/*
 * Lanes, and what happens to calls on them.
 *
 * With redis.replicas a WAIT follows the calls of a turn on each lane.  The
 * answers of the calls are kept until its answer is there: too few replicas,
 * and the grants and renewals among them do not count.
 *
 * A WAIT blocks its connection, in vain for all its time.  Therefore only one
 * is under way on it: the next one follows when it is answered, behind all that
 * was sent meanwhile.  Where the last one was in vain, what can wait is not
 * sent before that either.
 *
 * What is sent is answered in order, so a flood of requests would make every
 * renewal wait for all of it.  Therefore only so many operations that can wait
 * are under way on a connection; the rest stands in line here.
 */
#include "config.h"

#include <assert.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/link.h"
#include "redis/listener.h"
#include "redis/now.h"
#include "redis/pool.h"
#include "redis/spells.h"

#define PROBE_MS 2000
#define POLICY_EVERY 5	 /* probes */
#define DOWN_LINES_MAX 4 /* lines of one spell in the log */
#define NO_LANE UINT32_MAX

/* Some milliseconds of Redis' time, and enough to keep it busy meanwhile. */
#define PATIENT_MAX 1024

/* A command link and what it is for. Owned by its pool. */
struct lane {
	struct pool *pool;
	uint32_t index;
	struct link *link;
	struct call_list line; /* not sent yet: they can wait */
	unsigned patient;      /* operations under way that could have waited */
	struct call_list held; /* answered, but not yet the WAIT behind them */
	bool waiting;	       /* a WAIT is under way */
	bool unconfirmed;      /* calls were sent and no WAIT behind them */

	/* Connections before, which may still have commands to run. */
	uint64_t *stale; /* owned; their ids */
	unsigned nstale;
	char stale_run_id[RUN_ID_MAX];
	uint32_t killer;	  /* the lane that was sent their CLIENT KILL */
	unsigned kills;		  /* not answered yet */
	bool loading[SCRIPT_MAX]; /* a SCRIPT LOAD is under way */
	unsigned down_lines;	  /* logged since it was up */
};

struct pool {
	struct pool_config config;
	struct pool_handler handler;
	void *arg;
	char node[CONFIG_ADDRESS_SIZE];
	uint32_t nlanes;
	struct lane *lanes;
	uint32_t nup;
	struct listener *listener;
	struct event *probe;
	unsigned probes;
	unsigned under_way; /* calls */
	bool closing;	    /* nobody is told any more */

	/* Spells, so that each is logged once. */
	int64_t down_ms;     /* since when; 0: it is not */
	unsigned down_lines; /* logged of this spell */
	char down_why[160];  /* the last of them */
	char told_why[160];  /* what the owner was told, of this spell */
	struct spells spells;
	bool short_told; /* of replicas */
	bool policy_told;
};

static void on_call(void *arg, const redisReply *reply);
static void on_load(void *arg, const redisReply *reply);
static void on_killed(void *arg, const redisReply *reply);
static void on_wait(void *arg, const redisReply *reply);
static void admit(struct pool *p);

static void
on_ignored(void *arg, const redisReply *reply)
{
	(void)arg;
	(void)reply;
}

/* ---- lanes: which link stands in, and the end of old connections ---- */

static struct lane *
any_lane(struct pool *p, uint32_t first)
{
	uint32_t i;

	for (i = 0; i < p->nlanes; i++)
		if (link_is_up(p->lanes[(first + i) % p->nlanes].link))
			return &p->lanes[(first + i) % p->nlanes];
	return NULL;
}

/* Ids start again with the server. */
static void
note_stale(struct lane *lane, const struct link *l)
{
	const char *run_id = link_info(l)->run_id;

	if (strcmp(lane->stale_run_id, run_id) != 0)
		lane->nstale = 0;
	(void)snprintf(
	    lane->stale_run_id, sizeof(lane->stale_run_id), "%s", run_id);
	lane->stale =
	    xrealloc(lane->stale, (lane->nstale + 1) * sizeof(*lane->stale));
	lane->stale[lane->nstale++] = link_client_id(l);
	lane->killer = NO_LANE;
}

/* All by one connection, in order, so that the last answer is for all. */
static void
kill_all(struct lane *lane, const struct lane *by)
{
	unsigned i;

	for (i = 0; i < lane->nstale; i++) {
		if (!link_sendf(by->link, 0, on_killed, lane,
			"CLIENT KILL ID %llu",
			(unsigned long long)lane->stale[i]))
			return;
		lane->kills++;
	}
	lane->killer = by->index;
}

/* Only where the server is still the same. */
static void
kill_stale(struct pool *p)
{
	struct lane *lane, *by;
	uint32_t i;

	for (i = 0; i < p->nlanes; i++) {
		lane = &p->lanes[i];
		by = any_lane(p, i);
		if (lane->nstale == 0 || lane->killer != NO_LANE || !by)
			continue;
		if (strcmp(lane->stale_run_id, link_info(by->link)->run_id))
			lane->nstale = 0;
		else
			kill_all(lane, by);
	}
}

static void
on_killed(void *arg, const redisReply *reply)
{
	struct lane *lane = arg;

	if (reply && reply->type == REDIS_REPLY_ERROR)
		LOG(NOTICE, "redis-kill",
		    LOG_B("error", reply->str, (size_t)reply->len));
	if (--lane->kills > 0)
		return; /* the last one counts */
	lane->killer = NO_LANE;
	if (reply)
		lane->nstale = 0;
	else if (!lane->pool->closing)
		kill_stale(lane->pool); /* somebody else must do it */
}

/* What takes the calls of a lane now; NULL: nothing does. */
static struct lane *
route(struct pool *p, uint32_t index)
{
	struct lane *lane = &p->lanes[index % p->nlanes];

	if (lane->nstale == 0)
		return any_lane(p, lane->index);
	/* Behind each CLIENT KILL, on the same connection. */
	if (lane->killer == NO_LANE || !link_is_up(p->lanes[lane->killer].link))
		return NULL;
	return &p->lanes[lane->killer];
}

/* ---- up and down ---- */

static void
log_down(struct pool *p, const char *why, const char *advice)
{
	int64_t now = now_ms();

	if (p->down_ms == 0)
		p->down_ms = now;
	if (!advice && now - p->down_ms < p->config.quiet_ms)
		return;
	if (p->down_lines >= DOWN_LINES_MAX || strcmp(why, p->down_why) == 0)
		return;
	(void)snprintf(p->down_why, sizeof(p->down_why), "%s", why);
	p->down_lines++;
	if (advice)
		LOG(WARNING, "redis-down", LOG_S("node", p->node),
		    LOG_S("why", why), LOG_S("advice", advice));
	else
		LOG(WARNING, "redis-down", LOG_S("node", p->node),
		    LOG_S("why", why));
}

/* The others do its work. */
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
	char version[40];

	(void)snprintf(version, sizeof(version), "%u.%u.%u", info->version[0],
	    info->version[1], info->version[2]);
	LOG(NOTICE, "redis-up", LOG_S("node", p->node),
	    LOG_S("version", version),
	    LOG_S("role", info->replica ? "replica" : "master"),
	    LOG_N("down_ms", p->down_ms > 0 ? now_ms() - p->down_ms : 0));
	if (info_evicts(info) && !p->policy_told) {
		LOG(WARNING, "redis-policy", LOG_S("node", p->node),
		    LOG_S("policy", info->policy),
		    LOG_S("advice",
			"harmless while maxmemory is 0; set noeviction"));
		p->policy_told = true;
	}
	p->down_ms = 0;
	p->down_lines = 0;
	p->down_why[0] = '\0';
	p->told_why[0] = '\0';
}

static void
on_up(void *arg, struct link *l)
{
	struct lane *lane = arg;
	struct pool *p = lane->pool;

	lane->down_lines = 0;
	kill_stale(p);
	if (p->nup++ > 0)
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
		note_stale(lane, l);
		kill_stale(p);
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
	(void)snprintf(p->told_why, sizeof(p->told_why), "%s", why);
}

static const struct link_handler lane_handler = { on_up, on_down, NULL };

/* ---- what calls say ---- */

/* Behind calls, on their connection; later, where one is under way. */
static void
send_wait(struct lane *lane)
{
	const struct config_redis *redis = lane->pool->config.redis;
	unsigned replicas = redis->replicas;
	int64_t wait_ms = lane->pool->config.lease_ms / 10;

	/* In vain is an answer, too: it must come before it is given up. */
	if (wait_ms > redis->reply_timeout_ms / 2)
		wait_ms = redis->reply_timeout_ms / 2;
	if (!lane->unconfirmed || lane->waiting || replicas == 0)
		return;
	lane->unconfirmed = false;
	lane->waiting = link_sendf(lane->link, 0, on_wait, lane, "WAIT %u %lld",
	    replicas, (long long)wait_ms);
}

static bool
load(struct lane *lane, enum script_id script)
{
	const char *words[] = { "SCRIPT", "LOAD",
		link_script(lane->link, script) };
	size_t lens[] = { 6, 4, strlen(words[2]) };

	if (lane->loading[script])
		return true;
	lane->loading[script] = link_send(
	    lane->link, 3, words, lens, 0, on_load, &lane->loading[script]);
	return lane->loading[script];
}

static bool
send_on(struct lane *lane, struct call *call)
{
	struct link *l = lane->link;

	if (call->asking &&
	    !link_sendf(l, call->timeout_ms, on_ignored, NULL, "ASKING"))
		return false;
	call->sent_ms = now_ms();
	if (!link_send(l, call->argc, call->argv, call->argvlen,
		call->timeout_ms, on_call, call))
		return false;
	lane->unconfirmed = true;
	return true;
}

/* The script may be gone (SCRIPT FLUSH): load it, and try once more. */
static bool
resend(struct lane *lane, struct call *call)
{
	if (call->resent > 0 || !load(lane, call->script))
		return false;
	call->resent++;
	lane->pool->config.stats->reloads++;
	if (!send_on(lane, call))
		return false;
	send_wait(lane);
	return true;
}

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct pool *p = arg;

	if (p->handler.guard)
		p->handler.guard(p->arg, report);
	p->config.owner->guard(p->config.owner_arg, shard, sent_ms, report);
}

static void
on_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	const struct pool *p = arg;

	p->config.owner->outcome(p->config.owner_arg, op, sent_ms, outcome);
}

static const struct store_handler store_handler = { on_guard, on_outcome };

static void
deliver(struct lane *lane, struct call *call)
{
	struct pool *p = lane->pool;

	p->under_way--;
	if (p->closing) {
		gather_drop(p->config.gather, call);
		return;
	}
	if (call->verdict != CALL_ANSWERED && call->verdict != CALL_REFUSED)
		p->config.stats->unknown += call->nops;
	call_deliver(p->config.gather, call, &store_handler, p);
}

static bool
is_noscript(const redisReply *reply)
{
	return reply && reply->type == REDIS_REPLY_ERROR &&
	       strncmp(reply->str, "NOSCRIPT", 8) == 0;
}

/* Does somebody else take the call, now that it was refused here? */
static bool
taken_over(struct pool *p, struct call *call, const redisReply *reply)
{
	if (!p->handler.redirected || p->closing || !reply ||
	    reply->type != REDIS_REPLY_ERROR ||
	    !p->handler.redirected(p->arg, call, reply))
		return false;
	p->under_way--;
	return true;
}

static void
on_call(void *arg, const redisReply *reply)
{
	struct call *call = arg;
	struct lane *lane = call->sender;
	enum call_verdict verdict;

	if (is_noscript(reply) && resend(lane, call))
		return;
	if (call->can_wait)
		lane->patient -= call->nops;
	admit(lane->pool);
	if (taken_over(lane->pool, call, reply))
		return;
	verdict = call_decode(call, reply, false);
	spells_note(&lane->pool->spells, lane->pool->node, call);
	if (verdict == CALL_REFUSED && lane->pool->handler.refused)
		lane->pool->handler.refused(lane->pool->arg, call->refusal);
	if (verdict == CALL_MALFORMED)
		link_cut(lane->link, "a malformed reply", NULL);
	else if (verdict == CALL_REFUSED &&
		 call->refusal->action == REFUSAL_RECONNECT)
		link_refuse(lane->link, call->error, call->refusal->text);
	if (verdict == CALL_ANSWERED && lane->pool->config.redis->replicas > 0)
		TAILQ_INSERT_TAIL(&lane->held, call, entry);
	else
		deliver(lane, call);
}

static void
on_load(void *arg, const redisReply *reply)
{
	bool *loading = arg;

	*loading = false;
	if (reply && reply->type == REDIS_REPLY_ERROR)
		LOG(WARNING, "redis-load",
		    LOG_B("error", reply->str, (size_t)reply->len));
}

/* Answers come in order: all that is held was sent before this WAIT was. */
static void
on_wait(void *arg, const redisReply *reply)
{
	struct lane *lane = arg;
	struct pool *p = lane->pool;
	long long wanted = p->config.redis->replicas, have = 0;
	struct call_list held = TAILQ_HEAD_INITIALIZER(held);
	struct call *call;

	if (reply && reply->type == REDIS_REPLY_INTEGER)
		have = reply->integer;
	if (reply && (have < wanted) != p->short_told) {
		p->short_told = have < wanted;
		if (p->short_told)
			LOG(WARNING, "redis-replicas", LOG_S("node", p->node),
			    LOG_N("replicas", have), LOG_N("wanted", wanted));
		else
			LOG(NOTICE, "redis-ok", LOG_S("node", p->node),
			    LOG_N("replicas", have), LOG_N("wanted", wanted));
	}
	TAILQ_CONCAT(&held, &lane->held, entry);
	while ((call = TAILQ_FIRST(&held))) {
		TAILQ_REMOVE(&held, call, entry);
		if (have < wanted)
			call_doubt(call);
		deliver(lane, call);
	}
	lane->waiting = false;
	admit(p);
	send_wait(lane);
}

/* ---- sending: what can wait does, so that what can't need not ---- */

static bool
start(struct lane *lane, struct call *call)
{
	struct pool *p = lane->pool;
	const char *sha = link_sha(lane->link, call->script);

	call->argv[1] = sha;
	call->argvlen[1] = strlen(sha);
	call->sender = lane;
	if (!send_on(lane, call))
		return false;
	if (call->can_wait)
		lane->patient += call->nops;
	p->config.stats->calls++;
	p->config.stats->ops += call->nops;
	return true;
}

/* It stood in line in vain. */
static void
give_back(struct pool *p, struct call *call)
{
	p->under_way--;
	(void)call_finish(
	    p->config.gather, call, NULL, true, &store_handler, p);
}

/* Is what can wait not to be sent now? */
static bool
is_full(const struct lane *lane)
{
	return lane->patient >= PATIENT_MAX ||
	       (lane->waiting && lane->pool->short_told);
}

/* Sends of the line of one lane what there is room for: is there any? */
static bool
admit_lane(struct pool *p, struct lane *lane)
{
	bool sent = false;
	struct call *call;
	struct lane *by;

	while ((call = TAILQ_FIRST(&lane->line))) {
		by = route(p, lane->index);
		if (by && is_full(by))
			break;
		TAILQ_REMOVE(&lane->line, call, entry);
		if (by && start(by, call))
			sent = true;
		else
			give_back(p, call);
	}
	return sent;
}

static void
admit(struct pool *p)
{
	bool sent = false;
	uint32_t i;

	for (i = 0; i < p->nlanes && !p->closing; i++)
		sent = admit_lane(p, &p->lanes[i]) || sent;
	if (sent)
		pool_flush(p);
}

bool
pool_send(struct pool *p, struct call *call)
{
	struct lane *lane = &p->lanes[call->lane % p->nlanes];
	struct lane *by = route(p, lane->index);

	if (!by)
		return false;
	if (call->can_wait && (is_full(by) || !TAILQ_EMPTY(&lane->line)))
		TAILQ_INSERT_TAIL(&lane->line, call, entry);
	else if (!start(by, call))
		return false;
	p->under_way++;
	return true;
}

void
pool_flush(struct pool *p)
{
	uint32_t i;

	for (i = 0; i < p->nlanes; i++) {
		send_wait(&p->lanes[i]);
		link_flush(p->lanes[i].link);
	}
}

/* ---- probes: is everybody still there? ---- */

static void
on_policy(void *arg, const redisReply *reply)
{
	struct pool *p = arg;
	struct info info = { .policy = "" };
	uint32_t i;

	if (!reply || reply->type != REDIS_REPLY_STRING)
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

	if (reply && reply->type == REDIS_REPLY_INTEGER)
		listener_published(p->listener, reply->integer > 0);
}

/* A dead connection is found before a lock needs it. */
static void
on_probe(evutil_socket_t fd, short what, void *arg)
{
	struct pool *p = arg;
	struct lane *first = any_lane(p, 0);
	char text[32];
	uint32_t i;

	(void)fd;
	(void)what;
	if (!first)
		return;
	if (listener_probe(p->listener, text, sizeof(text)))
		(void)link_sendf(first->link, 0, on_published, p,
		    "PUBLISH %s %s", gather_channel(p->config.gather), text);
	if (++p->probes % POLICY_EVERY == 0)
		(void)link_sendf(first->link, 0, on_policy, p, "INFO memory");
	for (i = 0; i < p->nlanes; i++)
		(void)link_sendf(p->lanes[i].link, 0, on_ignored, NULL, "PING");
	for (i = 0; i < p->nlanes; i++)
		link_flush(p->lanes[i].link);
}

/* ---- life ---- */

static void
link_config_init(const struct pool *p, struct link_config *c)
{
	const struct config_redis *redis = p->config.redis;

	c->base = p->config.base;
	c->resolver = p->config.resolver;
	c->address = p->config.address;
	c->user = redis->user;
	c->password = p->config.own ? "" : redis->password;
	c->database = redis->database;
	c->client_name = p->config.client_name;
	c->channel = NULL;
	c->tls = p->config.tls;
	c->plain = false;
	c->connect_timeout_ms = redis->connect_timeout_ms;
	c->reply_timeout_ms = redis->reply_timeout_ms;
	c->retry_ms_max = p->config.retry_ms_max;
}

static void
on_message(void *arg, const char *text, size_t len)
{
	const struct pool *p = arg;

	if (!p->handler.message || p->handler.message(p->arg, text, len))
		p->config.owner->message(p->config.owner_arg, text, len);
}

static void
on_listening(void *arg, bool on)
{
	const struct pool *p = arg;

	if (on) {
		p->config.stats->listening++;
		p->config.owner->resubscribed(p->config.owner_arg);
	} else {
		p->config.stats->listening--;
	}
}

static const struct listener_handler listener_handler = { on_message,
	on_listening };

struct pool *
pool_new(const struct pool_config *config, const struct pool_handler *handler,
    void *arg)
{
	struct pool *p = xcalloc(1, sizeof(*p));
	struct link_config c;
	uint32_t i;

	p->config = *config;
	p->handler = *handler;
	p->arg = arg;
	(void)config_address_format(config->address, p->node);
	p->nlanes = config->redis->connections;
	p->lanes = xcalloc(p->nlanes, sizeof(*p->lanes));
	link_config_init(p, &c);
	for (i = 0; i < p->nlanes; i++) {
		p->lanes[i].pool = p;
		p->lanes[i].index = i;
		p->lanes[i].killer = NO_LANE;
		TAILQ_INIT(&p->lanes[i].line);
		TAILQ_INIT(&p->lanes[i].held);
		p->lanes[i].link = link_new(&c, &lane_handler, &p->lanes[i]);
	}
	c.channel = gather_channel(config->gather);
	p->listener = listener_new(&c, &listener_handler, p);
	p->probe = event_new(config->base, -1, EV_PERSIST, on_probe, p);
	if (!p->probe)
		abort();
	config->stats->nodes++;
	return p;
}

void
pool_start(struct pool *p)
{
	struct timeval tv = ms_to_timeval(PROBE_MS);
	uint32_t i;

	for (i = 0; i < p->nlanes; i++)
		link_retry_now(p->lanes[i].link);
	listener_start(p->listener);
	(void)event_add(p->probe, &tv);
}

/*
 * What is still in the sockets of the old server is not waited for: kill_stale()
 * finds another run_id and lets go.  The guard there answers for it.
 */
void
pool_move(struct pool *p, const char *why)
{
	uint32_t i;

	for (i = 0; i < p->nlanes; i++)
		link_move(p->lanes[i].link, why);
	listener_move(p->listener, why);
	(void)config_address_format(p->config.address, p->node);
	p->down_lines = 0;
	memset(&p->spells, 0, sizeof(p->spells));
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

bool
pool_ask(struct pool *p, const char *command, pool_answer *done, void *arg)
{
	struct lane *lane = any_lane(p, 0);

	return lane && link_sendf(lane->link, 0, done, arg, command);
}

static void
lane_fini(struct lane *lane)
{
	struct call *call;

	link_free(lane->link);
	while ((call = TAILQ_FIRST(&lane->line))) {
		TAILQ_REMOVE(&lane->line, call, entry);
		gather_drop(lane->pool->config.gather, call);
	}
	free(lane->stale);
}

void
pool_free(struct pool *p)
{
	uint32_t i;

	if (!p)
		return;
	p->closing = true;
	p->config.stats->nodes--;
	if (p->nup > 0)
		p->config.stats->up--;
	event_free(p->probe);
	listener_free(p->listener);
	for (i = 0; i < p->nlanes; i++)
		lane_fini(&p->lanes[i]);
	free(p->lanes);
	free(p);
}
