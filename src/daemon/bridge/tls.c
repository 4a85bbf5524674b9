/*
 * TLS, between the configuration, the front and the process that speaks it.
 *
 * A place to listen on has its number in `listen`; a host name may stand for
 * several sockets with the same number.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/log.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/tls.h"

static bool
is_wanted(const struct config *config)
{
	size_t i;

	for (i = 0; i < config->listen.n; i++)
		if (config->listen.v[i].place == CONFIG_PLACE_TLS)
			return true;
	return config->redis.tls;
}

static bool
add_place(struct relay *relay, const struct config *config, unsigned number,
    int fd, char why[RELAY_WHY_SIZE])
{
	const struct config_tls *tls = &config->listen.v[number].tls;
	const struct relay_place place = {
		.cert = tls->certificate,
		.key = tls->key,
		.client_ca = tls->client_ca,
		.verify = tls->verify,
		.tls_1_3 = tls->min_version == CONFIG_VERSION_1_3,
		.headed = config->listen.v[number].proxied == PROXIED_HEADER,
	};

	return relay_listen(relay, number, &place, fd, why);
}

static bool
say(const char *file, const char *what, const char *why, FILE *out)
{
	fprintf(
	    out, "%s%s%s: %s\n", file ? file : "", file ? ": " : "", what, why);
	return false;
}

bool
tls_check(const struct config *config, const char *file, FILE *out)
{
	char why[RELAY_WHY_SIZE];
	struct relay *relay;
	bool ok = true;
	unsigned i;
	int fd;

	if (!is_wanted(config))
		return true;
	relay = relay_new(NULL, NULL, NULL, why);
	if (relay == NULL)
		return say(file, "TLS", why, out);
	for (i = 0; i < config->listen.n; i++) {
		if (config->listen.v[i].place != CONFIG_PLACE_TLS)
			continue;
		/* Any socket will do: no process listens on it. */
		fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		if (fd < 0 || !add_place(relay, config, i, fd, why))
			ok = say(file, "listen", why, out);
	}
	if (config->redis.tls && !redis_tls(relay, config, why))
		ok = say(file, "redis.tls", why, out);
	relay_free(relay);
	return ok;
}

static void
on_client(void *arg, const struct relay_client *client)
{
	struct broker *b = arg;
	const struct config_listen *listen = &b->config->listen;
	struct front_relayed relayed = {
		.id = client->id,
		.fd = client->fd,
		.peer = client->peer,
		.names = client->names,
		.nnames = client->nnames,
	};

	/* That process reads input of unauthenticated clients, so we do not
	 * rely on it. */
	if (client->place >= listen->n ||
	    listen->v[client->place].place != CONFIG_PLACE_TLS) {
		(void)close(client->fd);
		return;
	}
	relayed.proxied = listen->v[client->place].proxied != PROXIED_NO;
	front_relayed(b->front, &relayed);
}

static void
on_ended(void *arg, uint64_t id, enum relay_end end)
{
	struct broker *b = arg;

	front_relayed_ended(b->front, id, end == RELAY_BEHIND);
}

static const struct relay_handler handler = { on_client, on_ended };

static void
on_look(void *arg)
{
	relay_look(arg);
}

static void
tell_limits(const struct broker *b)
{
	const struct client_limits *limits = &b->config->limits;

	relay_limits(b->relay, limits->clients, limits->unreachable_ms,
	    proxy_header_ms(limits->first_line_ms));
}

bool
tls_begin(struct broker *b)
{
	char why[RELAY_WHY_SIZE];

	if (!is_wanted(b->config))
		return true;
	b->relay = relay_new(b->base, &handler, b, why);
	if (b->relay != NULL) {
		tell_limits(b);
		front_set_look(b->front, on_look, b->relay);
		if (!b->config->redis.tls ||
		    redis_tls(b->relay, b->config, why))
			return true;
	}
	LOG(ERROR, "tls-failed", LOG_S("why", why));
	return false;
}

struct placing {
	struct broker *broker;
	struct buf *why;
};

static bool
on_place(void *arg, unsigned number, int fd)
{
	struct placing *p = arg;
	struct broker *b = p->broker;
	char why[RELAY_WHY_SIZE];
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy < 0) {
		buf_adds(p->why, strerror(errno));
		return false;
	}
	if (add_place(b->relay, b->config, number, copy, why))
		return true;
	buf_adds(p->why, why);
	return false;
}

bool
tls_listen(struct broker *b, struct buf *why)
{
	struct placing placing = { b, why };

	return front_places(b->front, on_place, &placing);
}

void
tls_accept(struct broker *b, bool on)
{
	if (b->relay != NULL)
		relay_accept(b->relay, on);
}

void
tls_stop_listening(struct broker *b)
{
	if (b->relay != NULL)
		relay_close_places(b->relay);
}

bool
tls_shakes(const struct broker *b)
{
	return b->relay != NULL && relay_shakes(b->relay);
}

bool
tls_reload(struct broker *b)
{
	if (b->relay == NULL)
		return false;
	tell_limits(b);
	relay_reload(b->relay);
	return true;
}
