/*
 * evhttp with limits; see server.h.  There is one evhttp for each listener,
 * because a request does not show where it came in.
 */
#include "config.h"

#include <assert.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/keyvalq_struct.h>
#include <event2/listener.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/list.h"
#include "base/log.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "http/listen.h"
#include "http/server.h"
#include "http/visits.h"

#define HEADERS_MAX 8192
#define BODY_MAX 4096 /* read to be answered 405, but ignored */
#define INPUT_MAX (2 * HEADERS_MAX)
#define SILENT_S 5
#define ACCEPT_AGAIN_MS 100 /* after descriptors were used up */

/* A listening socket.  Owned by the server. */
struct place {
	struct http_server *server;
	struct evhttp *http;
	struct evconnlistener *listener; /* owned by `http` */
	int fd;				 /* owned; -1: closed */
	bool loopback;
	bool any_port;
	LIST_ENTRY(place) link;
};

/* A request that awaits its answer.  Owned by the server. */
struct open_request {
	struct http_request request;
	struct evhttp_request *of; /* its own until the answer */
	char *target;		   /* owned: path and query */
	bool head;
	LIST_ENTRY(open_request) link;
};

struct http_server {
	struct event_base *base;
	http_handler *handler;
	void *arg;
	LIST_HEAD(, place) places;
	LIST_HEAD(, open_request) requests;
	struct visits *limits;
	uint64_t last_id, requests_total, refused_total;
	bool held_back; /* no client is accepted yet */
};

/* Accepting. */

static void
on_room(void *arg, bool room)
{
	struct http_server *s = arg;
	struct place *p;

	LIST_FOREACH (p, &s->places, link) {
		if (room)
			(void)evconnlistener_enable(p->listener);
		else
			(void)evconnlistener_disable(p->listener);
	}
}

/* If there are too many by then, visits.c reports it again. */
static void
on_accept_again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	(void)evconnlistener_enable(arg);
}

/*
 * Descriptors are used up: the socket stays readable, and must not make the
 * loop spin.  The argument is evhttp's.
 */
static void
on_accept_error(struct evconnlistener *listener, void *arg)
{
	struct timeval tv = ms_to_timeval(ACCEPT_AGAIN_MS);

	(void)arg;
	(void)evconnlistener_disable(listener);
	if (event_base_once(evconnlistener_get_base(listener), -1, EV_TIMEOUT,
		on_accept_again, listener, &tv) < 0)
		abort();
}

static struct bufferevent *
on_accepted(struct event_base *base, void *arg)
{
	struct http_server *s = arg;
	struct bufferevent *bev =
	    bufferevent_socket_new(base, -1, BEV_OPT_CLOSE_ON_FREE);

	if (bev == NULL)
		abort();
	bufferevent_setwatermark(bev, EV_READ, 0, INPUT_MAX);
	visits_came(s->limits, bev);
	return bev;
}

/* Answers. */

static void
add_headers(struct evkeyvalq *out, const struct http_answer *a)
{
#define HEADER(name, value) (void)evhttp_add_header(out, name, value);
	HTTP_HEADERS(HEADER)
#undef HEADER
	(void)evhttp_add_header(out, "Connection", "close");
	(void)evhttp_add_header(out, "Content-Type",
	    a->type != NULL ? a->type : "text/plain; charset=utf-8");
	(void)evhttp_add_header(out, "Content-Security-Policy",
	    a->policy != NULL ? a->policy
			      : "default-src 'none'; frame-ancestors 'none'");
	if (a->challenge)
		(void)evhttp_add_header(out, "WWW-Authenticate",
		    "Basic realm=\"lockbroker\", charset=\"UTF-8\"");
	if (a->status == HTTP_BADMETHOD)
		(void)evhttp_add_header(out, "Allow", "GET, HEAD");
}

static void
free_body(const void *data, size_t n, void *arg)
{
	(void)data;
	(void)n;
	free(arg);
}

/* Hands over the memory: it may be large, and is written a piece at a time. */
static void
send_answer(struct evhttp_request *of, const struct http_answer *a, bool head,
    struct buf *body)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(of);
	struct evbuffer *out = evbuffer_new();
	char length[24];

	if (out == NULL)
		abort();
	add_headers(headers, a);
	snprintf(length, sizeof(length), "%zu", buf_len(body));
	(void)evhttp_add_header(headers, "Content-Length", length);
	if (!head && buf_len(body) > 0) {
		if (evbuffer_add_reference(out, buf_data(body), buf_len(body),
			free_body, body->mem) < 0)
			abort();
		buf_init(body);
	}
	buf_fini(body);
	evhttp_send_reply(of, a->status, NULL, out);
	evbuffer_free(out);
}

