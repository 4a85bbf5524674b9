/*
 * See lookup.h.  A lookup belongs to its list and, while it runs, to its
 * thread; the last of the two to let go frees it.
 */
#include "config.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/now.h"
#include "base/times.h"
#include "base/xmalloc.h"
#include "client/lookup.h"

/* The interval at which it looks at the clock and at `stop`. */
#define SLICE_MS 100

struct lookup {
	LIST_ENTRY(lookup) link;
	char *host;
	char port[8];
	pthread_mutex_t mutex; /* protects the members below */
	pthread_cond_t changed;
	unsigned users;
	bool done;
	int rc;
	struct addrinfo *list;
};

static void
let_go(struct lookup *l)
{
	unsigned left;

	(void)pthread_mutex_lock(&l->mutex);
	left = --l->users;
	(void)pthread_mutex_unlock(&l->mutex);
	if (left > 0)
		return;
	if (l->list != NULL)
		freeaddrinfo(l->list);
	(void)pthread_cond_destroy(&l->changed);
	(void)pthread_mutex_destroy(&l->mutex);
	free(l->host);
	free(l);
}

static void *
look(void *arg)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *list = NULL;
	struct lookup *l = arg;
	int rc = getaddrinfo(l->host, l->port, &hints, &list);

	(void)pthread_mutex_lock(&l->mutex);
	l->rc = rc;
	l->list = rc == 0 ? list : NULL;
	l->done = true;
	(void)pthread_cond_signal(&l->changed);
	(void)pthread_mutex_unlock(&l->mutex);
	let_go(l);
	return NULL;
}

/* Signals are for the thread that waits. */
static bool
start(struct lookup *l)
{
	sigset_t all, before;
	pthread_t thread;
	int rc;

	sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&thread, NULL, look, l);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		(void)pthread_detach(thread);
	return rc == 0;
}

/* Finds the lookup of this host under way, or begins one. */
static struct lookup *
find(struct lookups *all, const struct address *a)
{
	struct lookup *l;
	char port[sizeof(l->port)];

	snprintf(port, sizeof(port), "%u", (unsigned)a->port);
	LIST_FOREACH (l, all, link)
		if (strcmp(l->host, a->host) == 0 && strcmp(l->port, port) == 0)
			return l;
	l = xcalloc(1, sizeof(*l));
	l->host = xstrdup(a->host);
	memcpy(l->port, port, sizeof(port));
	(void)pthread_mutex_init(&l->mutex, NULL);
	(void)pthread_cond_init(&l->changed, NULL);
	l->users = 2;
	LIST_INSERT_HEAD(all, l, link);
	if (!start(l)) {
		l->rc = EAI_MEMORY;
		l->done = true;
		l->users = 1;
	}
	return l;
}

static bool
await(struct lookup *l, int64_t deadline_ms, const volatile sig_atomic_t *stop,
    int64_t *stood_ms)
{
	struct timespec until;
	int64_t due_ms;
	bool done;

	(void)pthread_mutex_lock(&l->mutex);
	while (!l->done && now_ms() - *stood_ms < deadline_ms &&
	       (stop == NULL || *stop == 0)) {
		due_ms = now_ms() + SLICE_MS;
		(void)clock_gettime(CLOCK_MONOTONIC, &until);
		until.tv_nsec += SLICE_MS * 1000000L;
		until.tv_sec += until.tv_nsec / 1000000000L;
		until.tv_nsec %= 1000000000L;
		(void)pthread_cond_clockwait(
		    &l->changed, &l->mutex, CLOCK_MONOTONIC, &until);
		*stood_ms += still_ms(now_ms() - due_ms);
	}
	done = l->done;
	(void)pthread_mutex_unlock(&l->mutex);
	return done;
}

/* For a numeric address, which needs no name server. */
static int
lookup_numeric(const struct address *a, struct addrinfo **list)
{
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM,
		.ai_flags = AI_NUMERICHOST | AI_NUMERICSERV };
	char port[8];

	snprintf(port, sizeof(port), "%u", (unsigned)a->port);
	return getaddrinfo(a->host, port, &hints, list);
}

int
lookup_host(struct lookups *all, const struct address *a, int64_t deadline_ms,
    const volatile sig_atomic_t *stop, int64_t *stood_ms,
    struct addrinfo **list)
{
	struct lookup *l;
	int rc;

	if (lookup_numeric(a, list) == 0)
		return 0;
	l = find(all, a);
	if (!await(l, deadline_ms, stop, stood_ms))
		return LOOKUP_LATE;
	rc = l->rc;
	*list = l->list;
	l->list = NULL;
	LIST_REMOVE(l, link);
	let_go(l);
	return rc;
}

void
lookup_forget(struct lookups *all)
{
	struct lookup *l;

	while ((l = LIST_FIRST(all)) != NULL) {
		LIST_REMOVE(l, link);
		let_go(l);
	}
}
