/*
 * The store of the daemon: operations in, outcomes out, over Redis.
 *
 *	redis_submit() ...   in a turn of the loop
 *	redis_flush()        at its end: everything leaves in one write for
 *	                     each connection
 *	handler              from the event loop, or from redis_flush();
 *	                     never from redis_submit()
 *
 * Each operation is answered exactly once: by the script, as unknown if the
 * connection or the server failed, or as unsent if the server was down already.
 * The topology (topology.h) decides where operations go, and finds the servers
 * behind a shard.
 */
#ifndef LOCKBROKER_REDIS_REDIS_H
#define LOCKBROKER_REDIS_REDIS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "relay/relay.h"
#include "store/op.h"

struct config;
struct event_base;
struct handed_list;
struct link;
struct redis;

/*
 * Reports to the owner.  Strings live until the callback returns.  A handler
 * may submit operations, which leave with the owner's next flush; it must not
 * free the redis.
 */
struct redis_handler {
	/* A call reported on a guard; called before its outcomes are
	 * reported. */
	void (*guard)(void *arg, uint32_t shard, int64_t sent_ms,
	    const struct guard_report *report);
	/* sent_ms: CLOCK_BOOTTIME before the call was handed to the socket; 0
	 * if it was never sent. */
	void (*outcome)(void *arg, uint64_t op, int64_t sent_ms,
	    const struct outcome *outcome);
	/* A shard can be reached, or no longer (reported before the operations
	 * under way become unknown).  All begin as down. */
	void (*link)(void *arg, uint32_t shard, bool up, const char *why);
	/*
	 * A message on our channel, from a script or another broker.  `history`
	 * is the history of the server on which we heard the message, and which
	 * was a master when it ran our last call; "" if we do not know the
	 * history.  A message that was published on another server of a
	 * cluster, or on the master of a replica, is of another history.
	 */
	void (*message)(
	    void *arg, const char *text, size_t len, const char *history);
	/* We listen again, and may have missed messages.  NULL, as the one
	 * before may be: nobody listens. */
	void (*resubscribed)(void *arg);
	/* The store cannot work at all (say so and exit 1). */
	void (*fatal)(void *arg, const char *why);
};

/* Upper bounds of struct redis_stats' trips; the last has none. */
#define REDIS_TRIPS 13
#define REDIS_TRIPS_US                                                   \
	{                                                                \
		250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, \
		    250000, 500000, 1000000                              \
	}

/* For STATS; counters since the start. */
struct redis_stats {
	unsigned nodes;	     /* servers we know */
	unsigned up;	     /* servers that we can use */
	unsigned listening;  /* servers whose messages we hear */
	uint64_t reconnects; /* connections that were lost */
	uint64_t failovers;  /* how often another server became the master */
	uint64_t calls;	     /* script calls sent */
	uint64_t ops;	     /* operations in them */
	uint64_t unknown;    /* operations without an answer */
	uint64_t reloads;    /* scripts loaded again after NOSCRIPT */
	uint64_t lacking;    /* operations refused for want of a right */
	int64_t lacked_ms;   /* when the last one was; 0: never */
	char lacks[ADDRESS_SIZE + 192]; /* and which */
	uint64_t trips[REDIS_TRIPS]; /* calls by how long their answer took */
	uint64_t trips_us;	     /* the sum of their times */
};

/* Returns how many shards (guards) a configuration has. */
unsigned redis_shards(const struct config *config);

/*
 * The config must outlive the redis, and so must the relay, which speaks TLS
 * (NULL: plain text).  Returns NULL, with a line in why, if it cannot work with
 * that configuration.
 */
struct redis *redis_new(struct event_base *base, const struct config *config,
    struct relay *relay, const char *broker, uint64_t instance,
    const struct redis_handler *handler, void *arg, char *why, size_t why_size);

/* Gives the TLS process the settings for its connections to servers.  Returns
 * false, with a line in why, if it cannot use them. */
bool redis_tls(struct relay *relay, const struct config *config,
    char why[RELAY_WHY_SIZE]) __attribute__((warn_unused_result));

/* Begins to connect (embedded: starts the server). */
void redis_start(struct redis *redis);

void redis_submit(struct redis *redis, const struct op *op); /* copies */
void redis_flush(struct redis *redis);

/* Returns the server that a shard is on now, for display; "" if none. */
const char *redis_node(const struct redis *redis, uint32_t shard);

/*
 * For lockbrokerd --probe: a link to the server that a shard is on, to a
 * Sentinel; NULL if no link is up.  Links are valid until the loop runs again.
 */
struct link *redis_link(const struct redis *redis, uint32_t shard);
struct link *redis_sentinel(const struct redis *redis, size_t i);

/*
 * Embedded: which process of the broker looks after its server (embedded.h).
 * Returns false if the server ends with another process, which owns it now.
 * Does nothing in other modes.
 */
void redis_hand_over(const struct redis *redis, struct handed_list *out);
bool redis_own(struct redis *redis, bool own);

/* The broker leaves, or does not after all: other brokers hear of it with the
 * next heartbeat. */
void redis_leave(struct redis *redis, bool leave);

void redis_stats(const struct redis *redis, struct redis_stats *out);

/* Leaves operations under way unanswered.  Embedded: stops the server if it
 * is ours. */
void redis_free(struct redis *redis);

#endif
