/*
 * How many HTTP connections there are, and for how long.
 *
 * evhttp drops an idle client, but not one that sends a byte now and then
 * (slowloris), nor does it limit the number of clients.  So each connection is
 * a `visit` here from the moment it is accepted: there is a time limit for its
 * request, and another one for the answer to be made and read.  A connection
 * that takes longer is cut off.
 *
 * evhttp does not report that it closes a connection.  So a visit keeps a
 * reference to the bufferevent, and checks whether evhttp has removed its
 * callbacks, which is its first step in freeing it.
 */
#ifndef LOCKBROKER_HTTP_VISITS_H
#define LOCKBROKER_HTTP_VISITS_H

#include <stdbool.h>
#include <stdint.h>

struct bufferevent;
struct event_base;
struct visits;

#define VISITS_REQUEST_MS 5000 /* from the connection to its complete request */
#define VISITS_ANSWER_MS 20000 /* from then to the last byte of the answer */

/* Calls room() to say whether to accept more connections from now on. */
struct visits *visits_new(struct event_base *base, unsigned most,
    void (*room)(void *arg, bool room), void *arg);
void visits_free(struct visits *l);

/* To be called when a connection was accepted. */
void visits_came(struct visits *l, struct bufferevent *bev);

/* To be called when its request is complete. */
void visits_asked(struct visits *l, struct bufferevent *bev);

unsigned visits_count(const struct visits *l);
uint64_t visits_dropped(const struct visits *l);

#endif
