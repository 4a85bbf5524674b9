/*
 * The server and its connections.  Requests on one connection arrive in the
 * order in which they were sent; between connections the order is open, and
 * after a freeze it is drawn.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "answer.h"
#include "server_parts.h"
#include "world.h"

#define APART_US 200000 /* between the clocks of servers, at first */
#define RUNS_MAX 1000000

static event_fn conn_on_request;
static event_fn conn_on_packet;
static event_fn conn_on_break;

int64_t
server_clock_us(const struct server *s)
{
	int64_t now_us = world_now(s->w);

	return s->zero_us + now_us + now_us / 1000 * s->rate_ppm / 1000;
}

void
server_new_replid(struct server *s)
{
	static const char digits[] = "0123456789abcdef";
	int i;

	for (i = 0; i < REDIS_REPLID_LEN; i++)
		s->db.replid[i] = digits[prng_below(&s->w->prng, 16)];
	s->db.replid[REDIS_REPLID_LEN] = '\0';
}

/* Messages. */

static void
packet_push(struct conn *c, redisReply *reply, const char *message, size_t len,
    int64_t extra_us)
{
	struct packet *p = xcalloc(1, sizeof(*p));
	int64_t at_us = world_now(c->w) + world_delay_us(c->w) + extra_us;

	p->reply = reply;
	if (message != NULL)
		p->message = xstrndup(message, len);
	if (at_us < c->packet_us)
		at_us = c->packet_us;
	c->packet_us = at_us;
	STAILQ_INSERT_TAIL(&c->packets, p, entry);
	events_at(&c->w->events, at_us, conn_on_packet, c, 0);
}

void
conn_message(struct conn *c, struct text message, int64_t extra_us)
{
	if (c->server_open && !c->mute)
		packet_push(c, NULL, message.p, message.len, extra_us);
}

/* Requests. */

static void
request_free(struct request *r)
{
	free(r->words);
	free(r);
}

struct request *
request_new(enum request_kind kind, int nkeys, int nargs,
    const char *const *words, const size_t *lens)
{
	struct request *r = xcalloc(1, sizeof(*r));
	size_t n = (size_t)(nkeys + nargs), bytes = 0, i;
	char *p;

	r->kind = kind;
	r->nkeys = nkeys;
	r->nargs = nargs;
	for (i = 0; i < n; i++)
		bytes += lens[i] + 1;
	r->words = xmalloc(n * sizeof(*r->words) + bytes + 1);
	p = (char *)(r->words + n);
	for (i = 0; i < n; i++) {
		memcpy(p, words[i], lens[i]);
		p[lens[i]] = '\0';
		r->words[i] = (struct text){ p, lens[i] };
		p += lens[i] + 1;
	}
	return r;
}

void
conn_drop_requests(struct conn *c)
{
	struct request *r;

	while ((r = STAILQ_FIRST(&c->requests)) != NULL) {
		STAILQ_REMOVE_HEAD(&c->requests, entry);
		request_free(r);
	}
	c->arrived = 0;
}

static void
conn_drop_packets(struct conn *c)
{
	struct packet *p;

	while ((p = STAILQ_FIRST(&c->packets)) != NULL) {
		STAILQ_REMOVE_HEAD(&c->packets, entry);
		answer_free(p->reply);
		free(p->message);
		free(p);
	}
}

static void
conn_reply(struct server *s, struct conn *c, redisReply *reply)
{
	if (c->client_open && !c->mute && faults_reply(s->w, c))
		packet_push(c, reply, NULL, 0, 0);
	else
		answer_free(reply);
}

static void
conn_execute(struct server *s, struct conn *c, const struct request *r)
{
	redisReply *reply;

	if (r->kind == REQUEST_CALL) {
		reply = server_call(s, c, r);
		faults_garble(s->w, reply);
		c->offset = s->repl.offset;
		c->asking = false;
	} else {
		reply = server_run(s, c, r);
	}
	if (reply != NULL)
		conn_reply(s, c, reply);
}

/* The connection waits for replicas: must it wait longer? */
static bool
conn_waits(struct server *s, struct conn *c)
{
	redisReply *reply = c->waiting ? server_wait_answer(s, c) : NULL;

	if (reply != NULL) {
		c->waiting = false;
		conn_reply(s, c, reply);
	}
	return c->waiting;
}

/* Does the network carry anything between the two ends? */
static bool
conn_carries(const struct conn *c)
{
	return c->server->side == c->broker->side;
}

