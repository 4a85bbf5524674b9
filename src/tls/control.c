/*
 * Packets from the broker, one handler each, and packets to it.
 */
#include "config.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "front/sockopt.h"
#include "tls/accept.h"
#include "tls/control.h"
#include "tls/dial.h"
#include "tls/pipe.h"
#include "tls/wording.h"

/* The maximum number of log lines for failed handshakes in a period. */
#define LINES_MAX 10
#define SPELL_MS 10000
/* The broker may get their number with this delay. */
#define TELL_FAILED_MS 20
#define PACKETS_PER_TURN 16

static void
answer(struct engine *e, const char *word, bool ok, const char *why)
{
	struct packet p;

	packet_begin(&p, word);
	packet_add(&p, ok ? "" : why);
	packet_add_num(&p, accept_until(e));
	/* The broker waits for this answer, so there is room. */
	if (packet_send(e->control, &p, -1) != PACKET_OK)
		e->over = true;
}

static void
on_limits(struct engine *e, struct packet *p)
{
	bool same = e->unreachable_ms == packet_num(p, 2);
	struct pipe *each;

	e->clients_max = (unsigned)packet_num(p, 1);
	e->unreachable_ms = packet_num(p, 2);
	e->header_ms = packet_num(p, 3);
	TAILQ_FOREACH (each, &e->pipes, link)
		if (each->place && !same)
			sockopt_client(each->net, e->unreachable_ms);
}

static void
on_place(struct engine *e, struct packet *p)
{
	struct context context = {
		.server = true,
		.cert = xstrdup(packet_text(p, 2)),
		.key = xstrdup(packet_text(p, 3)),
		.ca = xstrdup(packet_text(p, 4)),
		.verify = (enum context_verify)packet_num(p, 5),
		.tls_1_3 = packet_num(p, 6) != 0,
	};
	char why[CONTEXT_WHY_SIZE] = "";
	bool ok;

	ok = accept_add(e, packet_text(p, 1), packet_take_fd(p),
	    packet_num(p, 7) != 0, &context, why);
	answer(e, "done", ok, why);
}

static void
on_servers(struct engine *e, struct packet *p)
{
	char why[CONTEXT_WHY_SIZE] = "";
	bool ok;

	context_fini(&e->servers);
	e->servers.ca = xstrdup(packet_text(p, 1));
	e->servers.cert = xstrdup(packet_text(p, 2));
	e->servers.key = xstrdup(packet_text(p, 3));
	e->servers.names = packet_num(p, 4) != 0;
	e->connect_timeout_ms = packet_num(p, 5);
	e->reply_timeout_ms = packet_num(p, 6);
	ok = context_load(&e->servers, why);
	answer(e, "done", ok, why);
}

static void
on_accept(struct engine *e, struct packet *p)
{
	accept_set(e, packet_num(p, 1) != 0);
}

static void
on_dial(struct engine *e, struct packet *p)
{
	dial(e, packet_take_fd(p), packet_text(p, 1),
	    (uint16_t)packet_num(p, 2), packet_text(p, 3));
}

static void
on_reload(struct engine *e, struct packet *p)
{
	char why[CONTEXT_WHY_SIZE] = "", other[CONTEXT_WHY_SIZE];
	bool ok = accept_reload(e, why);

	(void)p;
	if (e->servers.ssl && !context_load(&e->servers, other)) {
		memcpy(why, other, sizeof(other));
		ok = false;
	}
	answer(e, "reloaded", ok, why);
}

static void
on_close(struct engine *e, struct packet *p)
{
	(void)p;
	accept_stop(e);
}

static const struct {
	const char *word;
	unsigned texts;
	bool fd;
	void (*fn)(struct engine *e, struct packet *p);
} handlers[] = {
	{ "limits", 3, false, on_limits },
	{ "place", 7, true, on_place },
	{ "servers", 6, false, on_servers },
	{ "accept", 1, false, on_accept },
	{ "dial", 3, true, on_dial },
	{ "reload", 0, false, on_reload },
	{ "close", 0, false, on_close },
};

