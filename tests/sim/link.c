/*
 * The links of a broker to one server (a pool): some for calls, one for
 * messages, with the habits of the real ones (src/redis): every outcome unknown
 * after a cut, the old connection killed by another one before anything is
 * repeated, behind it (link_stale.c), scripts sent again on NOSCRIPT, a deadline
 * for every call.  Where replicas must confirm, a WAIT follows the calls of a
 * turn, and their answers are kept until its answer is there; one is under way
 * at a time, and what can wait stands in line while replicas are away, or too
 * many that can are under way (redis/pool_calls.c).
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
#define PATIENT_MAX 1024 /* as redis/pool_calls.c */

static event_fn link_on_retry;
static event_fn link_on_timer;
static event_fn channel_on_retry;
static void pool_admit(struct pool *p);
static void link_start(struct link *l);
static void leave_other_servers(struct pool *p, const struct conn *newest);

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
	if (world_ablated(b->w, ABLATE_ARRIVAL))
		sent_ms = broker_clock_ms(b);
	if (outcome->status == OUTCOME_REFUSED)
		checker_refused(
		    b->w, flight.name, outcome->text, outcome->text_len);
	if (outcome->status != OUTCOME_GRANTED &&
	    outcome->status != OUTCOME_RENEWED)
		; /* no lease */
	else if (flight.kind == OP_CLAIM || flight.kind == OP_TOKEN ||
		 flight.kind == OP_PASS || flight.kind == OP_RETAIN)
		; /* nobody vouches for it */
	else if (crowd_has(flight.name))
		crowd_lease(b, flight.name, sent_ms);
	else
		checker_lease(b->w, b, &flight, sent_ms);
	if (outcome->status == OUTCOME_TAKEN ||
	    outcome->status == OUTCOME_KEPT || flight.kind == OP_TAKE)
		checker_permits(b->w, b, flight.name[1] - '0', sent_ms);
	if (outcome->status == OUTCOME_TAKEN)
		checker_permits_taken(b->w, b, flight.name[1] - '0');
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

static struct errand *
errand_add(struct link *l, struct call *call, int64_t until_ms)
{
	struct errand *e = xcalloc(1, sizeof(*e));

	e->call = call;
	e->until_ms = until_ms;
	TAILQ_INSERT_TAIL(&l->errands, e, entry);
	return e;
}

/* A call was answered; NULL: the connection is lost. */
static void
call_answered(struct link *l, struct call *call, const redisReply *reply)
{
	struct broker *b = l->pool->broker;
	enum call_verdict verdict;

	pool_admit(l->pool);
	verdict = call_decode(call, reply, false);
	if (verdict == CALL_MALFORMED)
		world_fail(b->w, "P7", "a reply was not understood");
	if (verdict == CALL_ANSWERED && b->w->replicas > 0)
		TAILQ_INSERT_TAIL(&l->held, call, entry);
	else
		call_deliver(b->gather, call, &handler, b);
}

static void link_flush(struct link *l);

/* Answers come in order: all that is held was sent before this WAIT was. */
static void
wait_answered(struct link *l, const redisReply *reply)
{
	struct pool *p = l->pool;
	struct broker *b = p->broker;
	struct call_list held = TAILQ_HEAD_INITIALIZER(held);
	struct call *call;
	bool enough = reply != NULL && reply->type == REDIS_REPLY_INTEGER &&
		      reply->integer >= link_wanted(b->w);

	if (reply != NULL)
		p->in_vain = !enough;
	TAILQ_CONCAT(&held, &l->held, entry);
	while ((call = TAILQ_FIRST(&held)) != NULL) {
		TAILQ_REMOVE(&held, call, entry);
		if (!enough)
			call_doubt(call);
		call_deliver(b->gather, call, &handler, b);
	}
	l->waiting = false;
	pool_admit(p);
	link_flush(l);
}

static void
errand_done(struct link *l, struct errand *e, const redisReply *reply)
{
	if (e->call != NULL)
		call_answered(l, e->call, reply);
	else if (e->kill != NULL)
		link_killed(e->kill, reply);
	else
		wait_answered(l, reply);
}

static struct errand *
errand_pop(struct link *l)
{
	struct errand *e = TAILQ_FIRST(&l->errands);

	TAILQ_REMOVE(&l->errands, e, entry);
	if (e->call != NULL && e->call->can_wait)
		l->patient -= e->call->nops;
	return e;
}

/* A link for calls. */

