/*
 * The links of a broker to one server (a pool): one for calls, one for
 * messages, with the habits of the real ones (src/redis): every outcome unknown
 * after a cut, the old connection killed before anything is repeated, scripts
 * sent again on NOSCRIPT, a deadline for every call.  Where replicas must
 * confirm, a WAIT follows the calls of a turn, and their answers are kept until
 * its answer is there; one is under way at a time, and what can wait stands in
 * line while replicas are away (redis/pool_calls.c).
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "world.h"

#define BACKOFF_FIRST_MS 10
#define BACKOFF_LAST_MS 1000

static event_fn link_on_retry;
static event_fn link_on_timer;
static event_fn channel_on_retry;
static void link_admit(struct pool *p);

/* What a reply says is told to the core. */

static void
told_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct broker *b = arg;
	struct core_event event = { .kind = CORE_GUARD };
	void (*refused)(struct pool *, bool) = b->w->o->topology->refused;

	event.u.guard.shard = shard;
	event.u.guard.sent_ms =
	    world_ablated(b->w, ABLATE_ARRIVAL) ? broker_clock_ms(b) : sent_ms;
	event.u.guard.report = report;
	if (refused != NULL)
		refused(b->w->o->topology->route(b, shard),
		    report->state == GUARD_READONLY);
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

static void
told_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	static const char *const words[] = {
#define OUTCOME(id, word) word,
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
	if (world_ablated(b->w, ABLATE_ARRIVAL))
		sent_ms = broker_clock_ms(b);
	if (outcome->status == OUTCOME_REFUSED)
		checker_refused(
		    b->w, flight.name, outcome->text, outcome->text_len);
	if (outcome->status == OUTCOME_GRANTED ||
	    outcome->status == OUTCOME_RENEWED)
		checker_lease(b->w, b, &flight, sent_ms);
	if (outcome->status == OUTCOME_TAKEN ||
	    outcome->status == OUTCOME_KEPT || flight.kind == OP_TAKE)
		checker_permits(b->w, b, sent_ms);
	event.u.outcome.op = op;
	event.u.outcome.sent_ms = sent_ms;
	event.u.outcome.outcome = outcome;
	broker_step(b, &event);
}

static const struct store_handler handler = { told_guard, told_outcome };

/* The replicas that WAIT waits for. */
static int
link_wanted(const struct world *w)
{
	return (int)w->replicas - world_ablated(w, ABLATE_WAIT);
}

/* All shards whose calls this pool takes. */
static void
tell_link(struct pool *p, bool up)
{
	struct broker *b = p->broker;
	struct core_event event = { .kind = CORE_LINK };
	uint32_t shard;

	if (b->w->o->topology->link != NULL)
		b->w->o->topology->link(p, up);
	for (shard = 0; shard < b->w->shards; shard++) {
		if (b->w->o->topology->route(b, shard) != p)
			continue;
		event.u.link.shard = shard;
		event.u.link.up = up;
		broker_step(b, &event);
	}
}

/* What a connection will be answered. */

static void
errand_add(struct pool *p, struct call *call, int64_t until_ms)
{
	struct errand *e = xcalloc(1, sizeof(*e));

	e->call = call;
	e->until_ms = until_ms;
	TAILQ_INSERT_TAIL(&p->link.errands, e, entry);
}

static struct call *
errand_pop(struct link *l)
{
	struct errand *e = TAILQ_FIRST(&l->errands);
	struct call *call = e->call;

	TAILQ_REMOVE(&l->errands, e, entry);
	free(e);
	return call;
}

/* A call was answered; NULL: the connection is lost. */
static void
call_answered(struct pool *p, struct call *call, const redisReply *reply)
{
	struct broker *b = p->broker;
	enum call_verdict verdict = call_decode(call, reply, false);

	if (verdict == CALL_MALFORMED)
		world_fail(b->w, "P7", "a reply was not understood");
	if (verdict == CALL_ANSWERED && b->w->replicas > 0)
		TAILQ_INSERT_TAIL(&p->link.held, call, entry);
	else
		call_deliver(b->gather, call, &handler, b);
}