static struct open_request *
find(const struct http_server *s, uint64_t id)
{
	struct open_request *r;

	LIST_FOREACH (r, &s->requests, link)
		if (r->request.id == id)
			return r;
	return NULL;
}

const struct http_request *
http_find(const struct http_server *s, uint64_t id)
{
	const struct open_request *r = find(s, id);

	return r != NULL ? &r->request : NULL;
}

void
http_answer(struct http_server *s, uint64_t id, const struct http_answer *a,
    struct buf *body)
{
	struct open_request *r = find(s, id);

	assert(r != NULL);
	LIST_REMOVE(r, link);
	send_answer(r->of, a, r->head, body);
	free(r->target);
	free(r);
}

/* Requests. */

static void
refuse(struct http_server *s, struct evhttp_request *of, int status,
    const char *text)
{
	const struct http_answer answer = { .status = status };
	struct buf body;

	s->refused_total++;
	buf_init(&body);
	buf_adds(&body, text);
	send_answer(of, &answer,
	    evhttp_request_get_command(of) == EVHTTP_REQ_HEAD, &body);
}

/* Returns true if it has answered the request. */
static bool
is_refused(const struct place *p, struct evhttp_request *of)
{
	enum evhttp_cmd_type method = evhttp_request_get_command(of);
	const char *host =
	    evhttp_find_header(evhttp_request_get_input_headers(of), "Host");

	if (method != EVHTTP_REQ_GET && method != EVHTTP_REQ_HEAD) {
		refuse(p->server, of, HTTP_BADMETHOD,
		    "only GET and HEAD are supported\n");
		return true;
	}
	if (!p->loopback || host == NULL || http_host_is_local(host))
		return false;
	refuse(p->server, of, 403,
	    "this address serves this host only: use localhost\n");
	return true;
}

static void
set_peer(struct http_request *r, struct evhttp_connection *c)
{
	char *host = NULL;
	uint16_t port = 0;

	evhttp_connection_get_peer(c, &host, &port);
	if (host != NULL)
		snprintf(r->peer, sizeof(r->peer),
		    strchr(host, ':') ? "[%s]:%u" : "%s:%u", host,
		    (unsigned)port);
}

/*
 * evhttp takes //NAME for a host, but in a request it is none.  Only if the
 * client names a host, as it does with a proxy, do we use the path that evhttp
 * found.
 */
static void
set_target(struct open_request *r, struct evhttp_request *of)
{
	const struct evhttp_uri *uri = evhttp_request_get_evhttp_uri(of);
	const char *target = evhttp_request_get_uri(of), *path, *query;
	char *mark;

	if (target[0] == '/' || uri == NULL) {
		r->target = xstrdup(target);
	} else {
		path = evhttp_uri_get_path(uri);
		query = evhttp_uri_get_query(uri);
		if (path == NULL || path[0] == '\0')
			path = "/";
		r->target =
		    xmalloc(strlen(path) + (query ? strlen(query) : 0) + 2);
		(void)stpcpy(stpcpy(stpcpy(r->target, path), query ? "?" : ""),
		    query ? query : "");
	}
	r->request.path = r->target;
	mark = strchr(r->target, '?');
	if (mark == NULL)
		return;
	*mark = '\0';
	r->request.query = mark + 1;
}

static void
on_request(struct evhttp_request *of, void *arg)
{
	struct evkeyvalq *headers = evhttp_request_get_input_headers(of);
	struct evhttp_connection *c = evhttp_request_get_connection(of);
	struct place *p = arg;
	struct http_server *s = p->server;
	struct open_request *r;

	visits_asked(s->limits, evhttp_connection_get_bufferevent(c));
	if (is_refused(p, of))
		return;
	r = xcalloc(1, sizeof(*r));
	r->of = of;
	r->head = evhttp_request_get_command(of) == EVHTTP_REQ_HEAD;
	r->request.id = ++s->last_id;
	set_target(r, of);
	r->request.accept = evhttp_find_header(headers, "Accept");
	r->request.authorization = evhttp_find_header(headers, "Authorization");
	set_peer(&r->request, c);
	LIST_INSERT_HEAD(&s->requests, r, link);
	s->requests_total++;
	s->handler(s->arg, &r->request);
}

/* Life. */