static void
link_retry_later(struct link *l)
{
	struct world *w = l->pool->broker->w;
	int64_t wait_ms = BACKOFF_FIRST_MS
			  << (l->failures < 7 ? l->failures : 7);

	if (wait_ms > BACKOFF_LAST_MS)
		wait_ms = BACKOFF_LAST_MS;
	l->failures++;
	events_at(&w->events,
	    world_now(w) + prng_range(&w->prng, wait_ms / 2, wait_ms) * 1000,
	    link_on_retry, l, l->generation);
}

static void
link_lost(struct link *l, bool abandon)
{
	struct pool *p = l->pool;
	enum link_state state = l->state;
	struct errand *e;

	if (l->conn == NULL)
		return;
	TRACE(p->broker->w, "%s link %d lost", p->broker->name, l->index);
	if (state == LINK_UP)
		link_note_stale(l);
	conn_abandon(l->conn);
	l->conn = NULL;
	l->state = LINK_DOWN;
	l->unconfirmed = false;
	l->generation++;
	if (state == LINK_UP)
		p->nup--;
	if (abandon)
		return;
	if (state == LINK_UP)
		pool_kill_stale(p);
	if (state == LINK_UP && p->nup == 0)
		tell_link(p, false);
	while (!TAILQ_EMPTY(&l->errands)) {
		e = errand_pop(l);
		errand_done(l, e, NULL);
		free(e);
	}
	link_retry_later(l);
}

static void
link_on_retry(void *object, uint64_t tag)
{
	struct link *l = object;

	if (l->pool->broker->alive && tag == l->generation && l->conn == NULL)
		link_start(l);
}

/* The earliest deadline of what is under way; INT64_MAX: none. */
static int64_t
link_deadline_us(const struct link *l)
{
	const struct errand *e;
	int64_t least_ms = INT64_MAX;

	if (l->state == LINK_HELLO)
		return l->hello_us;
	TAILQ_FOREACH (e, &l->errands, entry)
		if (e->until_ms < least_ms)
			least_ms = e->until_ms;
	return least_ms == INT64_MAX
		   ? least_ms
		   : broker_world_us(l->pool->broker, least_ms);
}

/* One timer for the earliest of them. */
static void
link_arm(struct link *l)
{
	struct world *w = l->pool->broker->w;
	int64_t at_us = link_deadline_us(l), now_us = world_now(w);

	if (at_us == INT64_MAX ||
	    (l->armed_us > now_us && l->armed_us <= at_us))
		return;
	l->armed_us = at_us;
	events_at(&w->events, at_us, link_on_timer, l, l->generation);
}

static void
link_check(struct link *l)
{
	struct broker *b = l->pool->broker;

	if (l->conn == NULL)
		return;
	if (link_deadline_us(l) > world_now(b->w)) {
		/* It was set for what has been answered meanwhile. */
		link_arm(l);
		return;
	}
	TRACE(b->w, "%s link %d: no reply in time", b->name, l->index);
	link_lost(l, false);
	broker_wake(b);
}

void
pool_check(struct pool *p)
{
	int i;

	for (i = 0; i < p->nlinks; i++)
		link_check(&p->links[i]);
}

static void
link_on_timer(void *object, uint64_t tag)
{
	struct link *l = object;

	/* One that is stalled looks when it comes back. */
	if (l->pool->broker->alive && !broker_stalled(l->pool->broker) &&
	    tag == l->generation)
		link_check(l);
}

static void
link_start(struct link *l)
{
	struct pool *p = l->pool;
	struct world *w = p->broker->w;

	if (w->o->topology->locate != NULL)
		p->server = w->o->topology->locate(p);
	l->conn = conn_open(p, false);
	l->state = LINK_HELLO;
	l->hello_us = world_now(w) + w->reply_timeout_ms * 1000;
	l->armed_us = 0;
	conn_send(l->conn, request_new(REQUEST_HELLO, 0, 0, NULL, NULL));
	link_arm(l);
}

void
pool_start(struct pool *p)
{
	int i;

	p->nlinks = (int)p->broker->w->lanes;
	for (i = 0; i < p->nlinks; i++)
		if (p->links[i].conn == NULL)
			link_start(&p->links[i]);
	if (p->channel.conn == NULL)
		channel_on_retry(p, p->channel.generation);
}