/* Answers come in order: all that is held was sent before this WAIT was. */
static void
wait_answered(struct pool *p, const redisReply *reply)
{
	struct broker *b = p->broker;
	struct link *l = &p->link;
	struct call_list held = TAILQ_HEAD_INITIALIZER(held);
	struct call *call;
	bool enough = reply != NULL && reply->type == REDIS_REPLY_INTEGER &&
		      reply->integer >= link_wanted(b->w);

	if (reply != NULL)
		l->in_vain = !enough;
	TAILQ_CONCAT(&held, &l->held, entry);
	while ((call = TAILQ_FIRST(&held)) != NULL) {
		TAILQ_REMOVE(&held, call, entry);
		if (!enough)
			call_doubt(call);
		call_deliver(b->gather, call, &handler, b);
	}
	l->waiting = false;
	link_admit(p);
	pool_flush(p);
}

/* The link for calls. */

static void
link_lost(struct pool *p, bool abandon)
{
	struct broker *b = p->broker;
	struct link *l = &p->link;
	enum link_state state = l->state;
	struct call *call;
	int64_t wait_ms;

	if (l->conn == NULL)
		return;
	TRACE(b->w, "%s link lost", b->name);
	if (l->conn->run != 0 && l->nvictims < VICTIMS_MAX)
		l->victims[l->nvictims++] =
		    (struct victim){ l->conn->id, l->conn->run };
	conn_abandon(l->conn);
	l->conn = NULL;
	l->state = LINK_DOWN;
	l->unconfirmed = false;
	l->generation++;
	if (abandon)
		return;
	if (state == LINK_UP)
		tell_link(p, false);
	while (!TAILQ_EMPTY(&l->errands)) {
		call = errand_pop(l);
		if (call != NULL)
			call_answered(p, call, NULL);
		else
			wait_answered(p, NULL);
	}
	wait_ms = BACKOFF_FIRST_MS << (l->failures < 7 ? l->failures : 7);
	if (wait_ms > BACKOFF_LAST_MS)
		wait_ms = BACKOFF_LAST_MS;
	l->failures++;
	events_at(&b->w->events,
	    world_now(b->w) +
		prng_range(&b->w->prng, wait_ms / 2, wait_ms) * 1000,
	    link_on_retry, p, l->generation);
}

static void
link_on_retry(void *object, uint64_t tag)
{
	struct pool *p = object;

	if (p->broker->alive && tag == p->link.generation &&
	    p->link.conn == NULL)
		pool_start(p);
}

/* The earliest deadline of what is under way; INT64_MAX: none. */
static int64_t
link_deadline_us(const struct pool *p)
{
	const struct link *l = &p->link;
	const struct errand *e;
	int64_t least_ms = INT64_MAX;

	if (l->state == LINK_HELLO)
		return l->hello_us;
	TAILQ_FOREACH (e, &l->errands, entry)
		if (e->until_ms < least_ms)
			least_ms = e->until_ms;
	return least_ms == INT64_MAX ? least_ms
				     : broker_world_us(p->broker, least_ms);
}

/* One timer for the earliest of them. */
static void
link_arm(struct pool *p)
{
	int64_t at_us = link_deadline_us(p), now_us = world_now(p->broker->w);

	if (at_us == INT64_MAX ||
	    (p->link.armed_us > now_us && p->link.armed_us <= at_us))
		return;
	p->link.armed_us = at_us;
	events_at(
	    &p->broker->w->events, at_us, link_on_timer, p, p->link.generation);
}

void
pool_check(struct pool *p)
{
	struct broker *b = p->broker;

	if (p->link.conn == NULL)
		return;
	if (link_deadline_us(p) > world_now(b->w)) {
		/* It was set for what has been answered meanwhile. */
		link_arm(p);
		return;
	}
	TRACE(b->w, "%s link: no reply in time", b->name);
	link_lost(p, false);
	broker_wake(b);
}

static void
link_on_timer(void *object, uint64_t tag)
{
	struct pool *p = object;

	/* One that is stalled looks when it comes back. */
	if (p->broker->alive && !broker_stalled(p->broker) &&
	    tag == p->link.generation)
		pool_check(p);
}

