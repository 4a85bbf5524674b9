/*
 * The store of a broker: src/redis as it ships, over the simulated network
 * (net.h), and how its reports get to the broker.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "redis/redis.h"

#include "world.h"

/*
 * lockbroker-guarantees(7): the first reply after a pause shows that the clock has stood
 * still, unless the reply was on its way for long.  Acting on it takes a
 * moment.
 */
static void
become_aware(
    struct broker *b, int64_t sent_ms, const struct guard_report *report)
{
	const struct world *w = b->w;

	if (b->aware_us == INT64_MAX && report->state == GUARD_BLESSED &&
	    sent_ms > b->still_ms &&
	    broker_clock_ms(b) - sent_ms < w->pad_ms / 10)
		b->aware_us = world_now(w) + w->pad_ms * 1000 / 3;
}

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct broker *b = arg;
	struct core_event event = { .kind = CORE_GUARD };
	struct guard_report same = *report;

	become_aware(b, sent_ms, report);
	/* Ablated: as if the server's clock had stood still together with its
	 * own. */
	if (world_ablated(b->w, ABLATE_GAIN)) {
		same.server_ms -= b->stood_ms;
		report = &same;
	}

	event.u.guard.shard = shard;
	event.u.guard.sent_ms =
	    world_ablated(b->w, ABLATE_ARRIVAL) ? broker_clock_ms(b) : sent_ms;
	event.u.guard.report = report;
	broker_step(b, &event);
}

static int
flight_find(const struct broker *b, uint64_t id)
{
	int i;

	for (i = 0; i < b->nflights; i++)
		if (b->flights[i].id == id)
			return i;
	world_fail(b->w, "P7", "outcome of an operation that was not asked");
	return -1;
}

/* Tells the checker if somebody may now rely on something. */
static void
check_outcome(struct broker *b, const struct flight *flight, int64_t sent_ms,
    const struct outcome *outcome)
{
	if (broker_tries(flight->name))
		return;
	if (outcome->status == OUTCOME_REFUSED)
		checker_refused(
		    b->w, flight->name, outcome->text, outcome->text_len);
	if (outcome->status != OUTCOME_GRANTED &&
	    outcome->status != OUTCOME_RENEWED)
		; /* no lease */
	else if (flight->kind == OP_CLAIM || flight->kind == OP_TOKEN ||
		 flight->kind == OP_PASS || flight->kind == OP_RETAIN)
		; /* nobody vouches for it */
	else if (crowd_has(flight->name))
		crowd_lease(b, flight->name, sent_ms);
	else
		checker_lease(b->w, b, flight, sent_ms);
	if (outcome->status == OUTCOME_TAKEN ||
	    outcome->status == OUTCOME_KEPT || flight->kind == OP_TAKE)
		checker_permits(b->w, b, flight->name[1] - '0', sent_ms);
	if (outcome->status == OUTCOME_TAKEN)
		checker_permits_taken(b->w, b, flight->name[1] - '0');
}

static void
on_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	static const char *const words[] = {
#define OUTCOME(id, word, ...) word,
		OUTCOMES(OUTCOME)
#undef OUTCOME
	};
	struct broker *b = arg;
	struct core_event event = { .kind = CORE_OUTCOME };
	int at = flight_find(b, op);
	struct flight flight;

	if (at < 0)
		return;
	flight = b->flights[at];
	b->flights[at] = b->flights[--b->nflights];
	TRACE(b->w, "%s outcome %llu %s %s fence=%llu%s", b->name,
	    (unsigned long long)op, flight.name, words[outcome->status],
	    (unsigned long long)outcome->fence,
	    outcome->waiting ? " waiting" : "");
	pollers_outcome(b, op, sent_ms);
	if (world_ablated(b->w, ABLATE_ARRIVAL) ||
	    world_ablated(b->w, ABLATE_LATE))
		sent_ms = broker_clock_ms(b);
	check_outcome(b, &flight, sent_ms, outcome);
	event.u.outcome.op = op;
	event.u.outcome.sent_ms = sent_ms;
	event.u.outcome.outcome = outcome;
	broker_step(b, &event);
}

/* A cluster has more buckets than clients have names. */
static void
on_link(void *arg, uint32_t shard, bool up, const char *why)
{
	struct broker *b = arg;
	struct core_event event = { .kind = CORE_LINK };

	if (shard >= b->w->shards)
		return;
	TRACE(b->w, "%s: shard %u is %s: %s", b->name, shard,
	    up ? "up" : "down", why);
	event.u.link.shard = shard;
	event.u.link.up = up;
	event.u.link.why = why;
	broker_step(b, &event);
}

static void
on_message(void *arg, const char *text, size_t len, const char *history)
{
	struct broker *b = arg;
	struct core_event event = { .kind = CORE_MESSAGE };

	TRACE(b->w, "%s message '%.*s'", b->name, (int)len, text);
	event.u.message.text = text;
	event.u.message.len = len;
	event.u.message.history = history;
	broker_step(b, &event);
}

static void
on_resubscribed(void *arg)
{
	struct broker *b = arg;
	struct core_event event = { .kind = CORE_RESUBSCRIBED };

	TRACE(b->w, "%s subscribed", b->name);
	broker_step(b, &event);
}

static void
on_fatal(void *arg, const char *why)
{
	struct broker *b = arg;

	world_fail(b->w, "P7", "%s ends: %s", b->name, why);
}

static const struct redis_handler handler = { on_guard, on_outcome, on_link,
	on_message, on_resubscribed, on_fatal };

void
broker_add_node(struct broker *b, char *host, int port)
{
	struct config_nodes *nodes = &b->config.redis.nodes;

	b->nodes[nodes->n].host = host;
	b->nodes[nodes->n].port = (uint16_t)port;
	nodes->v = b->nodes;
	nodes->n++;
}

void
broker_open_store(struct broker *b)
{
	static char nothing[] = "", prefix[] = WORLD_PREFIX, master[] = "sim",
		    address[] = "host:5625";
	struct world *w = b->w;
	struct config_redis *redis = &b->config.redis;
	char why[160];

	memset(&b->config, 0, sizeof(b->config));
	b->config.broker.address = b->instance % 2 == 0 ? address : nothing;
	b->config.locks.lease_ms = w->lease_ms;
	redis->mode = w->o->topology->mode;
	redis->server = redis->user = redis->password = nothing;
	redis->sentinel_user = redis->sentinel_password = nothing;
	redis->master = master;
	redis->prefix = prefix;
	redis->connections = w->lanes;
	redis->connect_timeout_ms = redis->reply_timeout_ms =
	    w->reply_timeout_ms;
	redis->replicas = w->replicas;
	w->o->topology->begin(b);
	b->redis = redis_new(&b->net.base, &b->config, NULL, b->name,
	    b->instance, &handler, b, why, sizeof(why));
	if (b->redis == NULL)
		world_fail(w, "P7", "%s can't begin: %s", b->name, why);
	else
		redis_start(b->redis);
	/* The broker asks too few servers; the guard has the right number. */
	if (redis->replicas > 0)
		redis->replicas -= world_ablated(w, ABLATE_WAIT);
}
