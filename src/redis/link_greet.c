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

static void on_auth(void *arg, const redisReply *reply);
static void on_select(void *arg, const redisReply *reply);
static void on_setname(void *arg, const redisReply *reply);
static void on_id(void *arg, const redisReply *reply);
static void on_kill(void *arg, const redisReply *reply);
static void on_info(void *arg, const redisReply *reply);

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
	link_reply *done;
	unsigned kinds; /* of links that send it */
	const char *argv[GREET_WORDS];
};

static void
greet_send(struct link *l, link_reply *done, const char *const *words)
{
	const char *argv[GREET_WORDS];
	size_t argvlen[GREET_WORDS];
	int argc = 0;

	for (; words[argc]; argc++) {
		argv[argc] = words[argc];
		argvlen[argc] = strlen(words[argc]);
	}
	if (link_command(l, 0, done, l, argc, argv, argvlen))
		l->greetings++;
	else
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

static void
greet_auth(struct link *l)
{
	const char *with_user[] = { "AUTH", l->config.user, NULL, NULL };
	const char *without[] = { "AUTH", NULL, NULL };

	read_password(l);
	with_user[2] = without[1] = l->password;
	if (l->password[0] != '\0')
		greet_send(l, on_auth, l->config.user[0] ? with_user : without);
}

void
link_greet(struct link *l)
{
	char number[16];
	const struct step steps[] = {
		{ on_select, STORE, { "SELECT", number, NULL } },
		{ on_setname, STORE | SUBSCRIBER | PLAIN,
		    { "CLIENT", "SETNAME", l->config.client_name, NULL } },
		{ on_id, STORE, { "CLIENT", "ID", NULL } },
		{ on_kill, STORE,
		    { "CLIENT", "KILL", "ID", "9223372036854775807", NULL } },
		{ on_info, STORE | SUBSCRIBER, { "INFO", "server", NULL } },
		{ on_info, STORE, { "INFO", "memory", NULL } },
		{ on_info, STORE, { "INFO", "replication", NULL } },
		{ on_info, STORE, { "INFO", "persistence", NULL } },
	};
	size_t i;

	assert(l->state == LINK_CONNECTING && l->c != NULL);
	snprintf(number, sizeof(number), "%u", l->config.database);
	memset(&l->info, 0, sizeof(l->info));
	l->client_id = 0;
	l->greetings = 0;
	greet_auth(l);
	for (i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		if (steps[i].kinds & kind_of(l) &&
		    !(steps[i].done == on_select && l->config.database == 0))
			greet_send(l, steps[i].done, steps[i].argv);
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

static bool
is_error(const redisReply *reply, const char *prefix)
{
	return reply->type == REDIS_REPLY_ERROR &&
	       strncmp(reply->str, prefix, strlen(prefix)) == 0;
}

static void
on_script(void *arg, const redisReply *reply)
{
	struct link *l = arg;
	enum script_id script;

	if (reply == NULL)
		return;
	assert(l->greetings > 0 && l->greetings <= SCRIPT_MAX);
	l->greetings--;
	if (reply->type != REDIS_REPLY_STRING ||
	    (size_t)reply->len != SHA_BYTES) {
		greet_fail(l, "SCRIPT LOAD", reply);
		return;
	}
	/* Replies come in the order in which the commands were sent. */
	script = SCRIPT_MAX - 1 - l->greetings;
	memcpy(l->sha[script], reply->str, SHA_BYTES + 1);
	if (l->greetings == 0)
		link_greeted(l);
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

static void
on_subscribe(void *arg, const redisReply *reply)
{
	struct link *l = arg;

	if (reply == NULL)
		return;
	assert(l->config.channel != NULL && l->greetings > 0);
	if (reply->type != REDIS_REPLY_ARRAY || reply->elements != 3 ||
	    reply->element[0]->type != REDIS_REPLY_STRING ||
	    strcmp(reply->element[0]->str, "subscribe") != 0) {
		greet_fail(l, "SUBSCRIBE", reply);
		return;
	}
	l->greetings--;
	link_greeted(l);
}

static void
subscribe(struct link *l)
{
	const char *words[] = { "SUBSCRIBE", l->config.channel, NULL };

	assert(l->config.channel != NULL);
	greet_send(l, on_subscribe, words);
}

/* After the first round: is this a server for us?  Begins the second. */
static void
greet_second(struct link *l)
{
	const char *words[] = { "SCRIPT", "LOAD", NULL, NULL };
	const unsigned *v = l->info.version;
	char text[80];
	unsigned i;

	assert(l->greetings == 0 && l->state == LINK_GREETING);
	if (l->config.channel) {
		subscribe(l);
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
		words[2] = link_script(l, (enum script_id)i);
		greet_send(l, on_script, words);
	}
}

static void
greet_answered(struct link *l)
{
	assert(l->greetings > 0);
	if (--l->greetings == 0)
		greet_second(l);
}

static void
on_auth(void *arg, const redisReply *reply)
{
	struct link *l = arg;

	if (reply == NULL)
		return;
	if (is_error(reply, "ERR AUTH <password> called without any") ||
	    is_error(reply, "ERR Client sent AUTH, but no password"))
		l->info.no_password = true;
	else if (reply->type == REDIS_REPLY_ERROR) {
		greet_fail(l, "AUTH", reply);
		return;
	}
	greet_answered(l);
}

/* Goes on if the reply is good. */
static void
greet_judge(
    struct link *l, const char *what, const redisReply *reply, bool is_good)
{
	if (is_good)
		greet_answered(l);
	else
		greet_fail(l, what, reply);
}

static void
on_select(void *arg, const redisReply *reply)
{
	if (reply != NULL)
		greet_judge(
		    arg, "SELECT", reply, reply->type != REDIS_REPLY_ERROR);
}

/* Only a refusal that would meet every command counts here. */
static void
on_setname(void *arg, const redisReply *reply)
{
	struct refused r = { .refusal = NULL };

	if (reply == NULL)
		return;
	if (reply->type == REDIS_REPLY_ERROR)
		refusal_read(&r, reply->str, (size_t)reply->len);
	greet_judge(arg, "CLIENT SETNAME", reply,
	    r.refusal == NULL || r.refusal->action != REFUSAL_RECONNECT);
}

static void
on_id(void *arg, const redisReply *reply)
{
	struct link *l = arg;

	if (reply == NULL)
		return;
	l->client_id = (uint64_t)reply->integer;
	greet_judge(l, "CLIENT ID", reply, reply->type == REDIS_REPLY_INTEGER);
}

static void
on_kill(void *arg, const redisReply *reply)
{
	if (reply != NULL)
		greet_judge(arg, "CLIENT KILL", reply,
		    reply->type != REDIS_REPLY_ERROR);
}

static void
on_info(void *arg, const redisReply *reply)
{
	struct link *l = arg;

	if (reply == NULL)
		return;
	if (reply->type != REDIS_REPLY_STRING) {
		greet_fail(l, "INFO", reply);
		return;
	}
	info_read(&l->info, reply->str, (size_t)reply->len);
	greet_answered(l);
}