void
pool_start(struct pool *p)
{
	struct world *w = p->broker->w;
	struct link *l = &p->link;
	struct request *r = request_new(REQUEST_HELLO, 0, 0, NULL, NULL);

	if (w->o->topology->locate != NULL)
		p->server = w->o->topology->locate(p);
	if (!world_ablated(w, ABLATE_KILL)) {
		memcpy(r->victims, l->victims, sizeof(r->victims));
		r->nvictims = l->nvictims;
	}
	l->conn = conn_open(p, false);
	l->state = LINK_HELLO;
	l->hello_us = world_now(w) + w->reply_timeout_ms * 1000;
	l->armed_us = 0;
	conn_send(l->conn, r);
	link_arm(p);
	if (p->channel.conn == NULL)
		channel_on_retry(p, p->channel.generation);
}

static void
link_send_request(struct pool *p, struct call *call, bool load)
{
	struct request *r;

	r = request_new(REQUEST_CALL, (int)call->nkeys,
	    call->argc - CALL_HEAD - (int)call->nkeys, call->argv + CALL_HEAD,
	    call->argvlen + CALL_HEAD);
	r->script = call->script;
	r->load = load;
	r->shard = call->shard;
	r->asking = call->asking;
	conn_send(p->link.conn, r);
	errand_add(p, call, call->sent_ms + call->timeout_ms);
	p->link.unconfirmed = true;
	link_arm(p);
}

static void
link_start(struct pool *p, struct call *call)
{
	call->sent_ms = broker_clock_ms(p->broker);
	link_send_request(p, call, false);
}

static void
call_unsent(struct broker *b, struct call *call)
{
	call_finish(b->gather, call, NULL, true, &handler, b);
	broker_wake(b);
}

/* The answer of a WAIT ends the line. */
static void
link_admit(struct pool *p)
{
	struct call_list line = TAILQ_HEAD_INITIALIZER(line);
	struct call *call;

	TAILQ_CONCAT(&line, &p->link.line, entry);
	while ((call = TAILQ_FIRST(&line)) != NULL) {
		TAILQ_REMOVE(&line, call, entry);
		if (p->link.state == LINK_UP)
			link_start(p, call);
		else
			call_unsent(p->broker, call);
	}
}

void
pool_send(void *arg, struct call *call)
{
	struct broker *b = arg;
	struct pool *p = b->w->o->topology->route(b, call->shard);

	if (p == NULL || p->link.state != LINK_UP)
		call_unsent(b, call);
	else
		pool_send_to(p, call);
}

void
pool_send_to(struct pool *p, struct call *call)
{
	struct link *l = &p->link;

	if (call->can_wait && l->waiting && l->in_vain)
		TAILQ_INSERT_TAIL(&l->line, call, entry);
	else
		link_start(p, call);
}

void
pool_flush(struct pool *p)
{
	struct world *w = p->broker->w;
	struct request *r;

	if (!p->link.unconfirmed || p->link.waiting || w->replicas == 0)
		return;
	p->link.unconfirmed = false;
	p->link.waiting = true;
	r = request_new(REQUEST_WAIT, 0, 0, NULL, NULL);
	r->replicas = link_wanted(w);
	r->wait_us = w->lease_ms / 10 * 1000;
	conn_send(p->link.conn, r);
	errand_add(p, NULL, broker_clock_ms(p->broker) + w->reply_timeout_ms);
	link_arm(p);
}

static void
link_reply(struct pool *p, const redisReply *reply)
{
	struct broker *b = p->broker;
	struct link *l = &p->link;
	struct call *call;

	if (l->state == LINK_HELLO) {
		l->state = LINK_UP;
		l->failures = 0;
		l->nvictims = 0;
		l->generation++;
		l->armed_us = 0;
		TRACE(b->w, "%s link up", b->name);
		tell_link(p, true);
		return;
	}
	assert(!TAILQ_EMPTY(&l->errands));
	call = errand_pop(l);
	if (call == NULL) {
		wait_answered(p, reply);
	} else if (b->w->tagged && cluster_redirected(p, call, reply)) {
		return;
	} else if (reply->type == REDIS_REPLY_ERROR &&
		   strncmp(reply->str, "NOSCRIPT", 8) == 0) {
		link_send_request(p, call, true);
		pool_flush(p);
	} else {
		call_answered(p, call, reply);
	}
}