static void
server_serve(struct server *s, struct conn *c)
{
	struct request *r;

	while (s->up && !s->frozen && c->server_open && !conn_waits(s, c) &&
	       !c->held_back && c->arrived > 0 && conn_carries(c)) {
		r = STAILQ_FIRST(&c->requests);
		STAILQ_REMOVE_HEAD(&c->requests, entry);
		c->arrived--;
		conn_execute(s, c, r);
		request_free(r);
	}
}

void
conn_on_waited(void *object, uint64_t tag)
{
	struct conn *c = object;

	(void)tag;
	server_serve(c->server, c);
}

void
server_acked(struct server *s)
{
	struct conn *c;

	TAILQ_FOREACH (c, &s->conns, entry)
		if (c->waiting)
			server_serve(s, c);
}

static void
conn_on_request(void *object, uint64_t tag)
{
	struct conn *c = object;

	(void)tag;
	if (!c->server_open || STAILQ_EMPTY(&c->requests))
		return;
	c->arrived++;
	server_serve(c->server, c);
}

static void
conn_land(struct conn *c)
{
	struct packet *p;

	while (c->landed > 0 && conn_carries(c)) {
		c->landed--;
		p = STAILQ_FIRST(&c->packets);
		if (p == NULL)
			continue; /* they were dropped */
		STAILQ_REMOVE_HEAD(&c->packets, entry);
		if (c->client_open && !c->mute)
			broker_packet(c->broker, c, p->reply, p->message);
		else {
			answer_free(p->reply);
			free(p->message);
		}
		free(p);
	}
}

static void
conn_on_packet(void *object, uint64_t tag)
{
	struct conn *c = object;

	(void)tag;
	c->landed++;
	conn_land(c);
}

/* Connections. */

struct conn *
conn_open(struct link *l, struct server *s)
{
	struct conn *c = xcalloc(1, sizeof(*c));
	struct world *w = s->w;

	c->w = w;
	c->server = s;
	c->link = l;
	c->broker = link_broker(l);
	c->id = ++w->next_conn;
	c->client_open = true;
	c->server_open = c->server->up;
	STAILQ_INIT(&c->requests);
	STAILQ_INIT(&c->packets);
	TAILQ_INSERT_TAIL(&c->server->conns, c, entry);
	if (!c->server_open)
		events_at(&w->events, world_now(w) + 2 * world_delay_us(w),
		    conn_on_break, c, 0);
	return c;
}

void
conn_send(struct conn *c, struct request *r)
{
	int64_t at_us = world_now(c->w) + world_delay_us(c->w);

	if (!c->server_open) {
		request_free(r);
		return;
	}
	if (at_us < c->request_us)
		at_us = c->request_us;
	c->request_us = at_us;
	STAILQ_INSERT_TAIL(&c->requests, r, entry);
	events_at(&c->w->events, at_us, conn_on_request, c, 0);
}

void
conn_abandon(struct conn *c)
{
	c->client_open = false;
	c->link = NULL;
	conn_drop_packets(c);
	faults_abandoned(c->w, c);
}

void
conn_discard(struct conn *c)
{
	c->server_open = false;
	c->subscribed = c->waiting = false;
	conn_drop_requests(c);
}

void
conn_hold_back(struct conn *c)
{
	c->held_back = true;
}

/* The connection ends after what was sent. */
void
conn_late(struct conn *c)
{
	c->held_back = false;
	server_serve(c->server, c);
	if (STAILQ_EMPTY(&c->requests))
		c->server_open = c->subscribed = false;
}

static void
conn_on_break(void *object, uint64_t tag)
{
	struct conn *c = object;

	(void)tag;
	c->breaking = !conn_carries(c);
	if (c->client_open && !c->breaking)
		broker_conn_broken(c->broker, c);
}

void
conn_break(struct conn *c)
{
	if (!c->client_open)
		return;
	events_at(&c->w->events, world_now(c->w) + world_delay_us(c->w),
	    conn_on_break, c, 0);
}

/* The server. */

