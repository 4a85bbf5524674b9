/*
 * How many HTTP connections there are, and for how long.
 *
 * evhttp drops a client that is silent, but not one that sends a byte now and
 * then (slowloris), nor has it a bound on their number.  So each connection is
 * a `visit` here from the moment it is accepted: it has so long for its
 * request, and then so long to be answered and to read that.  Whoever takes
 * longer is cut off.
 *
 * There is no word of evhttp's when it closes a connection; so a visit keeps a
 * reference to the bufferevent, and looks whether evhttp has taken its
 * callbacks away, which is what freeing it begins with.
 */
#ifndef LOCKBROKER_HTTP_LIMITS_H
#define LOCKBROKER_HTTP_LIMITS_H

#include <stdbool.h>
#include <stdint.h>

struct bufferevent;
struct event_base;
struct limits;

#define LIMITS_REQUEST_MS 5000 /* from the connection to its whole request */
#define LIMITS_ANSWER_MS 20000 /* from there to the last byte of the answer */

/* room: there is room again, or not: whether to accept any more. */
struct limits *limits_new(struct event_base *base, unsigned most,
    void (*room)(void *arg, bool room), void *arg);
void limits_free(struct limits *l);

/* A connection was accepted. */
void limits_came(struct limits *l, struct bufferevent *bev);

/* Its request is whole. */
void limits_asked(struct limits *l, struct bufferevent *bev);

unsigned limits_count(const struct limits *l);
uint64_t limits_dropped(const struct limits *l);

#endif
