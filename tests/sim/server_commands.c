/*
 * What a server does: it runs scripts and the commands that brokers send, and
 * delivers messages to its subscribers.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "answer.h"
#include "server_parts.h"
#include "world.h"

/* If a name is handed over, or forced, it is the last word of the message. */
static void
check_message(const struct server *s, const struct conn *c, struct text message)
{
	char name[3] = { 0 };

	if (message.len < 8)
		return;
	memcpy(name, message.p + message.len - 2, 2);
	if (name[0] != 'n')
		return; /* of the crowd */
	if (memcmp(message.p, "given ", 6) == 0)
		checker_given(s->w, s, c->broker, name);
	if (memcmp(message.p, "grant ", 6) == 0)
		checker_let_in(s->w, c->broker, name);
	if (memcmp(message.p, "force ", 6) == 0)
		checker_forces(s->w, name);
}

/* Delivers a message to the subscribers of a server; it was published on
 * `from`. */
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
int
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

static struct conn *
conn_find(struct server *s, uint64_t id)
{
	struct conn *c;

	TAILQ_FOREACH (c, &s->conns, entry)
		if (c->id == id)
			return c;
	return NULL;
}

redisReply *
server_call(struct server *s, struct conn *c, const struct request *r)
{
	struct world *w = s->w;
	redisReply *reply = w->tagged ? cluster_check(s, r, c->asking) : NULL;

	if (reply != NULL)
		return reply;
	if (!s->knows[r->script]) {
		c->missed++;
		return answer_error("NOSCRIPT No matching script. Please use "
				    "EVAL.");
	}
	if (c->missed > 0)
		c->missed--;
	if (!s->db.master && !w->writable)
		return answer_error("READONLY You can't write against a read "
				    "only replica.");
	if (s->db.master && !replica_may_write(s))
		return answer_error("NOREPLICAS Not enough good replicas to "
				    "write.");
	s->db.now_us = server_clock_us(s);
	reply = lua_host_run(w->lua,
	    w->scripts[r->script + (r->earlier ? SCRIPT_MAX : 0)], s->full,
	    &s->db, r->nkeys, r->words, r->nargs, r->words + r->nkeys);
	replica_commit(s);
	if (reply->type == REDIS_REPLY_ERROR)
		TRACE(w, "%s error %.100s", s->name, reply->str);
	return reply;
}

redisReply *
server_wait_answer(const struct server *s, const struct conn *c)
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
	reply = server_wait_answer(s, c);
	if (reply != NULL)
		return reply;
	c->waiting = true;
	events_at(&s->w->events, c->wait_until, conn_on_waited, c, 0);
	replica_getack(s);
	return NULL;
}

/* CLIENT KILL of an old connection, with all that it has not yet done. */
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
	char text[128];
	int n = snprintf(text, sizeof(text),
	    "run_id:%040" PRIu64 "\r\nmaxmemory:0\r\n", s->run);

	(void)c;
	(void)words;
	return answer_text(text, (size_t)n);
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

redisReply *
server_run(struct server *s, struct conn *c, const struct request *r)
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