/* The channel for messages. */

static void
channel_lost(struct pool *p)
{
	struct broker *b = p->broker;
	struct channel *ch = &p->channel;

	if (ch->conn == NULL)
		return;
	TRACE(b->w, "%s channel lost", b->name);
	conn_abandon(ch->conn);
	ch->conn = NULL;
	ch->ready = false;
	ch->generation++;
	events_at(&b->w->events,
	    world_now(b->w) + prng_range(&b->w->prng, 5000, 500000),
	    channel_on_retry, p, ch->generation);
}

static void
channel_on_timer(void *object, uint64_t tag)
{
	struct pool *p = object;
	struct broker *b = p->broker;
	struct channel *ch = &p->channel;

	if (!b->alive || tag != ch->generation || ch->conn == NULL)
		return;
	/* The real one is asked for a PONG now and then. */
	if (ch->conn->mute || !ch->ready || p->server->side != b->side)
		channel_lost(p);
	else
		events_at(&b->w->events,
		    world_now(b->w) + b->w->reply_timeout_ms * 1000,
		    channel_on_timer, p, ch->generation);
}

static void
channel_on_retry(void *object, uint64_t tag)
{
	struct pool *p = object;
	struct broker *b = p->broker;
	struct channel *ch = &p->channel;
	const char *name;
	size_t len;

	if (!b->alive || tag != ch->generation || ch->conn != NULL)
		return;
	name = gather_channel(b->gather);
	len = strlen(name);
	ch->conn = conn_open(p, true);
	conn_send(ch->conn, request_new(REQUEST_SUBSCRIBE, 1, 0, &name, &len));
	events_at(&b->w->events,
	    world_now(b->w) + b->w->reply_timeout_ms * 1000, channel_on_timer,
	    p, ch->generation);
}

static void
channel_packet(struct pool *p, const char *message)
{
	struct broker *b = p->broker;
	struct core_event event = { .kind = CORE_RESUBSCRIBED };

	if (message != NULL) {
		TRACE(b->w, "%s message '%s'", b->name, message);
		event.kind = CORE_MESSAGE;
		event.u.message.text = message;
		event.u.message.len = strlen(message);
	} else {
		p->channel.ready = true;
		TRACE(b->w, "%s subscribed", b->name);
	}
	broker_step(b, &event);
}

/* Both. */

void
pool_init(struct pool *p, struct broker *b, int index)
{
	p->broker = b;
	p->index = index;
	TAILQ_INIT(&p->link.errands);
	TAILQ_INIT(&p->link.line);
	TAILQ_INIT(&p->link.held);
}

void
pool_packet(struct conn *c, const redisReply *reply, const char *message)
{
	if (c == c->pool->link.conn)
		link_reply(c->pool, reply);
	else if (c == c->pool->channel.conn)
		channel_packet(c->pool, message);
}

void
pool_broken(struct conn *c)
{
	if (c == c->pool->link.conn)
		link_lost(c->pool, false);
	else if (c == c->pool->channel.conn)
		channel_lost(c->pool);
}

void
pool_move(struct pool *p, struct server *server)
{
	link_lost(p, false);
	channel_lost(p);
	p->server = server;
	p->link.failures = 0;
	p->link.in_vain = false;
	p->link.generation++;
	pool_start(p);
}

void
pool_refuse(struct pool *p)
{
	link_lost(p, false);
	channel_lost(p);
	broker_wake(p->broker);
}

void
pool_abandon(struct pool *p)
{
	struct call *call;

	link_lost(p, true);
	p->link.generation++;
	if (p->channel.conn != NULL)
		conn_abandon(p->channel.conn);
	p->channel.conn = NULL;
	p->channel.ready = false;
	p->channel.generation++;
	while (!TAILQ_EMPTY(&p->link.errands))
		call_free(errand_pop(&p->link));
	TAILQ_CONCAT(&p->link.held, &p->link.line, entry);
	while ((call = TAILQ_FIRST(&p->link.held)) != NULL) {
		TAILQ_REMOVE(&p->link.held, call, entry);
		call_free(call);
	}
	p->link.waiting = p->link.unconfirmed = p->link.in_vain = false;
	p->link.nvictims = 0;
	p->link.failures = 0;
}
