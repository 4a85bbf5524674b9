/*
 * Listeners, and how clients are accepted.
 *
 * When descriptors are used up, a listening socket would be reported readable
 * again and again.  So the front keeps one descriptor in reserve: it uses this
 * one to accept one client and refuse it, and then accepts no client for a
 * tenth of a second.
 *
 * Clients beyond limits.clients are refused a few at a time: each needs a
 * descriptor until it has got the refusal, and other parts rely on free
 * descriptors.
 */
#include "config.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/log.h"
#include "base/xmalloc.h"
#include "front/front.h"
#include "front/listener.h"
#include "front/state.h"

#define ACCEPTS_PER_TURN 64
#define REFUSALS_PER_TURN 8 /* at each listener */
#define ACCEPT_AGAIN_MS 100

static void
accept_later(struct front *f)
{
	struct timeval tv = { 0, ACCEPT_AGAIN_MS * 1000 };
	struct listener *l;

	LIST_FOREACH (l, &f->listeners, link)
		(void)event_del(l->event);
	(void)event_add(f->accept_again, &tv);
}

/* Accepts clients there, or lets them wait. */
static void
arm(struct listener *l)
{
	const struct front *f = l->front;

	if (l->place < 0 && (!f->held_back || l->kept) &&
	    !(l->tcp && f->local_only))
		(void)event_add(l->event, NULL);
	else
		(void)event_del(l->event);
}

static void
accept_again(evutil_socket_t fd, short what, void *arg)
{
	struct front *f = arg;
	struct listener *l;

	(void)fd;
	(void)what;
	LIST_FOREACH (l, &f->listeners, link)
		arm(l);
}

static void
reserve(struct front *f)
{
	if (f->reserve_fd < 0)
		f->reserve_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
}

/* Uses the reserved descriptor to refuse one client. */
static void
accept_exhausted(struct listener *l, int err)
{
	static const char text[] =
	    "ERR limit the broker has no file descriptors left\r\n";
	struct front *f = l->front;
	int fd;

	if (front_is_news(&f->exhausted_ms))
		LOG(WARNING, "descriptors-exhausted",
		    LOG_S("error", strerror(err)), LOG_N("clients", f->nlive));
	accept_later(f);
	if (f->reserve_fd < 0)
		return;
	(void)close(f->reserve_fd);
	f->reserve_fd = -1;
	fd = accept4(l->fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (fd >= 0) {
		(void)send(fd, text, sizeof(text) - 1, MSG_NOSIGNAL);
		(void)shutdown(fd, SHUT_WR);
		(void)close(fd);
	}
	reserve(f);
}

/* Returns false if there was no room for the client. */
static bool
accept_one(struct listener *l, int fd)
{
	struct front *f = l->front;

	assert(fd >= 0);
	reserve(f);
	if (front_room(f)) {
		front_accepted(f, fd, l->tcp, l->proxied);
		return true;
	}
	front_reject(conn_new(f, fd, l->tcp));
	return false;
}

static void
listener_ready(evutil_socket_t fd, short what, void *arg)
{
	struct listener *l = arg;
	int i, client, refused = 0;

	(void)what;
	for (i = 0; i < ACCEPTS_PER_TURN && refused < REFUSALS_PER_TURN; i++) {
		if (front_may_have_room(l->front))
			return;
		client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
		if (client >= 0) {
			refused += !accept_one(l, client);
			continue;
		}
		if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS ||
		    errno == ENOMEM)
			accept_exhausted(l, errno);
		/* Otherwise no client waits, or it has gone already. */
		return;
	}
}

void
listeners_init(struct front *f)
{
	LIST_INIT(&f->listeners);
	f->reserve_fd = -1;
	reserve(f);
	f->accept_again = event_new(f->base, -1, 0, accept_again, f);
	if (!f->accept_again)
		abort();
}

void
listeners_fini(struct front *f)
{
	event_free(f->accept_again);
	if (f->reserve_fd >= 0)
		(void)close(f->reserve_fd);
}

/* Is the path still that of our socket? */
static bool
has_path(const struct listener *l)
{
	struct stat st;

	return l->path != NULL && lstat(l->path, &st) == 0 &&
	       st.st_dev == l->dev && st.st_ino == l->ino;
}