static bool
handle(struct engine *e, struct packet *p)
{
	size_t i;

	for (i = 0; i < sizeof(handlers) / sizeof(handlers[0]); i++) {
		if (!packet_is(p, handlers[i].word, handlers[i].texts))
			continue;
		/* If no descriptor is left, none comes: all else goes on. */
		if (handlers[i].fd == (p->fd >= 0))
			handlers[i].fn(e, p);
		packet_drop_fd(p);
		return true;
	}
	return false;
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct engine *e = arg;
	struct packet p;
	enum packet_end end;
	int i;

	(void)what;
	for (i = 0; i < PACKETS_PER_TURN && !e->over; i++) {
		end = packet_receive(fd, &p);
		if (end == PACKET_LATER)
			return;
		if (end == PACKET_GONE || !handle(e, &p))
			e->over = true;
	}
	if (e->over)
		(void)event_del(e->readable);
}

static void
on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct engine *e = arg;

	(void)fd;
	(void)what;
	if (accept_stopped(e))
		control_closed(e);
	else
		accept_hand_over(e);
}

void
control_wait(struct engine *e)
{
	(void)event_add(e->writable, NULL);
}

enum packet_end
control_client(struct engine *e, struct pipe *p, int local)
{
	struct packet packet;

	packet_begin(&packet, "client");
	packet_add(&packet, p->place);
	packet_add_num(&packet, (int64_t)p->id);
	packet_add(&packet, p->peer);
	wording_add(&packet, p);
	return packet_send(e->control, &packet, local);
}

void
control_closed(struct engine *e)
{
	struct packet packet;

	packet_begin(&packet, "closed");
	if (e->control >= 0 &&
	    packet_send(e->control, &packet, -1) == PACKET_LATER)
		control_wait(e);
}

bool
control_ended(struct engine *e, uint64_t id, const char *how)
{
	struct packet packet;

	packet_begin(&packet, "end");
	packet_add_num(&packet, (int64_t)id);
	packet_add(&packet, how);
	return packet_send(e->control, &packet, -1) == PACKET_OK;
}

/*
 * Writes a line to the broker's log: keys and values, ended by NULL.  The line
 * is lost if the broker does not read.
 */
static void __attribute__((sentinel))
control_log(struct engine *e, const char *level, const char *event, ...)
{
	struct packet packet;
	const char *text;
	va_list ap;

	if (e->control < 0)
		return;
	packet_begin(&packet, "log");
	packet_add(&packet, level);
	packet_add(&packet, event);
	va_start(ap, event);
	while ((text = va_arg(ap, const char *)) != NULL)
		packet_add(&packet, text);
	va_end(ap);
	(void)!packet_send(e->control, &packet, -1);
}

static void
on_tell_failed(evutil_socket_t fd, short what, void *arg)
{
	struct engine *e = arg;
	struct packet packet;

	(void)fd;
	(void)what;
	packet_begin(&packet, "failed");
	packet_add_num(&packet, (int64_t)e->failed);
	if (packet_send(e->control, &packet, -1) == PACKET_OK)
		e->failed = 0;
}

void
control_failed(struct engine *e, const char *peer, const char *why)
{
	struct timeval tv = ms_to_timeval(TELL_FAILED_MS);
	int64_t now = now_awake_ms();
	char unsaid[24];

	assert(peer != NULL && why != NULL);
	if (e->control < 0)
		return; /* the process of a command */
	e->failed++;
	if (!evtimer_pending(e->tell_failed, NULL))
		(void)event_add(e->tell_failed, &tv);
	if (now - e->spell_ms >= SPELL_MS) {
		snprintf(unsaid, sizeof(unsaid), "%u",
		    e->lines > LINES_MAX ? e->lines - LINES_MAX : 0);
		if (e->lines > LINES_MAX)
			control_log(e, "warning", "tls-failures-unsaid",
			    "count", unsaid, NULL);
		e->spell_ms = now;
		e->lines = 0;
	}
	if (e->lines++ < LINES_MAX)
		control_log(e, "warning", "tls-handshake-failed", "peer", peer,
		    "why", why, NULL);
}

void
control_init(struct engine *e)
{
	e->readable = engine_event(
	    e, e->control, EV_READ | EV_PERSIST, on_readable, e, PRIORITY_MOVE);
	e->writable = engine_event(
	    e, e->control, EV_WRITE, on_writable, e, PRIORITY_SHAKE);
	e->tell_failed =
	    engine_event(e, -1, 0, on_tell_failed, e, PRIORITY_SHAKE);
	(void)event_add(e->readable, NULL);
}

void
control_fini(struct engine *e)
{
	event_free(e->readable);
	event_free(e->writable);
	event_free(e->tell_failed);
}
