/*
 * HTTP for monitoring: GET and HEAD, one request a connection.
 *
 *	socket --> evhttp --> handler->request --> http_answer() --> evhttp
 *	              ^
 *	              limits.c: how many, for how long
 *
 * evhttp reads requests and writes answers, a piece at a time.  What it does
 * not bound is bounded here: how many connections there are, how long a
 * request takes to arrive and an answer to be read.  It knows nothing of the
 * broker: what is asked for, and by whom, is the handler's.
 */
#ifndef LOCKBROKER_HTTP_SERVER_H
#define LOCKBROKER_HTTP_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

struct event_base;
struct http_server;

/*
 * What the server may need beside descriptors for HTTP_CONNECTIONS: for those
 * that are on their way out, and to listen.
 */
#define HTTP_CONNECTIONS 64
#define HTTP_DESCRIPTORS (2 * HTTP_CONNECTIONS)

/* One request.  The server's; good until it is answered. */
struct http_request {
	uint64_t id;		   /* never used again */
	const char *path;	   /* as it was sent: with its %XX */
	const char *query;	   /* behind the '?'; NULL: none */
	const char *accept;	   /* of these headers; NULL: not there */
	const char *authorization; /* a secret may be in it */
	char peer[64];		   /* 10.0.0.7:5512 */
};

/*
 * Called for each request that is understood and allowed.  It is answered with
 * http_answer(), at once or later: then by its id, see http_find().
 */
typedef void http_handler(void *arg, const struct http_request *r);

struct http_server *http_new(
    struct event_base *base, http_handler *handler, void *arg);

/* What is not answered is not answered; the handler is not called. */
void http_free(struct http_server *s);

/*
 * Opens a place to listen on, and logs it.  At a loopback address, requests
 * whose Host is any other name are refused: a web page must not reach the
 * broker by a name that it has made to point here.  False: why says what failed.
 */
bool http_listen(struct http_server *s, const char *host, uint16_t port,
    struct buf *why) __attribute__((warn_unused_result));

/* Can be reached from other machines. */
bool http_is_open(const struct http_server *s);

/* NULL when it was answered. */
const struct http_request *http_find(const struct http_server *s, uint64_t id);

/* Every answer has these, and Connection: close. */
#define HTTP_HEADERS(HEADER)                        \
	HEADER("X-Content-Type-Options", "nosniff") \
	HEADER("Cache-Control", "no-store")         \
	HEADER("Referrer-Policy", "no-referrer")    \
	HEADER("X-Frame-Options", "DENY")           \
	HEADER("Cross-Origin-Resource-Policy", "same-origin")

/* An answer. */
struct http_answer {
	int status;	    /* 200, 404, ... */
	const char *type;   /* Content-Type; NULL: text/plain in UTF-8 */
	const char *policy; /* Content-Security-Policy; NULL: nothing at all */
	bool challenge;	    /* 401: a name and a password are wanted */
};

/* Takes what is in the body; HEAD is told its length alone. */
void http_answer(struct http_server *s, uint64_t id,
    const struct http_answer *answer, struct buf *body);

/* Counters since the start. */
struct http_stats {
	uint64_t requests; /* that the handler was given */
	uint64_t refused;  /* by the server: methods, hosts */
	uint64_t dropped;  /* connections: too slow, or there were too many */
	unsigned connections; /* that are open */
};

void http_stats(const struct http_server *s, struct http_stats *out);

#endif