static void
listener_free(struct listener *l)
{
	if (l->event)
		event_free(l->event);
	if (!l->shared && has_path(l))
		(void)unlink(l->path);
	(void)close(l->fd);
	free(l->name);
	free(l->path);
	free(l);
}

void
front_hold_back(struct front *f, bool hold)
{
	struct listener *l;

	f->held_back = hold;
	LIST_FOREACH (l, &f->listeners, link) {
		l->kept = l->kept && hold;
		arm(l);
	}
}

void
front_keep(struct front *f, int fd)
{
	struct listener *l;

	LIST_FOREACH (l, &f->listeners, link)
		if (l->fd == fd)
			l->kept = true;
}

bool
front_keeps(const struct front *f, bool elsewhere)
{
	const struct listener *l;
	bool keeps = false;

	LIST_FOREACH (l, &f->listeners, link) {
		if ((l->place >= 0) != elsewhere)
			continue;
		if (elsewhere && !l->kept)
			return false;
		keeps = keeps || l->kept;
	}
	return keeps;
}

void
front_give_up(struct front *f)
{
	struct listener *l, *next;

	LIST_FOREACH_SAFE (l, &f->listeners, link, next)
		if (!l->kept) {
			LIST_REMOVE(l, link);
			listener_free(l);
		}
}

/* Only the service manager could open a passed socket again. */
void
front_local_only(struct front *f, bool only)
{
	struct listener *l, *next;

	f->local_only = only;
	LIST_FOREACH_SAFE (l, &f->listeners, link, next) {
		if (!only || !l->tcp || l->passed) {
			arm(l);
			continue;
		}
		LIST_REMOVE(l, link);
		listener_free(l);
	}
}

void
front_stop_listening(struct front *f)
{
	struct listener *l;

	(void)event_del(f->accept_again);
	while ((l = LIST_FIRST(&f->listeners)) != NULL) {
		LIST_REMOVE(l, link);
		listener_free(l);
	}
}

unsigned
front_listeners(const struct front *f)
{
	const struct listener *l;
	unsigned n = 0;

	LIST_FOREACH (l, &f->listeners, link)
		n++;
	return n;
}

struct listener *
listener_find(const struct front *f, const char *name)
{
	struct listener *l;

	LIST_FOREACH (l, &f->listeners, link) {
		if (strcmp(l->name, name) == 0)
			return l;
	}
	return NULL;
}

bool
front_places(
    struct front *f, bool (*fn)(void *arg, unsigned place, int fd), void *arg)
{
	struct listener *l;

	LIST_FOREACH (l, &f->listeners, link)
		if (l->place >= 0 && !fn(arg, (unsigned)l->place, l->fd))
			return false;
	return true;
}

/* A socket that its path no longer leads to is of no use to others. */
void
front_hand_over(const struct front *f, struct handed_list *out)
{
	const struct listener *l;

	LIST_FOREACH (l, &f->listeners, link)
		if (l->path == NULL || has_path(l))
			handed_add(out,
			    l->passed	    ? HANDED_PASSED
			    : l->place >= 0 ? HANDED_TLS
					    : HANDED_LINES,
			    l->any_port, l->fd);
}

void
front_share_paths(struct front *f, bool shared)
{
	struct listener *l;

	LIST_FOREACH (l, &f->listeners, link)
		l->shared = shared && !l->kept;
}

struct listener *
listener_add(struct front *f, int fd, bool tcp, char *name, char *path)
{
	struct listener *l = xcalloc(1, sizeof(*l));
	struct stat st;

	assert(fd >= 0 && name != NULL);
	l->front = f;
	l->fd = fd;
	l->tcp = tcp;
	l->name = name;
	l->path = path;
	l->place = -1;
	if (path != NULL && lstat(path, &st) == 0) {
		l->dev = st.st_dev;
		l->ino = st.st_ino;
	}
	l->event =
	    event_new(f->base, fd, EV_READ | EV_PERSIST, listener_ready, l);
	if (!l->event)
		abort();
	arm(l);
	LIST_INSERT_HEAD(&f->listeners, l, link);
	return l;
}

void
listener_tell(const struct listener *l)
{
	if (l->place < 0)
		LOG(NOTICE, "listening", LOG_S("address", l->name));
	else
		LOG(NOTICE, "listening", LOG_S("address", l->name),
		    LOG_S("protocol", "tls"));
}
