/*
 * One Redis server: its command links, the link that listens on our channel,
 * and the calls under way on them.
 *
 *	              +- link 0 ---- calls of lane 0, probes
 *	pool (node) --+- link 1 ---- calls of lane 1
 *	              +- subscriber -- our channel
 *
 * A name has its lane, so it always uses the same link; while that link is
 * down, another stands in.  A call that was under way on a link that was cut
 * may still be in a socket: the pool sends nothing in its place before the
 * CLIENT KILL of the old connection.
 *
 * The pool is up while any command link is.
 */
#ifndef LOCKBROKER_REDIS_POOL_H
#define LOCKBROKER_REDIS_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "redis/redis.h"
#include "store/gather.h"

struct config_redis;
struct io;
struct link;
struct topology_env;

/* What it needs; everything pointed to must outlive the pool. */
struct pool_config {
	struct io *io;
	struct gather *gather;
	const struct config_redis *redis;
	const struct address *address;
	const char *client_name;
	int64_t lease_ms;
	int64_t retry_ms_max;
	int64_t quiet_ms;	   /* until the log says that it is down */
	int64_t remind_ms;	   /* until the log says so again */
	bool own;		   /* embedded: no password */
	struct redis_stats *stats; /* counted into */
	const struct redis_handler *owner; /* receives calls, messages ... */
	void *owner_arg;		   /* ... and new subscriptions */
};

/* Reports to its topology.  All but up and down may be NULL. */
struct pool_handler {
	void (*up)(void *arg);
	void (*down)(void *arg, const char *why);
	/* The pool is still down, now for another reason. */
	void (*failed)(void *arg, const char *why);
	/* A call reported on a guard; called before the owner's handler. */
	void (*guard)(void *arg, const struct guard_report *report);
	/* Shall the owner receive a message? */
	bool (*message)(void *arg, const char *text, size_t len);
	/* Redis refused a whole call; called before its outcomes are
	 * reported. */
	void (*refused)(void *arg, const struct refusal *refusal);
	/*
	 * Redis refused a call, not yet decoded.  Returns true if the topology
	 * takes the call over, to send it elsewhere.
	 */
	bool (*redirected)(
	    void *arg, struct call *call, const redisReply *reply);
};

struct pool;

/* Returns the config of a pool; the address must outlive that pool. */
struct pool_config pool_config_of(const struct topology_env *env,
    const struct address *address, int64_t retry_ms_max);

struct pool *pool_new(const struct pool_config *config,
    const struct pool_handler *handler, void *arg);

/* Connects; called again, it ends a pause between attempts. */
void pool_start(struct pool *p);
void pool_free(struct pool *p); /* not from its callbacks */

/*
 * Leaves the server and connects anew: the address in its config has changed,
 * or may lead elsewhere.  First the pool reports that it is down, if it was up,
 * and all calls under way become unknown.  Not from its callbacks.
 */
void pool_move(struct pool *p, const char *why);

bool pool_is_up(const struct pool *p);

/* Is no call under way? */
bool pool_is_idle(const struct pool *p);

/*
 * Takes a call over, and finishes it in time.  Returns false if it cannot be
 * sent; the caller keeps it then.  Calls leave with pool_flush().
 */
bool pool_send(struct pool *p, struct call *call);
void pool_flush(struct pool *p);

/* Returns a link that is up; NULL: none is. */
struct link *pool_link(struct pool *p);

/* Returns the address of its server, for display. */
const char *pool_node(const struct pool *p);

#endif
