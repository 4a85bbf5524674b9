/*
 * Two links to each Sentinel: one asks, one listens.
 *
 *	sentinel --+-- asking     SENTINEL get-master-addr-by-name, INFO
 *	           +-- listening  +switch-master: only "ask again now"
 *
 * An answer counts until the next one, or until the connection is lost.  Each
 * kind of problem is logged once, until it is solved.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/parse.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/io.h"
#include "redis/link.h"
#include "redis/sentinels.h"
#include "redis/topology.h"
#include "store/refusal.h"

#define POLL_MS 1000
#define HURRY_MS 200
#define RETRY_MS_MAX 2000

/* One Sentinel.  Owned by its sentinels. */
struct sentinel {
	struct sentinels *all;
	char node[ADDRESS_SIZE];
	struct link *asking;
	struct link *listening;
	bool asked; /* and not answered yet */

	struct sentinel_answer said; /* host "": nothing */

	/* What was logged. */
	bool down_told;
	bool stranger_told; /* it does not know the master's name */
	bool tilt_told;
};

struct sentinels {
	const struct topology_env *env;
	sentinels_answered *answered;
	void *arg;
	struct sentinel *v;
	size_t n;
	struct timer *poll;
	bool hurry;
	bool few_told;
	bool divided_told;
	char why[ADDRESS_SIZE + 160]; /* what failed last; "": nothing */
};

/* What one says: [ "10.0.0.1", "6379" ], or nil if it knows no such master. */

/* A host has only printable characters, and no space. */
static bool
is_host(const redisReply *r)
{
	size_t i, n = (size_t)r->len;

	if (r->type != REDIS_REPLY_STRING || n == 0 || n >= SENTINEL_HOST_SIZE)
		return false;
	for (i = 0; i < n; i++)
		if (r->str[i] <= ' ' || r->str[i] > '~')
			return false;
	return true;
}

bool
sentinel_answer_read(const redisReply *reply, struct sentinel_answer *out)
{
	const redisReply *host, *port;
	uint64_t number;

	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 2)
		return false;
	host = reply->element[0];
	port = reply->element[1];
	if (!is_host(host) || port->type != REDIS_REPLY_STRING ||
	    !parse_number(port->str, (size_t)port->len, UINT16_MAX, &number) ||
	    number == 0)
		return false;
	memcpy(out->host, host->str, (size_t)host->len + 1);
	out->port = (uint16_t)number;
	return true;
}

/* What they say together. */

static bool
same_answer(const struct sentinel *a, const struct sentinel *b)
{
	return a->said.port == b->said.port &&
	       strcmp(a->said.host, b->said.host) == 0;
}

static unsigned
votes_for(const struct sentinels *s, const struct sentinel *one)
{
	unsigned votes = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		votes += same_answer(&s->v[i], one);
	return votes;
}

static unsigned
count_answers(const struct sentinels *s)
{
	unsigned answers = 0;
	size_t i;

	for (i = 0; i < s->n; i++)
		answers += s->v[i].said.host[0] != '\0';
	return answers;
}

struct sentinels_answer
sentinels_answer(const struct sentinels *s)
{
	struct sentinels_answer out = { .verdict = SENTINELS_NONE };
	const struct sentinel *one;
	unsigned votes;
	size_t i;

	for (i = 0; i < s->n; i++) {
		one = &s->v[i];
		votes = one->said.host[0] != '\0' ? votes_for(s, one) : 0;
		if (votes <= out.votes)
			continue;
		out.votes = votes;
		out.port = one->said.port;
		memcpy(out.host, one->said.host, sizeof(out.host));
	}
	if (out.votes > s->n / 2)
		out.verdict = SENTINELS_AGREED;
	else if (out.votes > count_answers(s) / 2)
		out.verdict = SENTINELS_SOME;
	return out;
}

static void
log_trouble(struct sentinels *s)
{
	struct sentinels_answer said = sentinels_answer(s);
	unsigned answers = count_answers(s);
	bool few = answers <= s->n / 2, divided = said.votes < answers;

	if (few && !s->few_told)
		LOG(WARNING, "sentinels-few", LOG_N("answer", answers),
		    LOG_N("configured", s->n));
	else if (!few && s->few_told)
		LOG(NOTICE, "sentinels-ok", LOG_N("answer", answers),
		    LOG_N("configured", s->n));
	s->few_told = few;
	if (divided && !s->divided_told)
		LOG(NOTICE, "sentinels-disagree", LOG_N("answer", answers),
		    LOG_N("agree", said.votes));
	s->divided_told = divided;
}

/* Asking. */

const char *
sentinels_why(const struct sentinels *s)
{
	return s->why;
}

static void
note_why(struct sentinel *one, const char *why, const char *advice)
{
	snprintf(one->all->why, sizeof(one->all->why),
	    "Sentinel %s: %.100s%s%.60s", one->node, why,
	    advice != NULL ? "; " : "", advice != NULL ? advice : "");
}

/* A Sentinel cannot be reached, or its answer is of no use. */
static void
log_down(struct sentinel *one, const char *why, const char *advice)
{
	note_why(one, why, advice);
	if (one->down_told)
		return;
	one->down_told = true;
	LOG(WARNING, "sentinel-down", LOG_S("node", one->node),
	    LOG_S("why", why), LOG_IF("advice", advice));
}

static void
log_up(struct sentinel *one)
{
	if (one->down_told)
		LOG(NOTICE, "sentinel-up", LOG_S("node", one->node));
	one->down_told = false;
}

static void
log_stranger(struct sentinel *one)
{
	const char *master = one->all->env->config->redis.master;
	char why[128];

	snprintf(why, sizeof(why), "it knows no master '%.80s'", master);
	note_why(one, why, "set redis.master to its name there");
	if (!one->stranger_told)
		LOG(WARNING, "sentinel-stranger", LOG_S("node", one->node),
		    LOG_S("master", master),
		    LOG_S("advice", "set redis.master to its name there"));
	one->stranger_told = true;
}