/* Behind what was sent before on this link. */
void
link_send_kill(struct link *by, struct link *of)
{
	struct world *w = by->pool->broker->w;
	struct request *r = request_new(REQUEST_KILL, 0, 0, NULL, NULL);

	if (!world_ablated(w, ABLATE_KILL)) {
		r->nvictims = of->nstale;
		r->victims = xcalloc((size_t)of->nstale, sizeof(*r->victims));
		memcpy(r->victims, of->stale,
		    (size_t)of->nstale * sizeof(*r->victims));
	}
	conn_send(by->conn, r);
	errand_add(
	    by, NULL, broker_clock_ms(by->pool->broker) + w->reply_timeout_ms)
	    ->kill = of;
	link_arm(by);
}

static void
link_send_request(struct link *l, struct call *call, bool load)
{
	struct request *r;

	r = request_new(REQUEST_CALL, (int)call->nkeys,
	    call->argc - CALL_HEAD - (int)call->nkeys, call->argv + CALL_HEAD,
	    call->argvlen + CALL_HEAD);
	r->script = call->script;
	r->load = load;
	r->shard = call->shard;
	r->asking = call->asking;
	conn_send(l->conn, r);
	errand_add(l, call, call->sent_ms + call->timeout_ms);
	if (call->can_wait)
		l->patient += call->nops;
	l->unconfirmed = true;
	link_arm(l);
}

static void
link_take_call(struct link *l, struct call *call)
{
	call->sent_ms = broker_clock_ms(l->pool->broker);
	link_send_request(l, call, false);
}

static void
call_unsent(struct broker *b, struct call *call)
{
	call_finish(b->gather, call, NULL, true, &handler, b);
	broker_wake(b);
}

/* Is what can wait not to be sent now? */
static bool
is_full(const struct link *l)
{
	return l->patient >= PATIENT_MAX || (l->waiting && l->pool->in_vain);
}

/* Sends of the line what there is room for. */
static void
link_admit(struct link *l)
{
	struct call *call;
	struct link *by;

	while ((call = TAILQ_FIRST(&l->line)) != NULL) {
		by = pool_lane(l->pool, l->index);
		if (by != NULL && is_full(by))
			return;
		TAILQ_REMOVE(&l->line, call, entry);
		if (by != NULL)
			link_take_call(by, call);
		else
			call_unsent(l->pool->broker, call);
	}
}

static void
pool_admit(struct pool *p)
{
	int i;

	for (i = 0; i < p->nlinks; i++)
		link_admit(&p->links[i]);
	pool_flush(p);
}

void
pool_send(void *arg, struct call *call)
{
	struct broker *b = arg;
	struct pool *p = b->w->o->topology->route(b, call->shard);

	if (p == NULL)
		call_unsent(b, call);
	else
		pool_send_to(p, call);
}

void
pool_send_to(struct pool *p, struct call *call)
{
	struct link *l = &p->links[call->lane % (uint32_t)p->nlinks];
	struct link *by = pool_lane(p, l->index);

	if (by == NULL)
		call_unsent(p->broker, call);
	else if (call->can_wait && (is_full(by) || !TAILQ_EMPTY(&l->line)))
		TAILQ_INSERT_TAIL(&l->line, call, entry);
	else
		link_take_call(by, call);
}

/* In vain is an answer, too: it must come before it is given up. */
static int64_t
wait_for_us(const struct world *w)
{
	int64_t ms = w->lease_ms / 10;

	return (ms < w->reply_timeout_ms / 2 ? ms : w->reply_timeout_ms / 2) *
	       1000;
}

static void
link_flush(struct link *l)
{
	struct broker *b = l->pool->broker;
	struct world *w = b->w;
	struct request *r;

	if (!l->unconfirmed || l->waiting || w->replicas == 0)
		return;
	l->unconfirmed = false;
	l->waiting = true;
	r = request_new(REQUEST_WAIT, 0, 0, NULL, NULL);
	r->replicas = link_wanted(w);
	r->wait_us = wait_for_us(w);
	conn_send(l->conn, r);
	errand_add(l, NULL, broker_clock_ms(b) + w->reply_timeout_ms);
	link_arm(l);
}

void
pool_flush(struct pool *p)
{
	int i;

	for (i = 0; i < p->nlinks; i++)
		link_flush(&p->links[i]);
}

static void
link_greeted(struct link *l)
{
	struct pool *p = l->pool;
	bool first = p->nup++ == 0;

	l->state = LINK_UP;
	l->failures = 0;
	l->generation++;
	l->armed_us = 0;
	TRACE(p->broker->w, "%s link %d up", p->broker->name, l->index);
	leave_other_servers(p, l->conn);
	pool_kill_stale(p);
	if (first)
		tell_link(p, true);
}

