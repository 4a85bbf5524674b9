/*
 * The places where clients come: opens them, lets clients in, closes them.
 */
#include "config.h"

#include "base/handed.h"
#include "base/log.h"
#include "base/now.h"
#include "config/config.h"
#include "daemon/bridge/bridge.h"
#include "daemon/bridge/broker.h"
#include "daemon/bridge/tls.h"
#include "daemon/monitor/monitor.h"
#include "daemon/replace/upgrade.h"

#define ACCEPT_MS 3000 /* the longest that clients wait for our own Redis */

bool
broker_accepts(const struct broker *b)
{
	return b->accept_ms == 0 && !upgrade_pending(b->upgrade);
}

void
broker_hold_back(struct broker *b, bool hold)
{
	b->keeps_http = b->keeps_http && hold;
	front_hold_back(b->front, hold);
	tls_accept(b, !hold || front_keeps(b->front, true));
	monitor_hold_back(b->monitor, hold && !b->keeps_http);
}

void
broker_keep(struct broker *b, const struct handed_list *list, const bool *taken)
{
	const struct handed *h;
	size_t i;

	b->keeps_http = true;
	for (i = 0; i < list->n; i++) {
		h = &list->v[i];
		if (h->kind == HANDED_HTTP && taken[i])
			b->keeps_http = false;
		else if (handed_is_place(h->kind) && !taken[i])
			front_keep(b->front, h->fd);
	}
}

void
broker_take_over(struct broker *b)
{
	front_share_paths(b->front, false);
	(void)redis_own(b->redis, true);
	if (broker_accepts(b))
		broker_hold_back(b, false);
}

void
broker_accept_when_ready(struct broker *b)
{
	struct core_gauges gauges;

	if (b->accept_ms == 0)
		return;
	core_gauges(b->core, now_ms(), &gauges);
	/* If the length of the wait is known, clients may as well be told. */
	if (!gauges.ready && gauges.grace_ms == 0 && now_ms() < b->accept_ms)
		return;
	b->accept_ms = 0;
	if (broker_accepts(b))
		broker_hold_back(b, false);
}

static bool
listen_one(struct broker *b, size_t number, struct buf *why)
{
	const struct config_endpoint *e = &b->config->listen.v[number];
	const struct address *a = &e->address;

	switch (e->place) {
	case CONFIG_PLACE_TCP:
		return front_listen_tcp(
		    b->front, a->host, a->port, e->proxied, why);
	case CONFIG_PLACE_TLS:
		return front_listen_place(
		    b->front, a->host, a->port, (unsigned)number, why);
	case CONFIG_PLACE_UNIX:
		return front_listen_unix(
		    b->front, a->path, e->mode, e->group, why);
	default: /* the monitor's */
		return true;
	}
}

bool
broker_listen(struct broker *b, int first, size_t n)
{
	const struct config_listen *listen = &b->config->listen;
	struct buf why;
	bool ok = true, held_back;
	size_t i;
	int fd;

	buf_init(&why);
	if (b->config->redis.mode == CONFIG_MODE_EMBEDDED)
		b->accept_ms = now_ms() + ACCEPT_MS;
	held_back = !broker_accepts(b);
	/* The TLS process is told when all is there. */
	front_hold_back(b->front, held_back);
	monitor_hold_back(b->monitor, held_back);
	for (i = 0; ok && i < n; i++)
		ok = front_listen_fd(b->front, first + (int)i, &why);
	while (ok && (fd = handed_next(HANDED_PASSED)) >= 0)
		ok = front_listen_fd(b->front, fd, &why);
	for (i = 0; ok && i < listen->n; i++)
		ok = listen_one(b, i, &why);
	ok = ok && tls_listen(b, &why) && monitor_listen(b->monitor, &why);
	if (ok && front_listeners(b->front) == 0) {
		buf_adds(&why, "nothing to listen on: give `listen` an address"
			       " or start the socket unit");
		ok = false;
	}
	if (!ok)
		LOG(ERROR, "listen-failed",
		    LOG_B("why", buf_data(&why), buf_len(&why)),
		    LOG_S("advice",
			"-o listen.tcp=HOST:PORT, listen.unix=PATH and"
			" listen.http=HOST:PORT name other places"));
	buf_fini(&why);
	if (ok && !held_back)
		tls_accept(b, true);
	if (ok)
		redis_start(b->redis);
	return ok;
}

void
broker_close_places(struct broker *b)
{
	front_stop_listening(b->front);
	tls_stop_listening(b);
}

void
broker_give_up_places(struct broker *b)
{
	if (!front_keeps(b->front, true))
		tls_stop_listening(b);
	front_give_up(b->front);
	if (!b->keeps_http)
		monitor_stop_listening(b->monitor);
}

void
broker_local_only(struct broker *b)
{
	front_local_only(b->front, true);
	tls_stop_listening(b);
}

bool
broker_listen_again(struct broker *b, struct buf *why)
{
	const struct config_listen *listen = &b->config->listen;
	bool ok = true;
	size_t i;

	for (i = 0; ok && i < listen->n; i++)
		ok = listen_one(b, i, why);
	ok = ok && tls_listen(b, why);
	if (ok)
		front_local_only(b->front, false);
	else
		broker_local_only(b);
	return ok;
}
