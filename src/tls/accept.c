/*
 * A new client: its first message, the handshake, and then a pipe.
 *
 *	accept -> SILENT -> SHAKING -> READY -> MOVING (pipe.c)
 *			\-> LEAVING
 *
 * Until its first message is complete, a client costs only its descriptor; then
 * OpenSSL handles it.  The number of unfinished clients is limited.  If there
 * are too many, the one that has taken longest makes room for the next; if none
 * has taken long, new ones wait in the kernel.
 */
#include "config.h"

#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/now.h"
#include "base/proxy_header.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "front/sockopt.h"
#include "tls/accept.h"
#include "tls/pipe.h"
#include "tls/wording.h"

#define ACCEPTS_PER_TURN 16
#define ACCEPT_AGAIN_MS 50
#define HANDSHAKE_MS 10000
#define LEAVE_MS 500
#define HALF_MAX 1024u
#define HALF_MIN 64u
/*
 * After this time in a stage, a client may be dropped when there are too many.
 * Input does not extend the time, or a byte a second would keep all others out.
 */
#define SILENT_MS 250
#define SHAKING_MS 1000

/* A TLS record: its type, version and length. */
#define HEAD_BYTES 5
#define RECORD_HANDSHAKE 0x16
#define RECORD_BYTES_MAX (16384 + 256)

#define NO_HEADER                                                          \
	"it does not begin with a PROXY protocol header, which `proxied: " \
	"header` in `listen` requires"

/* A listener.  Owned by the engine. */
struct place {
	struct engine *engine;
	char *id;
	int fd;	     /* owned */
	bool headed; /* the PROXY protocol comes before TLS */
	struct event *event;
	struct context context;
	LIST_ENTRY(place) link;
};

static unsigned
half_max(const struct engine *e)
{
	return e->clients_max > HALF_MAX   ? HALF_MAX
	       : e->clients_max < HALF_MIN ? HALF_MIN
					   : e->clients_max;
}

static struct pipe_list *
list_of(const struct pipe *p)
{
	struct engine *e = p->engine;

	return p->stage == PIPE_SILENT	? &e->silent
	       : p->stage == PIPE_READY ? &e->ready
					: &e->shaking;
}

/* Moves the pipe to the end of another list. */
static void
half_set(struct pipe *p, enum pipe_stage stage)
{
	TAILQ_REMOVE(list_of(p), p, half_link);
	p->stage = stage;
	p->since_ms = now_awake_ms();
	TAILQ_INSERT_TAIL(list_of(p), p, half_link);
}

static void
leave_half_open(struct pipe *p)
{
	assert(p->engine->nhalf > 0 && p->stage != PIPE_MOVING);
	TAILQ_REMOVE(list_of(p), p, half_link);
	p->engine->nhalf--;
	if (accept_stopped(p->engine))
		p->engine->above->closed(p->engine);
}

static void
fail(struct pipe *p, const char *why)
{
	if (p->stage != PIPE_LEAVING)
		p->engine->above->failed(p->engine, p->peer, why);
	pipe_free(p);
}

/*
 * Lingers: closing with unread bytes would send a reset, which would overtake
 * the reason.
 */
static void
refuse(struct pipe *p, const char *why)
{
	p->engine->above->failed(p->engine, p->peer, why);
	half_set(p, PIPE_LEAVING);
	(void)shutdown(p->net, SHUT_WR);
	pipe_timer(p, LEAVE_MS);
	pipe_watch_net(p, EV_READ);
}

static void
leave(struct pipe *p)
{
	char said[4096];
	ssize_t n = recv(p->net, said, sizeof(said), 0);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		pipe_free(p);
}

static void
be_late(struct pipe *p)
{
	if (p->headless)
		fail(p, NO_HEADER);
	else if (p->stage == PIPE_SILENT)
		fail(p, "no TLS handshake has begun in time");
	else
		fail(p, "the TLS handshake took too long");
}