static void
link_reply(struct link *l, const redisReply *reply)
{
	struct broker *b = l->pool->broker;
	struct errand *e;

	if (l->state == LINK_HELLO) {
		link_greeted(l);
		return;
	}
	assert(!TAILQ_EMPTY(&l->errands));
	e = errand_pop(l);
	if (e->call != NULL && b->w->tagged &&
	    cluster_redirected(l->pool, e->call, reply))
		pool_admit(l->pool);
	else if (e->call != NULL && reply->type == REDIS_REPLY_ERROR &&
		 strncmp(reply->str, "NOSCRIPT", 8) == 0) {
		link_send_request(l, e->call, true);
		link_flush(l);
	} else {
		errand_done(l, e, reply);
	}
	free(e);
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
	if (ch->conn->mute || !ch->ready || ch->conn->server->side != b->side)
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
		leave_other_servers(p, p->channel.conn);
		TRACE(b->w, "%s subscribed", b->name);
	}
	broker_step(b, &event);
}

/* Both. */

/*
 * A connection has come up.  Those that lead to another server are given up,
 * for an address may lead new ones elsewhere while old ones live on.
 */
static void
leave_other_servers(struct pool *p, const struct conn *newest)
{
	struct channel *ch = &p->channel;
	int i;

	if (world_ablated(p->broker->w, ABLATE_LEAVE))
		return;
	if (ch->conn != NULL && ch->ready && ch->conn->run != newest->run)
		channel_lost(p);
	for (i = 0; i < p->nlinks; i++)
		if (p->links[i].state == LINK_UP &&
		    p->links[i].conn->run != newest->run)
			link_lost(&p->links[i], false);
}

void
pool_init(struct pool *p, struct broker *b, int index)
{
	struct link *l;
	int i;

	p->broker = b;
	p->index = index;
	for (i = 0; i < LANES_MAX; i++) {
		l = &p->links[i];
		l->pool = p;
		l->index = i;
		TAILQ_INIT(&l->errands);
		TAILQ_INIT(&l->line);
		TAILQ_INIT(&l->held);
	}
}

void
pool_packet(struct conn *c, const redisReply *reply, const char *message)
{
	struct pool *p = c->pool;
	int i;

	for (i = 0; i < p->nlinks; i++)
		if (c == p->links[i].conn) {
			link_reply(&p->links[i], reply);
			return;
		}
	if (c == p->channel.conn)
		channel_packet(p, message);
}

void
pool_broken(struct conn *c)
{
	struct pool *p = c->pool;
	int i;

	for (i = 0; i < p->nlinks; i++)
		if (c == p->links[i].conn) {
			link_lost(&p->links[i], false);
			return;
		}
	if (c == p->channel.conn)
		channel_lost(p);
}

/* All links, and what they wait for. */
static void
lose_all(struct pool *p)
{
	int i;

	for (i = 0; i < p->nlinks; i++)
		link_lost(&p->links[i], false);
	channel_lost(p);
}

void
pool_move(struct pool *p, struct server *server)
{
	int i;

	lose_all(p);
	p->server = server;
	p->in_vain = false;
	for (i = 0; i < p->nlinks; i++) {
		p->links[i].failures = 0;
		p->links[i].generation++;
	}
	pool_start(p);
}

void
pool_refuse(struct pool *p)
{
	lose_all(p);
	broker_wake(p->broker);
}

static void
link_abandon(struct link *l)
{
	struct errand *e;
	struct call *call;

	link_lost(l, true);
	l->generation++;
	while (!TAILQ_EMPTY(&l->errands)) {
		e = errand_pop(l);
		if (e->call != NULL)
			call_free(e->call);
		free(e);
	}
	TAILQ_CONCAT(&l->held, &l->line, entry);
	while ((call = TAILQ_FIRST(&l->held)) != NULL) {
		TAILQ_REMOVE(&l->held, call, entry);
		call_free(call);
	}
	l->waiting = l->unconfirmed = l->more_stale = false;
	l->nstale = 0;
	l->killer = NULL;
	l->failures = 0;
}

void
pool_abandon(struct pool *p)
{
	int i;

	for (i = 0; i < p->nlinks; i++)
		link_abandon(&p->links[i]);
	if (p->channel.conn != NULL)
		conn_abandon(p->channel.conn);
	p->channel.conn = NULL;
	p->channel.ready = false;
	p->channel.generation++;
	p->in_vain = false;
}
