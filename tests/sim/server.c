/*
 * The server and its connections.  Requests arrive in the order in which they
 * were sent on one connection; between connections there is no order, and
 * after a freeze it is drawn.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "answer.h"
#include "world.h"

#define APART_US 200000 /* clocks of servers, at first */
#define RUNS_MAX 1000000

static event_fn conn_on_request;
static event_fn conn_on_waited;
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

/* A name that is handed over, or forced, is the last word of the message. */
static void
check_message(const struct server *s, const struct conn *c, struct text message)
{
	char name[3] = { 0 };

	if (message.len < 8)
		return;
	memcpy(name, message.p + message.len - 2, 2);
	if (name[0] != 'n')
		return; /* the crowd's */
	if (memcmp(message.p, "given ", 6) == 0)
		checker_given(s->w, s, c->broker, name);
	if (memcmp(message.p, "force ", 6) == 0)
		checker_forces(s->w, name);
}

/* To those who listen on a server, of what was published on another. */
static int
deliver(struct server *s, const struct server *from, struct text channel,
    struct text message)
{
	struct conn *c;
	int n = 0;

	TAILQ_FOREACH (c, &s->conns, entry) {
		if (!c->subscribed || !c->server_open ||
		    strlen(c->name) != channel.len ||
		    memcmp(c->name, channel.p, channel.len) != 0)
			continue;
		n++;
		if (message.len > 6 && memcmp(message.p, "probe ", 6) == 0) {
			conn_message(c, message, 0);
			continue;
		}
		check_message(from, c, message);
		faults_message(s->w, c, message);
	}
	return n;
}

/*
 * PUBLISH: how many listen, as far as the server knows.  The servers of a
 * cluster pass it on to each other.
 */
