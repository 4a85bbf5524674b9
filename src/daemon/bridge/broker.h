/*
 * The bridge: the one place where the core, the clients and Redis meet.
 *
 *	front --request--> handlers.c --event--> core --effects--+
 *	redis --outcome-------------- event --> core --effects--+
 *	                                                        v
 *	   replies and events to the front <--- broker.c ---> operations to redis
 *
 * The bridge decides nothing.  The output of one turn of the loop leaves
 * together: the operations in one write to each Redis connection, then the
 * replies in one write to each client.
 */
#ifndef LOCKBROKER_DAEMON_BRIDGE_BROKER_H
#define LOCKBROKER_DAEMON_BRIDGE_BROKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct broker;
struct buf;
struct config;
struct event_base;
struct systemd;
struct upgrade;
struct users;

/*
 * Returns NULL, and logs why, on failure.  The config must outlive the broker.
 */
struct broker *broker_new(struct event_base *base, const struct config *config,
    struct systemd *notify);
void broker_free(struct broker *b);

/*
 * Opens the places of the configuration, and takes the `n` sockets from `first`
 * on that systemd passed; then begins to connect to Redis.  On failure it logs
 * why and returns false.
 */
bool broker_listen(struct broker *b, int first, size_t n)
    __attribute__((warn_unused_result));

/*
 * Does the broker accept clients already?  It waits a moment for an embedded
 * Redis: clients that connect meanwhile wait, too, instead of hearing that
 * Redis isn't there.
 */
bool broker_accepts(const struct broker *b);

/* Lets clients in once that moment is over, or Redis is there. */
void broker_accept_when_ready(struct broker *b);

/* Ends the turn.  To be called after every round of events.  Returns true if
 * Redis owes an answer. */
bool broker_turn(struct broker *b);

/*
 * Takes the settings that may change from the changed configuration.  Frees
 * `was`, its previous users, once no client points to them any more.  Returns
 * true if certificates are read again, too.
 */
bool broker_reload(
    struct broker *b, const struct config *config, struct users *was);

/* The process that replaces it, and those that it has replaced; never NULL. */
struct upgrade *broker_succession(const struct broker *b);

/* Has new clients wait as long as this is on. */
void broker_hold_back(struct broker *b, bool hold);

/*
 * The sockets are this process' alone from now on: it accepts clients.  Until
 * then it only listens, if another process is to hand over to it.
 */
void broker_take_over(struct broker *b);

/*
 * There is a successor: serves the present clients until they go.  may_return:
 * keeps its places, without accepting, until broker_return_no_more() or
 * broker_return().
 */
void broker_leave(struct broker *b, bool may_return);
void broker_return_no_more(struct broker *b);
/* The successor has ended: this process is the broker again. */
void broker_return(struct broker *b);
/* The old process has left a moment ago: takes over its token holds. */
void broker_inherit(struct broker *b);

/*
 * The process that is to take over has taken some of the sockets that were
 * handed to it: the others are kept, and also accept while this process leaves,
 * which it does not do as long as there are any.  Those of HTTP are kept
 * together, to the end of this process.
 *
 * broker_give_up_places(): closes all that are not kept.
 */
struct handed_list;
void broker_keep(
    struct broker *b, const struct handed_list *list, const bool *taken);
void broker_give_up_places(struct broker *b);

/* Closes all places; all but Unix sockets; and opens them again, or says in
 * `why` which one cannot be opened, and leaves them closed. */
void broker_close_places(struct broker *b);
void broker_local_only(struct broker *b);
bool broker_listen_again(struct broker *b, struct buf *why)
    __attribute__((warn_unused_result));

/*
 * Without a successor: takes no more clients, turns away clients that hold
 * nothing, and serves the others.  broker_left(): nothing is held any more (and
 * if there is a successor, nobody is connected), or broker.leave is over; then
 * stop.
 *
 * broker_drain_no_more(): it is the broker again, or leaves as before; on false
 * it drains as before, and `why` says why.
 */
void broker_drain(struct broker *b);
bool broker_drain_no_more(struct broker *b, struct buf *why)
    __attribute__((warn_unused_result));
/* How long it would serve clients that hold something, or still does; 0:
 * without end, or no longer. */
int64_t broker_leave_left_ms(const struct broker *b);
/* Is there a successor? */
bool broker_leaving(const struct broker *b);
bool broker_left(const struct broker *b);
void broker_tell_left(struct broker *b); /* to the log */

/*
 * Releases all names and tells all clients; then wait for broker_stopped().
 */
void broker_stop(struct broker *b);
bool broker_stopped(const struct broker *b);

/* The broker cannot go on at all; the log says why. */
bool broker_failed(const struct broker *b);

/* Adds one line for users: `Redis up, 17 locks held, 3 waiters`. */
void broker_status(struct broker *b, struct buf *out);

/* Counts for the log when the broker begins to stop. */
struct broker_counts {
	uint64_t sessions, locks, waiters;
	uint64_t holds; /* locks and permits that a drain waits for */
};

struct broker_counts broker_counts(struct broker *b);

/* Writes why new locks cannot be granted, and since when.  Requires that the
 * broker is not ready. */
struct core_gauges;
void broker_why(const struct core_gauges *gauges, struct buf *out);
/* The same moment in ms since 1970. */
int64_t broker_paused_since_ms(const struct core_gauges *gauges);

#endif
