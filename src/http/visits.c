/* See visits.h. */
#include "config.h"

#include <assert.h>
#include <event2/bufferevent.h>
#include <event2/event.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/list.h"
#include "base/now.h"
#include "base/timeval.h"
#include "base/xmalloc.h"
#include "http/visits.h"

#define LOOK_MS 50

/*
 * If there are too many, at most this many are cut off: the oldest without a
 * request.
 */
#define MAKE_ROOM 16

/* A connection.  Owned by the list; it holds a reference to its bufferevent. */
struct visit {
	struct bufferevent *bev;
	int64_t until_ms; /* cut off then, by now_awake_ms() */
	bool asked;
	bool cut;
	TAILQ_ENTRY(visit) link;
};

struct visits {
	TAILQ_HEAD(, visit) visits; /* the oldest first */
	unsigned n, most;
	bool full;
	uint64_t dropped;
	struct event *look; /* every LOOK_MS if there are any */
	void (*room)(void *arg, bool room);
	void *arg;
};

/* The socket closes with the last reference. */
static void
visit_free(struct visits *l, struct visit *v)
{
	assert(l->n > 0);
	TAILQ_REMOVE(&l->visits, v, link);
	l->n--;
	(void)bufferevent_decref(v->bev);
	free(v);
}

/* Has evhttp freed the connection, except for our reference? */
static bool
is_over(const struct visit *v)
{
	bufferevent_data_cb read_cb, write_cb;
	bufferevent_event_cb event_cb;
	void *arg;

	bufferevent_getcb(v->bev, &read_cb, &write_cb, &event_cb, &arg);
	return event_cb == NULL;
}

/* Reports the end of the connection to evhttp, which frees it. */
static void
cut(struct visits *l, struct visit *v)
{
	if (v->cut)
		return;
	v->cut = true;
	l->dropped++;
	(void)shutdown(bufferevent_getfd(v->bev), SHUT_RDWR);
}

/* A new connection is about to send a request; an old one may never do so. */
static void
make_room(struct visits *l)
{
	unsigned left = MAKE_ROOM;
	struct visit *v;

	TAILQ_FOREACH (v, &l->visits, link) {
		if (v->asked || v->cut)
			continue;
		cut(l, v);
		if (--left == 0)
			break;
	}
}

static void
look(struct visits *l)
{
	int64_t at_ms = now_awake_ms();
	struct visit *v, *next;

	assert(l->most > 0);
	TAILQ_FOREACH_SAFE (v, &l->visits, link, next) {
		if (is_over(v))
			visit_free(l, v);
		else if (at_ms >= v->until_ms)
			cut(l, v);
	}
	if (l->full != (l->n >= l->most)) {
		l->full = !l->full;
		l->room(l->arg, !l->full);
	}
	if (l->full)
		make_room(l);
	if (l->n == 0)
		(void)event_del(l->look);
}

static void
on_look(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	look(arg);
}

void
visits_came(struct visits *l, struct bufferevent *bev)
{
	struct timeval tv = ms_to_timeval(LOOK_MS);
	struct visit *v = xcalloc(1, sizeof(*v));

	/*
	 * Look first: the new visit has no callbacks yet, as if it had ended.
	 */
	look(l);
	bufferevent_incref(bev);
	v->bev = bev;
	v->until_ms = now_awake_ms() + VISITS_REQUEST_MS;
	TAILQ_INSERT_TAIL(&l->visits, v, link);
	if (l->n++ == 0)
		(void)event_add(l->look, &tv);
	if (l->n >= l->most) {
		l->full = true;
		l->room(l->arg, false);
		make_room(l);
	}
}

void
visits_asked(struct visits *l, struct bufferevent *bev)
{
	struct visit *v;

	TAILQ_FOREACH (v, &l->visits, link) {
		if (v->bev != bev)
			continue;
		v->asked = true;
		v->until_ms = now_awake_ms() + VISITS_ANSWER_MS;
		return;
	}
}

unsigned
visits_count(const struct visits *l)
{
	return l->n;
}

uint64_t
visits_dropped(const struct visits *l)
{
	return l->dropped;
}

struct visits *
visits_new(struct event_base *base, unsigned most,
    void (*room)(void *arg, bool room), void *arg)
{
	struct visits *l = xcalloc(1, sizeof(*l));

	TAILQ_INIT(&l->visits);
	l->most = most;
	l->room = room;
	l->arg = arg;
	l->look = event_new(base, -1, EV_PERSIST, on_look, l);
	if (l->look == NULL)
		abort();
	return l;
}

void
visits_free(struct visits *l)
{
	struct visit *v;

	while ((v = TAILQ_FIRST(&l->visits)) != NULL)
		visit_free(l, v);
	event_free(l->look);
	free(l);
}
