/*
 * Resolves names without stopping the loop: getaddrinfo(3) runs in a thread for
 * each host that is being looked up, so that /etc/hosts, nsswitch and search
 * domains count as everywhere else.  Callers that ask for the same host
 * meanwhile share the answer.
 */
#ifndef LOCKBROKER_REDIS_RESOLVE_H
#define LOCKBROKER_REDIS_RESOLVE_H

#include <netinet/in.h>

#define RESOLVED_MAX 8

/* The numeric addresses of a host, in the order to try them. */
struct resolved {
	unsigned n;
	char text[RESOLVED_MAX][INET6_ADDRSTRLEN];
};

struct event_base;
struct lookup;
struct resolver;

/* result is NULL, with a reason, if the name was not found. */
typedef void resolve_done(
    void *arg, const struct resolved *result, const char *why);

struct resolver *resolver_new(struct event_base *base);

/* Lookups under way are abandoned: nobody is called back. */
void resolver_free(struct resolver *r);

/*
 * Calls back once from the loop, unless cancelled before.  Returns NULL, and
 * never calls back, if no thread could be started.
 */
struct lookup *resolver_start(
    struct resolver *r, const char *host, resolve_done *done, void *arg);
void resolver_cancel(struct lookup *lookup);

#endif
