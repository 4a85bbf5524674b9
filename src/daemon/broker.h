/*
 * The bridge: the one place where the core, the clients and Redis meet.
 *
 *	front --request--> handlers.c --event--> core --effects--+
 *	redis --outcome-------------- event --> core --effects--+
 *	                                                        v
 *	   replies and events to the front <--- broker.c ---> operations to redis
 *
 * It decides nothing.  What happens within one turn of the loop leaves
 * together: the operations in one write to each Redis connection, then the
 * replies in one write to each client.
 */
#ifndef LOCKBROKER_DAEMON_BROKER_H
#define LOCKBROKER_DAEMON_BROKER_H

#include <stdbool.h>
#include <stddef.h>

struct broker;
struct buf;
struct config;
struct event_base;

/* The config must outlive the broker.  NULL (and a log line) on failure. */
struct broker *broker_new(struct event_base *base, const struct config *config);
void broker_free(struct broker *b);

/*
 * Opens what the configuration says, and takes the `n` sockets from `first`
 * on that systemd passed; then begins to connect to Redis.  False, and a log
 * line, on failure.
 */
bool broker_listen(struct broker *b, int first, size_t n)
    __attribute__((warn_unused_result));

/*
 * Are clients accepted already?  The embedded Redis is waited for, a moment:
 * who connects meanwhile is not told that it isn't there, but waits, too.
 */
bool broker_accepts(const struct broker *b);

/* Call after every round of events: ends the turn. */
void broker_turn(struct broker *b);

/* The configuration has changed, in what may change. */
void broker_reload(struct broker *b, const struct config *config);

/* Releases everything and tells everybody; then wait for broker_stopped. */
void broker_stop(struct broker *b);
bool broker_stopped(const struct broker *b);

bool broker_stopping(const struct broker *b);

/* It can't go on at all; the log says why. */
bool broker_failed(const struct broker *b);

/* One line for people: `Redis up, 17 locks held, 3 waiters`. */
void broker_status(struct broker *b, struct buf *out);

#endif