static struct place *
place_of(const struct pipe *p)
{
	struct place *place;

	LIST_FOREACH (place, &p->engine->places, link)
		if (place->id == p->place)
			return place;
	return NULL;
}

/* Answers a telnet user with one line of plain text. */
static void
refuse_plain(struct pipe *p)
{
	static const char text[] = "ERR bad-request this port speaks TLS\r\n";

	(void)send(p->net, text, sizeof(text) - 1, MSG_NOSIGNAL);
	refuse(p, "the client speaks plain text: use TLS here, or another "
		  "port");
}

static bool
has_ended(int fd)
{
	struct pollfd poll_fd = { .fd = fd, .events = POLLRDHUP };

	return poll(&poll_fd, 1, 0) > 0;
}

/* Makes libevent call back when this many bytes have come, or the end. */
static void
wait_for(struct pipe *p, int bytes)
{
	(void)setsockopt(
	    p->net, SOL_SOCKET, SO_RCVLOWAT, &bytes, sizeof(bytes));
	pipe_watch_net(p, EV_READ);
}

/* Takes the header; returns false if it is incomplete: p may be freed. */
static bool
header_is_here(struct pipe *p)
{
	char data[PROXY_HEADER_MAX];
	struct proxy_header header;
	ssize_t n = recv(p->net, data, sizeof(data), MSG_PEEK);
	enum proxy_header_got got;

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		pipe_watch_net(p, EV_READ);
		return false;
	}
	if (n <= 0) {
		pipe_free(p);
		return false;
	}
	got = proxy_header_read(data, (size_t)n, &header);
	if (got == PROXY_HEADER_NONE ||
	    (got == PROXY_HEADER_PART && has_ended(p->net))) {
		fail(p, NO_HEADER);
		return false;
	}
	if (got == PROXY_HEADER_PART) {
		wait_for(p, (int)n + 1);
		return false;
	}
	(void)recv(p->net, data, header.size, 0);
	if (header.peer[0] != '\0')
		snprintf(p->peer, sizeof(p->peer), "%s", header.peer);
	p->headless = false;
	pipe_timer(p, HANDSHAKE_MS);
	wait_for(p, 1);
	return true;
}

/* The input does not begin TLS: it comes from a terminal or a proxy. */
static void
meet_plain(struct pipe *p)
{
	char data[PROXY_HEADER_MAX];
	ssize_t n = recv(p->net, data, sizeof(data), MSG_PEEK);
	enum proxy_header_got got =
	    proxy_header_begins(data, n > 0 ? (size_t)n : 0);

	if (got == PROXY_HEADER_WHOLE)
		fail(p, "a proxy sends the PROXY protocol: set `proxied: "
			"header` for this address in `listen`, or turn it "
			"off in the proxy");
	else if (got == PROXY_HEADER_PART && !has_ended(p->net))
		wait_for(p, (int)n + 1);
	else
		refuse_plain(p);
}

/* Returns true if the first record is complete; otherwise p may be freed. */
static bool
hello_is_here(struct pipe *p)
{
	unsigned char head[HEAD_BYTES];
	ssize_t n = recv(p->net, head, sizeof(head), MSG_PEEK);
	int need, have = 0;

	if (n < 0 && (errno == EAGAIN || errno == EINTR)) {
		pipe_watch_net(p, EV_READ);
		return false;
	}
	/* A port check connects and closes without a byte. */
	if (n <= 0) {
		pipe_free(p);
		return false;
	}
	if (head[0] != RECORD_HANDSHAKE || (n > 1 && head[1] != 3)) {
		meet_plain(p);
		return false;
	}
	need =
	    n < HEAD_BYTES ? HEAD_BYTES : HEAD_BYTES + (head[3] << 8) + head[4];
	(void)ioctl(p->net, FIONREAD, &have);
	if (need > RECORD_BYTES_MAX || (have < need && has_ended(p->net))) {
		fail(p, "not a TLS handshake");
		return false;
	}
	if (have >= need && n == HEAD_BYTES)
		return true;
	wait_for(p, need);
	return false;
}

