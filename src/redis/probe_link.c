/*
 * The links of the probe, which waits for each answer before it goes on.
 */
#include "config.h"

#include <event2/event.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/now.h"
#include "base/text.h"
#include "config/config.h"
#include "redis/probe_state.h"

/* Does a server say that the user may not do that? */
static bool
is_denial(const char *text)
{
	static const char *const words[] = { "NOPERM", "no permissions",
		"ACL of Redis does not permit", "The user executing the script",
		"ACL failure" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strstr(text, words[i]) != NULL)
			return true;
	return false;
}

void
probe_say(struct probe *probe, enum finding finding, const char *what,
    const char *fmt, ...)
{
	static const char *const words[] = { "ok", "warn", "fail" };
	struct buf line;
	va_list ap;

	buf_init(&line);
	buf_addf(&line, "%-4s  %s: ", words[finding], what);
	va_start(ap, fmt);
	buf_addv(&line, fmt, ap);
	va_end(ap);
	buf_addc(&line, '\0');
	if (finding == FINDING_FAIL && is_denial(buf_data(&line))) {
		if (strncmp(what, "sentinel", strlen("sentinel")) == 0)
			probe->sentinel_denied = true;
		else
			probe->denied = true;
	}
	buf_cut(&line, buf_len(&line) - 1);
	/* Servers choose some of the text; it must not control a terminal. */
	text_clean(buf_data(&line), buf_len(&line), ' ');
	buf_addc(&line, '\n');
	(void)fwrite(buf_data(&line), 1, buf_len(&line), probe->out);
	buf_fini(&line);
	probe->failed |= finding == FINDING_FAIL;
}

static void
on_up(void *arg, struct link *l)
{
	struct probe_link *c = arg;

	(void)l;
	c->waiting = false;
}

/* What the server itself says needs no other words than the advice. */
static void
on_down(
    void *arg, struct link *l, bool was_up, const char *why, const char *advice)
{
	struct probe_link *c = arg;

	c->waiting = false;
	if (was_up)
		probe_find(c, FINDING_FAIL, "the connection broke: %s", why);
	if (!link_is_heard(l))
		snprintf(c->why, sizeof(c->why), "can't be reached: %s", why);
	else
		snprintf(c->why, sizeof(c->why), "%s%s%s", why,
		    advice ? "; " : "", advice ? advice : "");
}

static void
on_message(void *arg, const char *text, size_t len)
{
	(void)arg;
	(void)text;
	(void)len;
}

static const struct link_handler handler = { on_up, on_down, on_message };

static bool
is_cut(const char *why)
{
	return strstr(why, "closed the connection") != NULL ||
	       strstr(why, "reset by peer") != NULL;
}

/* Connects; returns false, with c->why, if that fails. */
static bool
connect_once(struct probe_link *c)
{
	c->link = link_new(&c->config, &handler, c);
	c->waiting = true;
	link_start(c->link);
	probe_await(c);
	return link_is_up(c->link);
}

bool
probe_open(struct probe_link *c, struct probe *probe, const char *kind,
    const struct address *address, void *arg)
{
	const struct config_redis *redis = &probe->config->redis;
	bool sentinel = strcmp(kind, "sentinel") == 0;
	int64_t began_ms = now_ms();
	char node[ADDRESS_SIZE];
	bool ok;

	c->probe = probe;
	c->arg = arg;
	snprintf(c->what, sizeof(c->what), "%s %s", kind,
	    address_format(address, node));
	c->config = (struct link_config){
		.io = probe->io,
		.address = address,
		.user = sentinel ? redis->sentinel_user : redis->user,
		.password =
		    sentinel ? redis->sentinel_password : redis->password,
		.cluster = redis->mode == CONFIG_MODE_CLUSTER,
		.database = redis->database,
		.client_name = "lockbroker",
		.plain = strcmp(kind, "redis") != 0,
		.connect_timeout_ms = redis->connect_timeout_ms,
		.reply_timeout_ms = redis->reply_timeout_ms,
		.retry_ms_max = redis->connect_timeout_ms,
	};
	ok = connect_once(c);
	if (ok)
		probe_find(c, FINDING_OK, "answers, within %lld ms%s",
		    (long long)(now_ms() - began_ms),
		    probe->relay ? ", over TLS" : "");
	else if (sentinel && strstr(c->why, "redis.password_file") != NULL)
		probe_find(c, FINDING_FAIL,
		    "wants a password: a Sentinel's is"
		    " redis.sentinel_password_file; but is that one? their port"
		    " is 26379");
	else
		probe_find(c, FINDING_FAIL, "%s%s", c->why,
		    is_cut(c->why) ? "; a proxy such as twemproxy does that:"
				     " redis.nodes must name the server itself"
				   : "");
	if (!ok)
		probe_close(c);
	return ok;
}

void
probe_close(struct probe_link *c)
{
	link_free(c->link);
}

bool
probe_hears(struct probe_link *c, const char *channel)
{
	struct probe_link ear = *c;
	bool ok;

	ear.config.channel = channel;
	ok = connect_once(&ear);
	memcpy(c->why, ear.why, sizeof(c->why));
	probe_close(&ear);
	return ok;
}

void
probe_await(struct probe_link *c)
{
	link_flush(c->link);
	while (c->waiting)
		if (event_base_loop(c->probe->base, EVLOOP_ONCE) != 0)
			abort();
}

void
probe_answered(void *arg, const redisReply *reply)
{
	struct probe_link *c = arg;

	c->waiting = false;
	if (reply != NULL)
		c->read(c->arg, reply);
}
