/*
 * The greeting: two rounds of pipelined commands.
 *
 *	first    AUTH  SELECT  CLIENT SETNAME, ID, KILL  INFO x 4
 *	second   SCRIPT LOAD x 2, or SUBSCRIBE
 *
 * A subscriber asks only who is there (AUTH, CLIENT SETNAME, INFO server).  A
 * plain link sends AUTH and CLIENT SETNAME, and has no second round.
 *
 * The link sends the first round before it knows that the connection is there.
 * A server that refuses only to name the connection will do.  A server that
 * refuses CLIENT ID or CLIENT KILL will not: we could not kill a lost
 * connection then, and the commands left on it could run when they are no
 * longer expected.  So the greeting tries to kill an id that no client has.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "base/log.h"
#include "base/small_file.h"
#include "lua/lua.h"
#include "redis/link_state.h"
#include "store/refusal.h"

/* Only links to Sentinels, or to what should be a Sentinel, are plain. */
#define SENTINEL_PASSWORD                                              \
	"for a Sentinel set redis.sentinel_password_file; check that " \
	"this is one (their port is 26379)"

#define GREET_WORDS 5 /* of a command, and the NULL that ends them */

/* What a link is for. */
enum link_kind { STORE = 1, SUBSCRIBER = 2, PLAIN = 4 };

static enum link_kind
kind_of(const struct link *l)
{
	if (l->config.plain)
		return PLAIN;
	return l->config.channel ? SUBSCRIBER : STORE;
}

/* One command of the first round; argv ends with NULL. */
struct step {
	unsigned kinds; /* of links that send it */
	const char *what;
	link_judge *judge;
	const char *argv[GREET_WORDS];
};

static void on_greeted(void *arg, const redisReply *reply);

static void
greet_send(struct link *l, const char *what, link_judge *judge,
    const char *const *words)
{
	const char *argv[GREET_WORDS];
	size_t argvlen[GREET_WORDS];
	int argc = 0;

	assert(l->greetings < GREETINGS_MAX);
	for (; words[argc]; argc++) {
		argv[argc] = words[argc];
		argvlen[argc] = strlen(words[argc]);
	}
	l->greeted[l->greetings++] = (struct greeting){ what, judge };
	if (!link_command(l, 0, on_greeted, l, argc, argv, argvlen))
		link_cut(l, "the connection accepts no commands", NULL);
}

/* A password may be changed while brokers run.  A file that cannot be read may
 * just be being written, so the former password counts. */
static void
read_password(struct link *l)
{
	const char *path = l->config.password_file, *why = NULL;
	char *text;

	if (path == NULL || path[0] == '\0')
		return;
	text = small_file_password(path, &why);
	if (text == NULL && !l->unread)
		LOG(WARNING, "redis-password-file", LOG_S("file", path),
		    LOG_S("error", why),
		    LOG_S("advice", "the previous password stays in use"));
	l->unread = text == NULL;
	if (text == NULL)
		return;
	small_file_wipe(l->password);
	l->password = text;
}

/* Cuts the link: the server won't do.  Adds advice if we know the refusal. */
static void
greet_fail(struct link *l, const char *what, const redisReply *reply)
{
	struct refused refused = { .words = "unexpected reply" };
	const char *advice;
	char text[160];

	if (reply->type == REDIS_REPLY_ERROR)
		refusal_read(&refused, reply->str, (size_t)reply->len);
	snprintf(text, sizeof(text), "%s: %s", what, refused.words);
	advice = refused.refusal != NULL ? refused.refusal->text : NULL;
	if (l->config.plain && strncmp(refused.words, "NOAUTH", 6) == 0)
		advice = SENTINEL_PASSWORD;
	link_cut(l, text, advice);
}

/* What replies must be. */

static bool
is_good(struct link *l, const redisReply *reply)
{
	(void)l;
	return reply->type != REDIS_REPLY_ERROR;
}

static bool
is_let_in(struct link *l, const redisReply *reply)
{
	static const char *const needless[] = {
		"ERR AUTH <password> called without any",
		"ERR Client sent AUTH, but no password"
	};
	size_t i;

	for (i = 0; i < 2 && reply->type == REDIS_REPLY_ERROR; i++)
		if (strncmp(reply->str, needless[i], strlen(needless[i])) == 0)
			l->info.no_password = true;
	return l->info.no_password || is_good(l, reply);
}

/* Only a refusal that would meet every command counts here. */
static bool
is_named(struct link *l, const redisReply *reply)
{
	struct refused r = { .refusal = NULL };

	(void)l;
	if (reply->type == REDIS_REPLY_ERROR)
		refusal_read(&r, reply->str, (size_t)reply->len);
	return r.refusal == NULL || r.refusal->action != REFUSAL_RECONNECT;
}

static bool
take_id(struct link *l, const redisReply *reply)
{
	l->client_id = (uint64_t)reply->integer;
	return reply->type == REDIS_REPLY_INTEGER;
}

static bool
take_info(struct link *l, const redisReply *reply)
{
	if (reply->type != REDIS_REPLY_STRING)
		return false;
	info_read(&l->info, reply->str, (size_t)reply->len);
	return true;
}

static bool
take_sha(struct link *l, const redisReply *reply)
{
	if (reply->type != REDIS_REPLY_STRING ||
	    (size_t)reply->len != SHA_BYTES)
		return false;
	/* Replies come in the order in which the commands were sent. */
	assert(l->answered < SCRIPT_MAX);
	memcpy(l->sha[l->answered], reply->str, SHA_BYTES + 1);
	return true;
}

