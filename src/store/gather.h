/*
 * Gathers the operations of a turn into script calls: for each shard, one that
 * keeps and ends, then one that acquires, each with many operations.  If there
 * are only ends and acquires, one call takes them all.
 *
 *	gather_add() ...            operations are copied
 *	gather_flush(send)          each call goes to send()
 *	call_finish(call, reply)    reports guard and outcomes, keeps the call
 *
 * It also remembers the highest fence that was ever reported for each shard,
 * and passes that fence with every call (fences must rise even if a server
 * forgot them).
 *
 * Pure: no I/O, no clock.  Both the daemon and the simulator use it.  Every
 * function may be called from send() and from a store_handler.
 */
#ifndef LOCKBROKER_STORE_GATHER_H
#define LOCKBROKER_STORE_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#include "store/op.h"
#include "store/script_call.h"

/* Strings are copied. */
struct store_config {
	const char *prefix;  /* redis.prefix */
	const char *broker;  /* its name */
	uint64_t instance;   /* random, drawn at start */
	const char *address; /* where users reach it; NULL or "": not told */
	const char *version; /* of the broker; NULL: not told */
	const char *http;    /* URL of its page; NULL or "": not told */
	int64_t lease_ms;
	unsigned replicas; /* that must confirm; part of the guard's cfg */
	unsigned shards;
	unsigned lanes;	  /* connections to a server; 0 is 1 */
	bool tagged;	  /* cluster: keys begin PREFIX{SHARD}: */
	bool quorum;	  /* the shards are servers that vote */
	uint64_t seed[2]; /* of the nonces */
};

struct gather;

/* Writes the settings that all brokers must share, as the guard has them. */
#define STORE_CFG_SIZE 64
void store_cfg(char out[STORE_CFG_SIZE], const struct store_config *config);

struct gather *gather_new(const struct store_config *config);
void gather_free(struct gather *g);

/* From now on the broker tells other brokers that it leaves, or that it does
 * not. */
void gather_leave(struct gather *g, bool leave);

void gather_add(struct gather *g, const struct op *op);

/*
 * Builds the calls of all operations added and hands each to send(), which owns
 * it from then on.  Operations added meanwhile wait for the next flush.  While
 * enough calls are under way, operations that can wait stay here and share a
 * call with later operations; that call leaves with a flush after the answer to
 * those under way.
 */
typedef void gather_send(void *arg, struct call *call);
void gather_flush(struct gather *g, gather_send *send, void *arg);

/* Would a flush send anything now? */
bool gather_is_due(const struct gather *g);

/*
 * Takes an answer: call_decode(), then call_deliver().  NULL is an answer.
 */
enum call_verdict call_finish(struct gather *g, struct call *call,
    const redisReply *reply, bool unsent, const struct store_handler *handler,
    void *arg);

/*
 * Reports to the handler what a decoded call said: the guard once, if a script
 * answered, then one outcome for each operation.  Takes the call back.
 */
void call_deliver(struct gather *g, struct call *call,
    const struct store_handler *handler, void *arg);

/* Takes a call back without calling a handler. */
void gather_drop(struct gather *g, struct call *call);

/* A fence of the shard is known from elsewhere. */
void gather_saw(struct gather *g, uint32_t shard, uint64_t fence);

/* What a server of our own has begun with. */
enum store_data {
	STORE_DOUBTED, /* something may be missing; each call says so at first */
	STORE_WHOLE,   /* all that was ever written to it */
	STORE_NEW      /* nothing was ever written to it */
};

/* From now on each call to the only server says so. */
void gather_begun(struct gather *g, enum store_data data);

/* Sets the wall clock (us) for fences of a quorum; call before a flush. */
void gather_clock(struct gather *g, uint64_t clock_us);

/* PREFIX@BROKER.INSTANCE: the channel of this broker. */
const char *gather_channel(const struct gather *g);

#endif
