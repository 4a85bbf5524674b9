/*
 * A look-up belongs to its thread until the thread has written its address
 * into the pipe; from then on to the loop.  A resolver that is freed closes
 * the reading end: a thread that ends later gets EPIPE and frees the look-up.
 */
#include "config.h"

#include <arpa/inet.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <netdb.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "redis/resolve.h"

struct lookup {
	char *host;
	int fd; /* the thread's own duplicate of the writing end */
	struct resolved result;
	const char *why;
	resolve_done *done; /* only the loop looks at these two; */
	void *arg;	    /* done is NULL when cancelled */
};

struct resolver {
	int fds[2];
	struct event *readable;
};

static void
lookup_free(struct lookup *l)
{
	close(l->fd);
	free(l->host);
	free(l);
}

static void
lookup_add(struct lookup *l, const struct sockaddr *sa)
{
	const void *address;

	if (sa->sa_family == AF_INET)
		address =
		    &((const struct sockaddr_in *)(const void *)sa)->sin_addr;
	else if (sa->sa_family == AF_INET6)
		address =
		    &((const struct sockaddr_in6 *)(const void *)sa)->sin6_addr;
	else
		return;
	if (inet_ntop(sa->sa_family, address, l->result.text[l->result.n],
		INET6_ADDRSTRLEN))
		l->result.n++;
}

static void *
lookup_run(void *arg)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL, *ai;
	struct lookup *l = arg;
	ssize_t n;
	int rc;

	rc = getaddrinfo(l->host, NULL, &hints, &list);
	if (rc != 0)
		l->why = gai_strerror(rc);
	for (ai = rc == 0 ? list : NULL; ai && l->result.n < RESOLVED_MAX;
	     ai = ai->ai_next)
		lookup_add(l, ai->ai_addr);
	if (list)
		freeaddrinfo(list);
	do
		n = write(l->fd, &l, sizeof(l));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		lookup_free(l);
	return NULL;
}

static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct lookup *l;

	(void)what;
	(void)arg;
	/* A pipe keeps writes of this size whole. */
	if (read(fd, &l, sizeof(l)) != (ssize_t)sizeof(l))
		return;
	if (l->done)
		l->done(l->arg, l->result.n > 0 ? &l->result : NULL,
		    l->why ? l->why : "no address");
	lookup_free(l);
}

struct resolver *
resolver_new(struct event_base *base)
{
	struct resolver *r = xcalloc(1, sizeof(*r));

	if (pipe2(r->fds, O_CLOEXEC) < 0)
		abort();
	(void)fcntl(r->fds[0], F_SETFL, O_NONBLOCK);
	r->readable =
	    event_new(base, r->fds[0], EV_READ | EV_PERSIST, on_readable, r);
	if (!r->readable || event_add(r->readable, NULL) < 0)
		abort();
	return r;
}

void
resolver_free(struct resolver *r)
{
	struct lookup *l;

	if (!r)
		return;
	event_free(r->readable);
	while (read(r->fds[0], &l, sizeof(l)) == (ssize_t)sizeof(l))
		lookup_free(l);
	close(r->fds[0]);
	close(r->fds[1]);
	free(r);
}

/* All signals are the main thread's. */
static bool
thread_start(struct lookup *l)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, lookup_run, l);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0;
}

struct lookup *
resolver_start(
    struct resolver *r, const char *host, resolve_done *done, void *arg)
{
	struct lookup *l = xcalloc(1, sizeof(*l));

	l->host = xstrdup(host);
	l->done = done;
	l->arg = arg;
	l->fd = fcntl(r->fds[1], F_DUPFD_CLOEXEC, 3);
	if (l->fd >= 0 && thread_start(l))
		return l;
	if (l->fd >= 0)
		close(l->fd);
	free(l->host);
	free(l);
	return NULL;
}

void
resolver_cancel(struct lookup *l)
{
	l->done = NULL;
}
