/*
 * See takeover.h.
 */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/handed.h"
#include "base/log.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/replace/envoy.h"
#include "daemon/replace/takeover.h"
#include "daemon/replace/upgrade.h"
#include "daemon/users/identity.h"
#include "relay/packet.h"

#define ANSWER_MS 30000	 /* of a broker that is busy, or frozen */
#define SEEK_MS 1000	 /* how often an old process looks for another */
#define NOBODY_UID 65534 /* shown in place of users unknown to a container */
#define WHY_SIZE 768

/* The broker. */

/* Returns why the client may not; NULL: it may. */
static const char *
denial(const struct broker *b, const struct conn *c)
{
	if (conn_uid(c) < 0)
		return "TAKEOVER is for a process at the Unix socket";
	if (conn_uid(c) == NOBODY_UID)
		return "uid 65534 may not use TAKEOVER: it stands for every "
		       "unknown user";
	if (!identity_has_users(b->identity))
		return conn_uid(c) == geteuid()
			   ? NULL
			   : "without `auth`, only the broker's own user may "
			     "use TAKEOVER";
	return strcmp(identity_via(c), "unix") == 0
		   ? NULL
		   : "only a user with `unix` may use TAKEOVER";
}

/* Is it the broker that asks?  If not, says why. */
static bool
fits(const struct broker *b, const struct request *r, char why[WHY_SIZE])
{
	const struct span *name = &r->str[OPTION_NAME];
	const struct span *redis = &r->str[OPTION_REDIS];
	const char *ours = b->config->broker.name;
	struct buf mine;
	bool same;

	if (name->n != strlen(ours) || memcmp(name->p, ours, name->n) != 0) {
		snprintf(why, WHY_SIZE,
		    "the broker here has another broker.name, %.255s", ours);
		return false;
	}
	if (b->config->redis.mode == CONFIG_MODE_EMBEDDED &&
	    r->num[OPTION_LEAVES] == 0)
		return true; /* and another reason to refuse it */
	buf_init(&mine);
	envoy_add_redis(&mine, b->config);
	same = buf_len(&mine) == redis->n &&
	       memcmp(buf_data(&mine), redis->p, redis->n) == 0;
	buf_fini(&mine);
	if (!same)
		snprintf(why, WHY_SIZE, "%s", SUCCESSION_OTHER_REDIS);
	return same;
}

/*
 * The answer, and with it the descriptor, is the last that is written to the
 * connection.  If it cannot be sent, the channel ends, too.
 */
static void
answer(struct broker *b, struct conn *c, const struct request *r, int fd)
{
	char instance[17];
	struct field field = { .id = FIELD_INSTANCE, .len = 16 };
	struct front_passed passed;

	snprintf(instance, sizeof(instance), "%016" PRIx64, b->instance);
	conn_reply(c, &(struct wire_reply){ .tag = r->tag,
			  .verb = r->verb,
			  .status = STATUS_OK,
			  .fields = &field,
			  .nfields = 1,
			  .arena = instance });
	conn_pass(c, &passed);
	(void)envoy_answer(passed.fd, passed.out, fd);
	conn_passed(c);
}

void
handle_takeover(struct broker *b, struct conn *c, const struct request *r)
{
	bool leaves = r->num[OPTION_LEAVES] != 0;
	const char *denied = denial(b, c);
	char why[WHY_SIZE] = "";
	int fd = -1;

	if (denied != NULL) {
		conn_refuse(c, r, ERR_DENIED, "%s", denied);
		return;
	}
	if (fits(b, r, why))
		fd = leaves ? upgrade_take_in(b->upgrade, why, sizeof(why))
			    : upgrade_adopt(b->upgrade, why, sizeof(why));
	if (fd < 0) {
		LOG(WARNING, "take-over-refused", LOG_S("peer", conn_peer(c)),
		    LOG_S("why", why));
		conn_refuse(c, r, ERR_UNAVAILABLE, "%s", why);
		return;
	}
	LOG(NOTICE, leaves ? "takes-in" : "handing-over",
	    LOG_S("peer", conn_peer(c)),
	    LOG_B(
		"version", r->str[OPTION_VERSION].p, r->str[OPTION_VERSION].n));
	answer(b, c, r, fd);
	(void)close(fd);
}

/* The new process. */

static bool
fail(const char *path, const char *why)
{
	LOG(ERROR, "take-over-failed", LOG_S("path", path), LOG_S("why", why));
	return false;
}

/* Returns false if nothing comes by then. */
static bool
await(int fd, int64_t until_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	int64_t left_ms = until_ms - now_awake_ms();
	int rc = 0;

	while (left_ms > 0 && (rc = poll(&p, 1, (int)left_ms)) < 0 &&
	       errno == EINTR)
		left_ms = until_ms - now_awake_ms();
	return rc > 0;
}

/* Returns NULL if all was handed over; otherwise why not. */
static const char *
receive_all(int channel, int64_t until_ms, char why[WHY_SIZE])
{
	struct packet p;

	for (;;) {
		packet_begin(&p, "next");
		(void)!packet_send(channel, &p, -1);
		if (!await(channel, until_ms))
			return "it did not hand over in time";
		if (packet_receive(channel, &p) != PACKET_OK)
			return "it has ended";
		if (packet_is(&p, "all", 0))
			return NULL;
		if (packet_is(&p, "refused", 1)) {
			snprintf(why, WHY_SIZE, "%s", packet_text(&p, 1));
			return why;
		}
		if (p.fd < 0)
			return "no file descriptors left";
		if (!handed_receive(packet_text(&p, 1), packet_take_fd(&p)))
			return "it handed over something unknown";
	}
}

