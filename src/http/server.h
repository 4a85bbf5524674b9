/*
 * HTTP for monitoring: GET and HEAD, one request a connection.
 *
 *	socket --> evhttp --> handler->request --> http_answer() --> evhttp
 *	              ^
 *	              visits.c: how many, for how long
 *
 * evhttp reads requests and writes answers, a piece at a time.  The server
 * bounds what evhttp does not: how many connections there are, and how long a
 * request may take to arrive and an answer to be read.  It knows nothing of the
 * broker: the handler decides what is asked for, and by whom.
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
 * Descriptors that the server may need beyond HTTP_CONNECTIONS: for connections
 * on their way out, and to listen.
 */
#define HTTP_CONNECTIONS 64
#define HTTP_DESCRIPTORS (2 * HTTP_CONNECTIONS)

/* One request.  Owned by the server, and valid until its answer. */
struct http_request {
	uint64_t id;		   /* never used for another request */
	const char *path;	   /* as it was sent, with its %XX */
	const char *query;	   /* after the '?'; NULL: none */
	const char *accept;	   /* from a header; NULL: it is missing */
	const char *authorization; /* from a header; it may have a secret */
	char peer[64];		   /* 10.0.0.7:5512 */
};

/*
 * Called for each well-formed and allowed request.  It must be answered with
 * http_answer(), at once or later by its id: see http_find().
 */
typedef void http_handler(void *arg, const struct http_request *r);

struct http_server *http_new(
    struct event_base *base, http_handler *handler, void *arg);

/* Open requests get no answer, and the handler is not called. */
void http_free(struct http_server *s);

/*
 * Opens a place to listen on, and logs it.  At a loopback address, it refuses
 * requests whose Host is any other name: a web page must not reach the broker
 * by a name that was pointed here.  On false, `why` says what failed.
 */
bool http_listen(struct http_server *s, const char *host, uint16_t port,
    struct buf *why) __attribute__((warn_unused_result));

/* Clients that come while it is held back wait. */
void http_hold_back(struct http_server *s, bool hold);

/* Adds the sockets to what is handed to another process. */
void http_hand_over(const struct http_server *s, struct handed_list *out);

/* Requests that have come are still answered. */
void http_stop_listening(struct http_server *s);

/* Can other machines reach it? */
bool http_is_open(const struct http_server *s);

/* Returns NULL if the request was answered. */
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