static int
server_publish(void *arg, struct text channel, struct text message)
{
	struct server *s = arg, *other;
	struct world *w = s->w;
	int n = deliver(s, s, channel, message);

	for (other = w->servers; w->tagged && other < w->servers + w->nservers;
	     other++)
		if (other != s && other->up && !other->frozen &&
		    other->side == s->side)
			(void)deliver(other, s, channel, message);
	TRACE(w, "%s publish %.*s '%.*s' -> %d", s->name, (int)channel.len,
	    channel.p, (int)message.len, message.p, n);
	return n;
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

static void
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

static struct conn *
conn_find(struct server *s, uint64_t id)
{
	struct conn *c;

	TAILQ_FOREACH (c, &s->conns, entry)
		if (c->id == id)
			return c;
	return NULL;
}

static redisReply *
do_call(struct server *s, struct conn *c, const struct request *r)
{
	struct world *w = s->w;
	redisReply *reply = w->tagged ? cluster_check(s, r, c->asking) : NULL;

	if (reply != NULL)
		return reply;
	if (!s->knows[r->script])
		return answer_error("NOSCRIPT No matching script. Please use "
				    "EVAL.");
	if (!s->db.master && !w->writable)
		return answer_error("READONLY You can't write against a read "
				    "only replica.");
	if (s->db.master && !replica_may_write(s))
		return answer_error("NOREPLICAS Not enough good replicas to "
				    "write.");
	s->db.now_us = server_clock_us(s);
	reply = lua_host_run(w->lua, w->scripts[r->script], s->full, &s->db,
	    r->nkeys, r->words, r->nargs, r->words + r->nkeys);
	replica_commit(s);
	if (reply->type == REDIS_REPLY_ERROR)
		TRACE(w, "%s error %.100s", s->name, reply->str);
	return reply;
}

static void
conn_reply(struct server *s, struct conn *c, redisReply *reply)
{
	if (c->client_open && !c->mute && faults_reply(s->w, c))
		packet_push(c, reply, NULL, 0, 0);
	else
		answer_free(reply);
}

/* The answer to a WAIT; NULL: there is none yet. */
static redisReply *
wait_answer(const struct server *s, const struct conn *c)
{
	int n = replica_count(s, c->offset);

	if (!s->db.master)
		return answer_error("UNBLOCKED force unblock from blocking "
				    "operation, instance state changed "
				    "(master -> replica?)");
	if (n < c->wait_replicas && world_now(s->w) < c->wait_until)
		return NULL;
	return answer_int(n);
}

static redisReply *
do_wait(struct server *s, struct conn *c, const struct text *words)
{
	redisReply *reply;

	if (!s->db.master)
		return answer_error("ERR WAIT cannot be used with replica "
				    "instances.");
	c->wait_replicas = atoi(words[1].p);
	c->wait_until = world_now(s->w) + atoll(words[2].p) * 1000;
	reply = wait_answer(s, c);
	if (reply != NULL)
		return reply;
	c->waiting = true;
	events_at(&s->w->events, c->wait_until, conn_on_waited, c, 0);
	replica_getack(s);
	return NULL;
}

/* An old connection, with all that it has not yet said. */
static redisReply *
do_client(struct server *s, struct conn *c, const struct text *words)
{
	struct conn *old = conn_find(s, strtoull(words[3].p, NULL, 10));

	(void)c;
	if (old == NULL || !old->server_open ||
	    world_ablated(s->w, ABLATE_KILL))
		return answer_int(0);
	TRACE(s->w, "%s kills connection %llu", s->name,
	    (unsigned long long)old->id);
	old->server_open = false;
	conn_drop_requests(old);
	return answer_int(1);
}

static redisReply *
do_hello(struct server *s, struct conn *c, const struct text *words)
{
	size_t i;

	(void)words;
	c->run = s->run;
	for (i = 0; i < SCRIPT_MAX; i++)
		s->knows[i] = true;
	return answer_status("OK");
}

static redisReply *
do_subscribe(struct server *s, struct conn *c, const struct text *words)
{
	snprintf(c->name, sizeof(c->name), "%s", words[1].p);
	c->subscribed = true;
	c->run = s->run;
	return answer_status("OK");
}

static redisReply *
do_ping(struct server *s, struct conn *c, const struct text *words)
{
	(void)s;
	(void)c;
	(void)words;
	return answer_status("PONG");
}

static redisReply *
do_info(struct server *s, struct conn *c, const struct text *words)
{
	static const char memory[] = "maxmemory:0\r\n";

	(void)s;
	(void)c;
	(void)words;
	return answer_text(memory, strlen(memory));
}

static redisReply *
do_publish(struct server *s, struct conn *c, const struct text *words)
{
	(void)c;
	return answer_int(server_publish(s, words[1], words[2]));
}

static redisReply *
do_asking(struct server *s, struct conn *c, const struct text *words)
{
	(void)s;
	(void)words;
	c->asking = true;
	return answer_status("OK");
}

static redisReply *
do_cluster(struct server *s, struct conn *c, const struct text *words)
{
	(void)c;
	return strcmp(words[1].p, "SLOTS") == 0 ? cluster_slots(s)
						: cluster_info(s);
}

static const struct {
	const char *word;
	redisReply *(*run)(
	    struct server *s, struct conn *c, const struct text *words);
} commands[] = {
	{ "WAIT", do_wait },
	{ "PING", do_ping },
	{ "PUBLISH", do_publish },
	{ "CLIENT", do_client },
	{ "HELLO", do_hello },
	{ "SUBSCRIBE", do_subscribe },
	{ "ASKING", do_asking },
	{ "CLUSTER", do_cluster },
	{ "INFO", do_info },
};

/* NULL: the answer comes later. */
static redisReply *
do_command(struct server *s, struct conn *c, const struct request *r)
{
	redisReply *reply = NULL;
	size_t i;

	if (s->sentinel != NULL)
		reply = sentinel_command(s->sentinel, r);
	if (reply != NULL)
		return reply;
	if (strcmp(r->words[0].p, "SCRIPT") == 0) {
		s->knows[r->script] = true;
		return answer_status("OK");
	}
	for (i = 0; i < sizeof(commands) / sizeof(commands[0]); i++)
		if (strcmp(r->words[0].p, commands[i].word) == 0)
			return commands[i].run(s, c, r->words);
	world_fail(s->w, "P7", "%s is asked %s", s->name, r->words[0].p);
	return answer_error("ERR unknown command");
}

static void
conn_execute(struct server *s, struct conn *c, const struct request *r)
{
	redisReply *reply;

	if (r->kind == REQUEST_CALL) {
		reply = do_call(s, c, r);
		c->offset = s->repl.offset;
		c->asking = false;
	} else {
		reply = do_command(s, c, r);
	}
	if (reply != NULL)
		conn_reply(s, c, reply);
}

/* A connection that waits for replicas: can it go on? */
static bool
conn_waits(struct server *s, struct conn *c)
{
	redisReply *reply = c->waiting ? wait_answer(s, c) : NULL;

	if (reply != NULL) {
		c->waiting = false;
		conn_reply(s, c, reply);
	}
	return c->waiting;
}

/* Does the network carry anything between its ends? */
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

static void
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

/* Its end follows what was sent. */
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
	/* Sockets are read in an order that nobody chose. */
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
	TRACE(s->w, "%s starts %s, replid %.8s", s->name, words[data],
	    s->db.replid);
}