static enum envoy_end
ask_at(const struct config *config, const char *path, struct envoy *e)
{
	int64_t until_ms = now_awake_ms() + ANSWER_MS;
	enum envoy_end how = envoy_send(e, config, path, false);

	while (how == ENVOY_LATER && await(e->fd, until_ms))
		how = envoy_hear(e);
	if (how == ENVOY_LATER) {
		snprintf(e->text, sizeof(e->text),
		    "the listening process does not answer");
		how = ENVOY_REFUSED;
	}
	return how;
}

static bool
begin_at(struct envoy *e, const char *path)
{
	char why[WHY_SIZE];
	const char *lacks =
	    receive_all(e->channel, now_awake_ms() + ANSWER_MS, why);

	if (lacks != NULL)
		return fail(path, lacks);
	LOG(NOTICE, "taking-over", LOG_S("path", path));
	if (!handed_receive(handed_word(HANDED_CHANNEL), e->channel))
		abort();
	e->channel = -1;
	return true;
}

bool
takeover_ask(const struct config *config)
{
	const struct config_endpoint *at;
	enum envoy_end how;
	struct envoy e;
	bool ok;
	size_t i;

	for (i = 0; i < config->listen.n; i++) {
		at = &config->listen.v[i];
		if (at->place != CONFIG_PLACE_UNIX)
			continue;
		how = ask_at(config, at->address.path, &e);
		ok = how == ENVOY_OK	    ? begin_at(&e, at->address.path)
		     : how == ENVOY_REFUSED ? fail(at->address.path, e.text)
					    : true;
		envoy_end(&e);
		if (how != ENVOY_NOBODY)
			return ok;
	}
	return true;
}

/* The old process. */

struct seeker {
	struct broker *broker;
	struct event *turn;
	struct event *readable; /* NULL: no process is asked */
	struct envoy envoy;
	unsigned turns; /* since then */
	size_t place;	/* the next one */
	char said[WHY_SIZE];
};

static void
end_asking(struct seeker *s)
{
	if (s->readable != NULL)
		event_free(s->readable);
	s->readable = NULL;
	envoy_end(&s->envoy);
}

/* Says so once. */
static void
note_refusal(struct seeker *s)
{
	if (strncmp(s->said, s->envoy.text, sizeof(s->said) - 1) != 0)
		LOG(WARNING, "not-taken-in", LOG_S("why", s->envoy.text));
	snprintf(s->said, sizeof(s->said), "%.*s", WHY_SIZE - 1, s->envoy.text);
}

static void
on_answer(evutil_socket_t fd, short what, void *arg)
{
	struct seeker *s = arg;
	enum envoy_end how = envoy_hear(&s->envoy);

	(void)fd;
	(void)what;
	if (how == ENVOY_LATER)
		return;
	if (how == ENVOY_REFUSED)
		note_refusal(s);
	if (how == ENVOY_OK && upgrade_seeks(s->broker->upgrade)) {
		upgrade_taken_in(s->broker->upgrade, s->envoy.channel);
		s->envoy.channel = -1;
	}
	end_asking(s);
}

/* Asks at the next place. */
static void
ask_next(struct seeker *s)
{
	const struct config_listen *listen = &s->broker->config->listen;
	const struct config_endpoint *at = &listen->v[s->place++ % listen->n];
	enum envoy_end how;

	if (at->place != CONFIG_PLACE_UNIX)
		return;
	how = envoy_send(&s->envoy, s->broker->config, at->address.path, true);
	s->turns = 0;
	if (how == ENVOY_LATER) {
		s->readable = event_new(s->broker->base, s->envoy.fd,
		    EV_READ | EV_PERSIST, on_answer, s);
		if (s->readable == NULL || event_add(s->readable, NULL) < 0)
			abort();
		return;
	}
	if (how == ENVOY_REFUSED)
		note_refusal(s);
	envoy_end(&s->envoy);
}

static void
on_turn(evutil_socket_t fd, short what, void *arg)
{
	struct seeker *s = arg;
	size_t i;

	(void)fd;
	(void)what;
	if (s->readable != NULL && ++s->turns > ANSWER_MS / SEEK_MS)
		end_asking(s);
	if (!upgrade_seeks(s->broker->upgrade)) {
		end_asking(s);
		(void)event_del(s->turn);
		return;
	}
	for (i = 0; i < s->broker->config->listen.n && s->readable == NULL; i++)
		ask_next(s);
}

void
seeker_begin(struct broker *b)
{
	const struct timeval often = ms_to_timeval(SEEK_MS);

	if (upgrade_seeks(b->upgrade))
		(void)event_add(b->seeker->turn, &often);
}

struct seeker *
seeker_new(struct broker *b)
{
	struct seeker *s = xcalloc(1, sizeof(*s));

	s->broker = b;
	s->envoy.fd = s->envoy.channel = -1;
	s->turn = event_new(b->base, -1, EV_PERSIST, on_turn, s);
	if (s->turn == NULL)
		abort();
	return s;
}

void
seeker_free(struct seeker *s)
{
	if (s == NULL)
		return;
	end_asking(s);
	event_free(s->turn);
	free(s);
}