void
server_init(struct server *s, struct world *w, int index)
{
	memset(s, 0, sizeof(*s));
	s->w = w;
	s->index = index;
	if (w->nservers == 1)
		snprintf(s->name, sizeof(s->name), "redis");
	else
		snprintf(s->name, sizeof(s->name), "r%d", index);
	TAILQ_INIT(&s->conns);
	redis_db_init(&s->db);
	redis_db_init(&s->saved);
	s->db.publish = server_publish;
	s->db.arg = s;
	if (index == 0)
		s->zero_us =
		    1763692800000000 + prng_range(&w->prng, 0, 86400000000);
	else
		s->zero_us = w->servers[0].zero_us +
			     prng_range(&w->prng, -APART_US, APART_US);
	s->rate_ppm = prng_range(&w->prng, -4000, 4000);
	s->up = true;
	s->master_us = -1;
	s->run = (uint64_t)index * RUNS_MAX + 1;
	server_new_replid(s);
	replica_init(s);
}

void
server_fini(struct server *s)
{
	struct conn *c;

	while ((c = TAILQ_FIRST(&s->conns)) != NULL) {
		TAILQ_REMOVE(&s->conns, c, entry);
		conn_drop_requests(c);
		conn_drop_packets(c);
		free(c);
	}
	redis_db_clear(&s->db);
	redis_db_clear(&s->saved);
	replica_fini(s);
}

redisReply *
server_command(struct server *s, const char *const *words)
{
	struct text argv[16];
	redisReply *reply;
	int n = 0;

	for (; words[n] != NULL; n++) {
		assert(n < 16);
		argv[n] = (struct text){ words[n], strlen(words[n]) };
	}
	s->db.now_us = server_clock_us(s);
	reply = redis_db_run(&s->db, n, argv);
	replica_commit(s);
	return reply;
}

void
server_freeze(struct server *s, bool frozen)
{
	struct conn *c;
	unsigned n = 0, skip;

	TRACE(s->w, "%s %s", s->name, frozen ? "freezes" : "thaws");
	s->frozen = frozen;
	if (frozen || !s->up)
		return;
	TAILQ_FOREACH (c, &s->conns, entry)
		n++;
	skip = (unsigned)prng_below(&s->w->prng, n);
	/* Sockets are read in a random order. */
	if (n > 0 && skip % 2 == 0)
		replica_go_on(s);
	n = 0;
	TAILQ_FOREACH (c, &s->conns, entry)
		if (n++ >= skip)
			server_serve(s, c);
	TAILQ_FOREACH (c, &s->conns, entry)
		server_serve(s, c);
	replica_go_on(s);
}

/* As CLIENT KILL does. */
void
server_disconnect(struct server *s)
{
	struct conn *c;

	TAILQ_FOREACH (c, &s->conns, entry) {
		if (!c->server_open)
			continue;
		conn_discard(c);
		conn_break(c);
	}
}

bool
server_repeats(const struct server *s)
{
	const struct conn *c;

	TAILQ_FOREACH (c, &s->conns, entry)
		if (c->client_open && c->server_open && c->missed > 0)
			return true;
	return false;
}

void
server_reunite(struct server *s)
{
	struct conn *c;

	replica_go_on(s);
	TAILQ_FOREACH (c, &s->conns, entry) {
		server_serve(s, c);
		conn_land(c);
		if (c->breaking)
			conn_on_break(c, 0);
	}
}

void
server_stop(struct server *s)
{
	TRACE(s->w, "%s dies", s->name);
	s->up = false;
	s->frozen = false;
	server_disconnect(s);
	replica_died(s);
}

void
server_save(struct server *s)
{
	s->db.now_us = server_clock_us(s);
	redis_db_copy(&s->saved, &s->db);
	s->saved_us = world_now(s->w);
	s->saved_clock_us = s->db.now_us;
	s->saved_run = s->run;
	replica_saved(s);
}

void
server_go_back(struct server *s)
{
	redis_db_copy(&s->db, &s->saved);
	TRACE(s->w, "the data of %s go back by %lld ms", s->name,
	    (long long)(world_now(s->w) - s->saved_us) / 1000);
}

void
server_start(struct server *s, enum server_data data)
{
	static const char *const words[] = { "empty", "with older data",
		"with its data" };

	if (data == SERVER_EMPTY)
		redis_db_clear(&s->db);
	else if (data == SERVER_SAVED)
		redis_db_copy(&s->db, &s->saved);
	memset(s->knows, 0, sizeof(s->knows));
	s->run++;
	s->up = true;
	replica_started(s, data == SERVER_KEPT, data == SERVER_SAVED);
	if (s->w->tagged && s->w->replicates)
		takeover_started(s);
	TRACE(s->w, "%s starts %s, replid %.8s", s->name, words[data],
	    s->db.replid);
}