static void
hand_over(struct pipe *p)
{
	int ends[2];
	enum packet_end end;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0,
		ends) < 0) {
		fail(p, strerror(errno));
		return;
	}
	end = p->engine->above->client(p->engine, p, ends[1]);
	(void)close(ends[1]);
	if (end != PACKET_OK) {
		(void)close(ends[0]);
		half_set(p, PIPE_READY);
		pipe_watch_net(p, 0);
		pipe_timer(p, 0);
		p->engine->above->wait(p->engine);
		return;
	}
	p->local = ends[0];
	leave_half_open(p);
	pipe_move(p);
}

static void
shake(struct pipe *p)
{
	char why[WORDING_WHY_SIZE];
	int rc, err;

	rc = pipe_shake(p);
	err = errno;
	if (rc > 0) {
		hand_over(p);
	} else if (rc < 0) {
		wording_why(p, err, why);
		refuse(p, why);
	}
}

static void
go_on(struct pipe *p)
{
	const struct place *place;

	if (p->stage == PIPE_LEAVING) {
		leave(p);
		return;
	}
	if (p->stage == PIPE_SILENT) {
		if (p->headless && !header_is_here(p))
			return;
		if (!hello_is_here(p))
			return;
		place = place_of(p);
		wait_for(p, 1);
		pipe_secure(p, &place->context);
		half_set(p, PIPE_SHAKING);
	}
	if (p->stage == PIPE_SHAKING)
		shake(p);
}

void
accept_hand_over(struct engine *e)
{
	struct pipe *p, *next;

	TAILQ_FOREACH_SAFE (p, &e->ready, half_link, next)
		hand_over(p);
}

static const struct pipe_class accepted = {
	.go_on = go_on,
	.late = be_late,
	.leave = leave_half_open,
};

static void
accept_later(struct engine *e)
{
	struct timeval tv = ms_to_timeval(ACCEPT_AGAIN_MS);
	struct place *place;

	LIST_FOREACH (place, &e->places, link)
		(void)event_del(place->event);
	(void)event_add(e->accept_again, &tv);
}

static void
on_again(evutil_socket_t fd, short what, void *arg)
{
	struct engine *e = arg;

	(void)fd;
	(void)what;
	accept_set(e, e->accepting);
}

static bool
is_slow(const struct pipe *p, int64_t now, int64_t ms)
{
	return p != NULL && now - p->since_ms >= ms;
}

/* Makes room for one more client, if there is none.  Returns false if not. */
static bool
make_room(struct engine *e)
{
	struct pipe *silent = TAILQ_FIRST(&e->silent);
	struct pipe *shaking = TAILQ_FIRST(&e->shaking);
	static const char why[] =
	    "too many handshakes at once, and this one was the slowest";
	int64_t now = now_awake_ms();

	if (e->nhalf < half_max(e))
		return true;
	if (is_slow(silent, now, SILENT_MS))
		fail(silent, why);
	else if (is_slow(shaking, now, SHAKING_MS))
		fail(shaking, why);
	return e->nhalf < half_max(e);
}

static void
accept_one(struct place *place, int fd)
{
	struct engine *e = place->engine;
	struct pipe *p = pipe_new(e, fd, &accepted);
	char *peer = sockopt_peer_tcp(fd);

	snprintf(p->peer, sizeof(p->peer), "%s", peer);
	free(peer);
	sockopt_client(fd, e->unreachable_ms);
	p->place = place->id;
	p->stage = PIPE_SILENT;
	p->since_ms = now_awake_ms();
	TAILQ_INSERT_TAIL(&e->silent, p, half_link);
	e->nhalf++;
	p->headless = place->headed;
	pipe_timer(p, p->headless ? e->header_ms : HANDSHAKE_MS);
	go_on(p);
}