static void
on_master(void *arg, const redisReply *reply)
{
	struct sentinel *one = arg;
	struct sentinels *s = one->all;
	struct refused refused;

	one->asked = false;
	if (reply == NULL)
		return; /* on_down() reports it */
	one->said.host[0] = '\0';
	if (reply->type == REDIS_REPLY_ERROR) {
		refusal_read(&refused, reply->str, (size_t)reply->len);
		log_down(one, refused.words,
		    strncmp(reply->str, "NOPERM", 6) == 0
			? "permit redis.sentinel_user the command SENTINEL"
			: "check that this is a Sentinel (their port is 26379)");
	} else if (reply->type == REDIS_REPLY_NIL) {
		log_up(one);
		log_stranger(one);
	} else if (sentinel_answer_read(reply, &one->said)) {
		log_up(one);
		one->stranger_told = false;
	} else {
		log_down(one, "not a reply of a Sentinel",
		    "name Sentinels in redis.nodes");
	}
	s->answered(s->arg);
}

/* In TILT, after its clock jumped, a Sentinel watches but does not act. */
static void
on_info(void *arg, const redisReply *reply)
{
	struct sentinel *one = arg;
	bool tilt;

	if (reply == NULL || reply->type != REDIS_REPLY_STRING)
		return;
	tilt = strstr(reply->str, "sentinel_tilt:1") != NULL;
	if (tilt && !one->tilt_told)
		LOG(WARNING, "sentinel-tilt", LOG_S("node", one->node),
		    LOG_S("advice", "its clock jumped, or it was stopped"));
	one->tilt_told = tilt;
}

static void
ask(struct sentinel *one)
{
	const char *master = one->all->env->config->redis.master;

	if (one->asked || !link_is_up(one->asking))
		return;
	one->asked = link_sendf(one->asking, 0, on_master, one,
	    "SENTINEL get-master-addr-by-name %s", master);
	(void)link_sendf(one->asking, 0, on_info, one, "INFO sentinel");
	link_flush(one->asking);
}

static void
on_poll(void *arg)
{
	struct sentinels *s = arg;
	size_t i;

	for (i = 0; i < s->n; i++)
		ask(&s->v[i]);
	log_trouble(s);
	timer_in(s->poll, s->hurry ? HURRY_MS : POLL_MS);
}

/* Links. */

static void
on_up(void *arg, struct link *l)
{
	struct sentinel *one = arg;

	(void)l;
	ask(one);
}

static void
on_down(
    void *arg, struct link *l, bool was_up, const char *why, const char *advice)
{
	struct sentinel *one = arg;

	(void)l;
	(void)was_up;
	one->said.host[0] = '\0';
	log_down(one, why, advice);
	one->all->answered(one->all->arg);
}

static void
on_hint(void *arg, const char *text, size_t len)
{
	struct sentinel *one = arg;

	LOG(DEBUG, "sentinel-hint", LOG_S("node", one->node),
	    LOG_B("text", text, len));
	timer_in(one->all->poll, 0);
}

static const struct link_handler asking_handler = { on_up, on_down, NULL };
static const struct link_handler listening_handler = { on_up, NULL, on_hint };

/* Life. */

static void
sentinel_init(
    struct sentinels *s, struct sentinel *one, const struct address *address)
{
	const struct config_redis *redis = &s->env->config->redis;
	struct link_config c = {
		.io = s->env->io,
		.address = address,
		.user = redis->sentinel_user,
		.password = redis->sentinel_password,
		.password_file = redis->sentinel_password_file,
		.client_name = s->env->client_name,
		.plain = true,
		.connect_timeout_ms = redis->connect_timeout_ms,
		.reply_timeout_ms = redis->reply_timeout_ms,
		.retry_ms_max = RETRY_MS_MAX,
	};

	one->all = s;
	(void)address_format(address, one->node);
	one->asking = link_new(&c, &asking_handler, one);
	c.channel = "+switch-master";
	one->listening = link_new(&c, &listening_handler, one);
}

struct sentinels *
sentinels_new(
    const struct topology_env *env, sentinels_answered *answered, void *arg)
{
	const struct config_nodes *nodes = &env->config->redis.nodes;
	struct sentinels *s = xcalloc(1, sizeof(*s));
	size_t i;

	s->env = env;
	s->answered = answered;
	s->arg = arg;
	s->n = nodes->n;
	s->v = xcalloc(s->n, sizeof(*s->v));
	s->hurry = true;
	for (i = 0; i < s->n; i++)
		sentinel_init(s, &s->v[i], &nodes->v[i]);
	s->poll = timer_new(env->io, on_poll, s);
	return s;
}

void
sentinels_start(struct sentinels *s)
{
	size_t i;

	for (i = 0; i < s->n; i++) {
		link_start(s->v[i].asking);
		link_start(s->v[i].listening);
	}
	timer_in(s->poll, POLL_MS);
}

struct link *
sentinels_link(const struct sentinels *s, size_t i)
{
	return link_is_up(s->v[i].asking) ? s->v[i].asking : NULL;
}

void
sentinels_hurry(struct sentinels *s, bool hurry)
{
	if (hurry && !s->hurry)
		timer_in(s->poll, 0);
	s->hurry = hurry;
}

void
sentinels_free(struct sentinels *s)
{
	size_t i;

	if (s == NULL)
		return;
	timer_free(s->poll);
	for (i = 0; i < s->n; i++) {
		link_free(s->v[i].asking);
		link_free(s->v[i].listening);
	}
	free(s->v);
	free(s);
}
