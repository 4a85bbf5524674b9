/*
 * One Redis server: its command links, the link that listens on our channel,
 * and the calls under way on them.
 *
 *	              +- link 0 ---- calls of lane 0, probes
 *	pool (node) --+- link 1 ---- calls of lane 1
 *	              +- listener -- our channel
 *
 * A name has its lane, so it always uses the same link; while that one is
 * down, another one stands in.  A call that was under way on a link that was
 * cut may still sit in a socket: nothing is sent in its place before CLIENT
 * KILL of the old connection is.
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
struct event_base;
struct resolver;
struct relay;

/* What it needs; everything pointed to must outlive the pool. */
struct pool_config {
	struct event_base *base;
	struct resolver *resolver;
	struct gather *gather;
	const struct config_redis *redis;
	const struct address *address;
	const char *client_name;
	struct relay *relay; /* speaks TLS; NULL: plain text */
	int64_t lease_ms;
	int64_t retry_ms_max;
	int64_t quiet_ms;	   /* not to be called down before so long */
	int64_t remind_ms;	   /* it is called down again so often */
	bool own;		   /* embedded: no password */
	struct redis_stats *stats; /* counted into */
	const struct redis_handler
	    *owner;	 /* is told what calls, messages ... */
	void *owner_arg; /* ... and new subscriptions say */
};

/* What its topology is told.  All but up and down may be NULL. */
struct pool_handler {
	void (*up)(void *arg);
	void (*down)(void *arg, const char *why);
	/* It is down still, and now for another reason. */
	void (*failed)(void *arg, const char *why);
	/* What a call said about a guard, before the owner is told. */
	void (*guard)(void *arg, const struct guard_report *report);
	/* Is the owner to be told of a message? */
	bool (*message)(void *arg, const char *text, size_t len);
	/* A whole call was refused, told before its outcomes. */
	void (*refused)(void *arg, const struct refusal *refusal);
	/*
	 * Redis refused a call, not yet decoded: true where it is the
	 * topology's from now on, to be sent elsewhere.
	 */
	bool (*redirected)(
	    void *arg, struct call *call, const redisReply *reply);
};

struct pool;

typedef void pool_answer(void *arg, const redisReply *reply);

struct pool *pool_new(const struct pool_config *config,
    const struct pool_handler *handler, void *arg);

/* Connects; called again, it ends a pause between attempts. */
void pool_start(struct pool *p);
void pool_free(struct pool *p); /* not from its callbacks */

/*
 * The address in its config has changed, or may lead elsewhere: it is told
 * down, if it was up, and everything under way becomes unknown; then it
 * connects again.  Not from its callbacks.
 */
void pool_move(struct pool *p, const char *why);

bool pool_is_up(const struct pool *p);

/* No call is under way. */
bool pool_is_idle(const struct pool *p);

/*
 * Takes a call, to be finished in time; false where it can't be sent, and then
 * it is still the caller's.  Calls leave with pool_flush().
 */
bool pool_send(struct pool *p, struct call *call);
void pool_flush(struct pool *p);

/*
 * A question about the server, without arguments: answered once, NULL where
 * nobody knows.  False, without an answer to come, where it can't be sent.
 */
bool pool_ask(
    struct pool *p, const char *command, pool_answer *done, void *arg);

/* The address of its server, for people. */
const char *pool_node(const struct pool *p);

#endif
