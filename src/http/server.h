/*
 * HTTP for monitoring: GET and HEAD, one request a connection.
 *
 *	socket --> evhttp --> handler->request --> http_answer() --> evhttp
 *	              ^
 *	              visits.c: how many, for how long
 *
 * evhttp reads requests and writes answers, a piece at a time.  The server
 * enforces the limits that evhttp lacks: the number of connections, the time
 * for a request to arrive, and the time for an answer to be read.  It knows
 * nothing of the broker: the handler interprets the request and identifies its
 * user.
 */
#ifndef LOCKBROKER_HTTP_SERVER_H
#define LOCKBROKER_HTTP_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/handed.h"

struct event_base;
struct http_server;

/*
 * Descriptors that the server may need in addition to HTTP_CONNECTIONS: for
 * closing connections, and to listen.
 */
#define HTTP_CONNECTIONS 64
#define HTTP_DESCRIPTORS (2 * HTTP_CONNECTIONS)

/* One request.  Owned by the server, and valid until its answer. */
struct http_request {
	uint64_t id;		   /* never used for another request */
	const char *path;	   /* as sent, with its %XX */
	const char *query;	   /* after the '?'; NULL: none */
	const char *accept;	   /* header; NULL: missing */
	const char *authorization; /* header; it may hold a secret */
	char peer[64];		   /* 10.0.0.7:5512 */
};

/*
 * Called for each well-formed and allowed request.  It must be answered with
 * http_answer(), at once or later by its id: see http_find().
 */
typedef void http_handler(void *arg, const struct http_request *r);

struct http_server *http_new(
    struct event_base *base, http_handler *handler, void *arg);

/* Open requests get no answer, and the handler is not called again. */
void http_free(struct http_server *s);

/*
 * Opens a listener, and logs it.  At a loopback address, it refuses requests
 * whose Host is any other name: a web page must not reach the broker by a name
 * that was pointed here.  On false, `why` says what failed.
 */
bool http_listen(struct http_server *s, const char *host, uint16_t port,
    struct buf *why) __attribute__((warn_unused_result));

/* While the server is held back, new clients wait. */
void http_hold_back(struct http_server *s, bool hold);

/* Adds the sockets to those that are handed to another process. */
void http_hand_over(const struct http_server *s, struct handed_list *out);

/* Requests received before are still answered. */
void http_stop_listening(struct http_server *s);

/* Can other machines reach it? */
bool http_is_open(const struct http_server *s);

/* Returns NULL if the request was answered. */
const struct http_request *http_find(const struct http_server *s, uint64_t id);

/* The headers of every answer, with Connection: close. */
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
	const char *policy; /* Content-Security-Policy; NULL: allows nothing */
	bool challenge;	    /* 401: asks for a name and a password */
};

/*
 * Takes over the content of the body.  An answer to HEAD gets its length only.
 */
void http_answer(struct http_server *s, uint64_t id,
    const struct http_answer *answer, struct buf *body);

/* Counters since the start. */
struct http_stats {
	uint64_t requests;    /* passed to the handler */
	uint64_t refused;     /* by the server: methods, hosts */
	uint64_t dropped;     /* connections: too slow, or too many */
	unsigned connections; /* open now */
};

void http_stats(const struct http_server *s, struct http_stats *out);

#endif
