/*
 * There is one thread for each host that is being looked up, however many
 * callers ask for it, and however often they give up meanwhile: a name service
 * that does not answer costs at most one thread for each configured host.
 *
 *	struct lookup   one caller; belongs to the loop
 *	struct query    the work of a thread; belongs to the thread until that
 *	                has written its address into the pipe, and to the loop
 *	                from then on.  Its list of lookups is always the loop's.
 *
 * Freeing the resolver closes the reading end: a thread that ends later gets
 * EPIPE and frees its query.
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
#include <sys/queue.h>
#include <unistd.h>

#include "base/xmalloc.h"
#include "redis/resolve.h"

struct lookup {
	LIST_ENTRY(lookup) entry; /* in query.lookups */
	resolve_done *done;
	void *arg;
};

struct query {
	char *host;
	int fd; /* the thread's own duplicate of the writing end */
	struct resolved result;
	const char *why;
	LIST_ENTRY(query) entry;     /* in resolver.queries; the loop's */
	LIST_HEAD(, lookup) lookups; /* the loop's */
};

struct resolver {
	int fds[2];
	struct event *readable;
	LIST_HEAD(, query) queries; /* under way */
};

static void
query_free(struct query *q)
{
	close(q->fd);
	free(q->host);
	free(q);
}

static void
add_address(struct query *q, const struct sockaddr *sa)
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
	if (inet_ntop(sa->sa_family, address, q->result.text[q->result.n],
		INET6_ADDRSTRLEN))
		q->result.n++;
}

static void *
query_run(void *arg)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM };
	struct addrinfo *list = NULL, *ai;
	struct query *q = arg;
	ssize_t n;
	int rc;

	rc = getaddrinfo(q->host, NULL, &hints, &list);
	if (rc != 0)
		q->why = gai_strerror(rc);
	for (ai = rc == 0 ? list : NULL;
	     ai != NULL && q->result.n < RESOLVED_MAX; ai = ai->ai_next)
		add_address(q, ai->ai_addr);
	if (list != NULL)
		freeaddrinfo(list);
	do
		n = write(q->fd, &q, sizeof(q));
	while (n < 0 && errno == EINTR);
	if (n < 0)
		query_free(q);
	return NULL;
}

/* A callback may cancel other lookups, or start new ones. */
static void
on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct lookup *l;
	struct query *q;

	(void)what;
	(void)arg;
	/* Writes of this size to a pipe are atomic. */
	if (read(fd, &q, sizeof(q)) != (ssize_t)sizeof(q))
		return;
	LIST_REMOVE(q, entry);
	while ((l = LIST_FIRST(&q->lookups)) != NULL) {
		LIST_REMOVE(l, entry);
		l->done(l->arg, q->result.n > 0 ? &q->result : NULL,
		    q->why ? q->why : "no address");
		free(l);
	}
	query_free(q);
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

/* Drops all lookups without calling back; the threads still have their
 * queries. */
static void
forget_queries(struct resolver *r)
{
	struct lookup *l;
	struct query *q;

	while ((q = LIST_FIRST(&r->queries)) != NULL) {
		LIST_REMOVE(q, entry);
		while ((l = LIST_FIRST(&q->lookups)) != NULL) {
			LIST_REMOVE(l, entry);
			free(l);
		}
	}
}

void
resolver_free(struct resolver *r)
{
	struct query *q;

	if (r == NULL)
		return;
	event_free(r->readable);
	forget_queries(r);
	while (read(r->fds[0], &q, sizeof(q)) == (ssize_t)sizeof(q))
		query_free(q);
	close(r->fds[0]);
	close(r->fds[1]);
	free(r);
}

/* Blocks all signals in the new thread: they are the main thread's. */
static bool
thread_start(struct query *q)
{
	sigset_t all, old;
	pthread_attr_t attr;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	pthread_attr_init(&attr);
	pthread_attr_setdetachstate(&attr, PTHREAD_CREATE_DETACHED);
	rc = pthread_create(&thread, &attr, query_run, q);
	pthread_attr_destroy(&attr);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return rc == 0;
}

static struct query *
query_start(struct resolver *r, const char *host)
{
	struct query *q = xcalloc(1, sizeof(*q));

	q->host = xstrdup(host);
	LIST_INIT(&q->lookups);
	q->fd = fcntl(r->fds[1], F_DUPFD_CLOEXEC, 3);
	if (q->fd >= 0 && thread_start(q)) {
		LIST_INSERT_HEAD(&r->queries, q, entry);
		return q;
	}
	if (q->fd >= 0)
		close(q->fd);
	free(q->host);
	free(q);
	return NULL;
}

static struct query *
query_find(const struct resolver *r, const char *host)
{
	struct query *q;

	/* There is one query for each host that is being looked up. */
	LIST_FOREACH (q, &r->queries, entry)
		if (strcmp(q->host, host) == 0)
			return q;
	return NULL;
}

struct lookup *
resolver_start(
    struct resolver *r, const char *host, resolve_done *done, void *arg)
{
	struct query *q = query_find(r, host);
	struct lookup *l;

	if (q == NULL)
		q = query_start(r, host);
	if (q == NULL)
		return NULL;
	l = xcalloc(1, sizeof(*l));
	l->done = done;
	l->arg = arg;
	LIST_INSERT_HEAD(&q->lookups, l, entry);
	return l;
}

void
resolver_cancel(struct lookup *l)
{
	LIST_REMOVE(l, entry);
	free(l);
}