static bool
is_subscribed(struct link *l, const redisReply *reply)
{
	assert(l->config.channel != NULL);
	return reply->type == REDIS_REPLY_ARRAY && reply->elements == 3 &&
	       reply->element[0]->type == REDIS_REPLY_STRING &&
	       strcmp(reply->element[0]->str, "subscribe") == 0;
}

/* Only Redis 7 and later understand a first line `#!lua flags=...`. */
const char *
link_script(const struct link *l, enum script_id script)
{
	static const char *const texts[] = {
		[SCRIPT_KEEP] = lua_keep,
		[SCRIPT_ACQUIRE] = lua_acquire,
	};
	const char *text = texts[script], *line_end;

	if (l->info.version[0] >= 7 || strncmp(text, "#!", 2) != 0)
		return text;
	line_end = strchr(text, '\n');
	return line_end ? line_end + 1 : text;
}

/* Their errors would say less. */
static bool
check_kind(struct link *l)
{
	if (l->info.sentinel)
		link_cut(l, "this is a Sentinel, not a server for locks",
		    "set redis.mode sentinel and redis.master, or name the"
		    " server itself in redis.nodes");
	else if (l->info.cluster && !l->config.cluster)
		link_cut(l, "this is a node of a Redis Cluster",
		    "set redis.mode cluster");
	else
		return true;
	return false;
}

static bool
check_memory(struct link *l)
{
	const struct info *info = &l->info;
	char text[120];

	if (!info_evicts(info) || info->maxmemory == 0)
		return true;
	snprintf(text, sizeof(text), "maxmemory-policy %s may evict locks",
	    info->policy);
	link_cut(l, text, "set maxmemory-policy noeviction in Redis");
	return false;
}

/* After the first round: is this a server for us?  Begins the second. */
static void
greet_second(struct link *l)
{
	const char *load[] = { "SCRIPT", "LOAD", NULL, NULL };
	const char *subscribe[] = { "SUBSCRIBE", l->config.channel, NULL };
	const unsigned *v = l->info.version;
	char text[80];
	unsigned i;

	assert(l->state == LINK_GREETING);
	l->second = true;
	l->greetings = l->answered = 0;
	if (l->config.channel) {
		greet_send(l, "SUBSCRIBE", is_subscribed, subscribe);
		return;
	}
	if (l->config.plain) {
		link_greeted(l);
		return;
	}
	if (!check_kind(l))
		return;
	if (v[0] < 6 || (v[0] == 6 && v[1] == 0 && v[2] < 6)) {
		snprintf(text, sizeof(text), "Redis %u.%u.%u is too old", v[0],
		    v[1], v[2]);
		link_cut(l, text, "use Redis 6.0.6 or later");
		return;
	}
	if (l->info.loading) {
		link_cut(l, "Redis is still loading its data", NULL);
		return;
	}
	if (!check_memory(l))
		return;
	for (i = 0; i < SCRIPT_MAX; i++) {
		load[2] = link_script(l, (enum script_id)i);
		greet_send(l, "SCRIPT LOAD", take_sha, load);
	}
}

static void
on_greeted(void *arg, const redisReply *reply)
{
	struct link *l = arg;
	const struct greeting *g = &l->greeted[l->answered];

	if (reply == NULL)
		return;
	assert(l->answered < l->greetings);
	if (!g->judge(l, reply))
		greet_fail(l, g->what, reply);
	else if (++l->answered < l->greetings)
		return;
	else if (l->second)
		link_greeted(l);
	else
		greet_second(l);
}

static void
greet_auth(struct link *l)
{
	const char *with_user[] = { "AUTH", l->config.user, NULL, NULL };
	const char *without[] = { "AUTH", NULL, NULL };

	read_password(l);
	with_user[2] = without[1] = l->password;
	if (l->password[0] != '\0')
		greet_send(l, "AUTH", is_let_in,
		    l->config.user[0] ? with_user : without);
}

void
link_greet(struct link *l)
{
	char number[16];
	const struct step steps[] = {
		{ l->config.database > 0 ? STORE : 0, "SELECT", is_good,
		    { "SELECT", number, NULL } },
		{ STORE | SUBSCRIBER | PLAIN, "CLIENT SETNAME", is_named,
		    { "CLIENT", "SETNAME", l->config.client_name, NULL } },
		{ STORE, "CLIENT ID", take_id, { "CLIENT", "ID", NULL } },
		{ STORE, "CLIENT KILL", is_good,
		    { "CLIENT", "KILL", "ID", "9223372036854775807", NULL } },
		{ STORE | SUBSCRIBER, "INFO", take_info,
		    { "INFO", "server", NULL } },
		{ STORE, "INFO", take_info, { "INFO", "memory", NULL } },
		{ STORE, "INFO", take_info, { "INFO", "replication", NULL } },
		{ STORE, "INFO", take_info, { "INFO", "persistence", NULL } },
	};
	size_t i;

	assert(l->state == LINK_CONNECTING && l->c != NULL);
	snprintf(number, sizeof(number), "%u", l->config.database);
	memset(&l->info, 0, sizeof(l->info));
	l->client_id = 0;
	l->greetings = l->answered = 0;
	l->second = false;
	greet_auth(l);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].kinds & kind_of(l))
			greet_send(
			    l, steps[i].what, steps[i].judge, steps[i].argv);
}