static struct evhttp *
evhttp_make(struct place *p)
{
	struct evhttp *http = evhttp_new(p->server->base);

	if (http == NULL)
		abort();
	evhttp_set_max_headers_size(http, HEADERS_MAX);
	evhttp_set_max_body_size(http, BODY_MAX);
	evhttp_set_timeout(http, SILENT_S);
	/* Allow other methods, too, so that we can refuse them ourselves. */
	evhttp_set_allowed_methods(
	    http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD | EVHTTP_REQ_POST |
		      EVHTTP_REQ_PUT | EVHTTP_REQ_DELETE | EVHTTP_REQ_OPTIONS |
		      EVHTTP_REQ_TRACE | EVHTTP_REQ_CONNECT | EVHTTP_REQ_PATCH);
	evhttp_set_bevcb(http, on_accepted, p->server);
	evhttp_set_gencb(http, on_request, p);
	return http;
}

static void
add_place(struct http_server *s, const struct http_socket *socket)
{
	struct place *p = xcalloc(1, sizeof(*p));

	p->server = s;
	p->fd = socket->fd;
	p->loopback = socket->loopback;
	p->any_port = socket->any_port;
	p->http = evhttp_make(p);
	p->listener = evconnlistener_new(
	    s->base, NULL, NULL, LEV_OPT_CLOSE_ON_EXEC, 0, socket->fd);
	if (p->listener == NULL ||
	    evhttp_bind_listener(p->http, p->listener) == NULL)
		abort();
	evconnlistener_set_error_cb(p->listener, on_accept_error);
	if (s->held_back)
		(void)evconnlistener_disable(p->listener);
	LIST_INSERT_HEAD(&s->places, p, link);
	LOG(NOTICE, "listening", LOG_S("address", socket->name),
	    LOG_S("protocol", "http"));
}

bool
http_listen(
    struct http_server *s, const char *host, uint16_t port, struct buf *why)
{
	struct http_socket sockets[LISTEN_SOCKETS];
	size_t i, n = http_sockets(sockets, host, port, why);

	for (i = 0; i < n; i++)
		add_place(s, &sockets[i]);
	return n > 0;
}

void
http_hold_back(struct http_server *s, bool hold)
{
	s->held_back = hold;
	on_room(s, !hold);
}

void
http_hand_over(const struct http_server *s, struct handed_list *out)
{
	const struct place *p;

	LIST_FOREACH (p, &s->places, link)
		handed_add(out, HANDED_HTTP, p->any_port, p->fd);
}

/*
 * The listeners belong to evhttp, which still has requests to answer.  Without
 * a callback none of them can be enabled again.
 */
void
http_stop_listening(struct http_server *s)
{
	struct place *p;

	LIST_FOREACH (p, &s->places, link) {
		if (p->fd < 0)
			continue;
		(void)evconnlistener_disable(p->listener);
		evconnlistener_set_cb(p->listener, NULL, NULL);
		(void)close(p->fd);
		p->fd = -1;
	}
}

bool
http_is_open(const struct http_server *s)
{
	const struct place *p;

	LIST_FOREACH (p, &s->places, link)
		if (!p->loopback)
			return true;
	return false;
}

void
http_stats(const struct http_server *s, struct http_stats *out)
{
	out->requests = s->requests_total;
	out->refused = s->refused_total;
	out->dropped = visits_dropped(s->limits);
	out->connections = visits_count(s->limits);
}

struct http_server *
http_new(struct event_base *base, http_handler *handler, void *arg)
{
	struct http_server *s = xcalloc(1, sizeof(*s));

	s->base = base;
	s->handler = handler;
	s->arg = arg;
	LIST_INIT(&s->places);
	LIST_INIT(&s->requests);
	s->limits = visits_new(base, HTTP_CONNECTIONS, on_room, s);
	return s;
}

void
http_free(struct http_server *s)
{
	struct open_request *r;
	struct place *p;

	if (s == NULL)
		return;
	while ((r = LIST_FIRST(&s->requests)) != NULL) {
		LIST_REMOVE(r, link);
		/* If its connection is gone, only we own the request. */
		if (evhttp_request_get_connection(r->of) == NULL)
			evhttp_request_free(r->of);
		free(r->target);
		free(r);
	}
	while ((p = LIST_FIRST(&s->places)) != NULL) {
		LIST_REMOVE(p, link);
		evhttp_free(p->http);
		if (p->fd >= 0)
			(void)close(p->fd);
		free(p);
	}
	visits_free(s->limits);
	free(s);
}