static void
on_ready(evutil_socket_t fd, short what, void *arg)
{
	struct place *place = arg;
	struct engine *e = place->engine;
	int i, client;

	(void)what;
	for (i = 0; i < ACCEPTS_PER_TURN; i++) {
		if (!make_room(e)) {
			accept_later(e);
			return;
		}
		client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (client >= 0) {
			accept_one(place, client);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM) {
			e->above->failed(e, "-", strerror(errno));
			accept_later(e);
		}
		return;
	}
}

void
accept_init(struct engine *e)
{
	LIST_INIT(&e->places);
	TAILQ_INIT(&e->silent);
	TAILQ_INIT(&e->shaking);
	TAILQ_INIT(&e->ready);
	e->accept_again = engine_event(e, -1, 0, on_again, e, PRIORITY_SHAKE);
}

static void
place_free(struct place *place)
{
	LIST_REMOVE(place, link);
	event_free(place->event);
	if (place->fd >= 0)
		(void)close(place->fd);
	context_fini(&place->context);
	free(place->id);
	free(place);
}

/* Clients still in the handshake find the new listener by its id. */
static void
drop_closed(struct engine *e, const char *id)
{
	struct place *place, *next;

	LIST_FOREACH_SAFE (place, &e->places, link, next)
		if (place->fd < 0 && strcmp(place->id, id) == 0)
			place_free(place);
}

bool
accept_add(struct engine *e, const char *id, int fd, bool headed,
    struct context *context, char why[CONTEXT_WHY_SIZE])
{
	struct place *place = xcalloc(1, sizeof(*place));

	assert(fd >= 0 && context->server);
	e->closing = false;
	drop_closed(e, id);
	place->engine = e;
	place->id = xstrdup(id);
	place->fd = fd;
	place->headed = headed;
	place->context = *context;
	place->event = engine_event(
	    e, fd, EV_READ | EV_PERSIST, on_ready, place, PRIORITY_SHAKE);
	LIST_INSERT_HEAD(&e->places, place, link);
	if (!context_load(&place->context, why))
		return false;
	accept_set(e, e->accepting);
	return true;
}

bool
accept_reload(struct engine *e, char why[CONTEXT_WHY_SIZE])
{
	char one[CONTEXT_WHY_SIZE];
	struct place *place;
	bool ok = true;

	LIST_FOREACH (place, &e->places, link) {
		if (context_load(&place->context, one))
			continue;
		memcpy(why, one, sizeof(one));
		ok = false;
	}
	return ok;
}

int64_t
accept_until(const struct engine *e)
{
	const struct place *place;
	int64_t until = 0;

	LIST_FOREACH (place, &e->places, link)
		if (until == 0 ||
		    (place->context.until != 0 && place->context.until < until))
			until = place->context.until;
	return until;
}

void
accept_set(struct engine *e, bool on)
{
	struct place *place;

	e->accepting = on;
	LIST_FOREACH (place, &e->places, link) {
		if (on && place->fd >= 0 && place->context.ssl)
			(void)event_add(place->event, NULL);
		else
			(void)event_del(place->event);
	}
}

void
accept_stop(struct engine *e)
{
	struct place *place;

	e->closing = true;
	(void)event_del(e->accept_again);
	LIST_FOREACH (place, &e->places, link) {
		(void)event_del(place->event);
		(void)close(place->fd);
		place->fd = -1;
	}
	if (accept_stopped(e))
		e->above->closed(e);
}

bool
accept_stopped(const struct engine *e)
{
	return e->closing && e->nhalf == 0;
}

void
accept_close(struct engine *e)
{
	struct pipe *p, *next;
	struct place *place;

	TAILQ_FOREACH_SAFE (p, &e->pipes, link, next)
		if (p->place && p->stage != PIPE_MOVING)
			pipe_free(p);
	TAILQ_FOREACH (p, &e->pipes, link)
		if (p->place)
			p->place = "";
	(void)event_del(e->accept_again);
	while ((place = LIST_FIRST(&e->places)) != NULL) {
		place_free(place);
	}
}

void
accept_fini(struct engine *e)
{
	accept_close(e);
	event_free(e->accept_again);
}
