/*
 * A cluster: buckets of names, each on one of several masters, and how they
 * move from one to another while they are used.
 *
 * What the servers do is Redis' (cluster.c, getNodeByQuery()): a call for a
 * bucket that is elsewhere is answered MOVED; of one that is on its way, only a
 * call is served whose keys are all here; ASK and TRYAGAIN answer the others.
 * What brokers do about it is copied from src/redis (cluster_route.c).
 */
#ifndef LOCKBROKER_SIM_CLUSTER_H
#define LOCKBROKER_SIM_CLUSTER_H

#include <hiredis/hiredis.h> /* only for redisReply */
#include <stdbool.h>
#include <stdint.h>

#include "store/call.h"

#define CLUSTER_BUCKETS_MAX 16
#define CLUSTER_SERVERS_MAX 4

struct broker;
struct pool;
struct request;
struct server;
struct world;

/* Who has what.  Part of the world. */
struct cluster {
	int owner[CLUSTER_BUCKETS_MAX];	 /* index of the server */
	int target[CLUSTER_BUCKETS_MAX]; /* where it is going; -1: it stays */
	/* As each server has heard of it. */
	int heard[CLUSTER_SERVERS_MAX][CLUSTER_BUCKETS_MAX];
	bool ask_early; /* as before 7.0: ASK where any key is missing */
};

/* Where a broker sends the calls of a bucket. */
struct route {
	struct pool *pool;
	int64_t hint_us; /* when a redirection said so; 0: a map did */
};

/* A broker's view of the cluster.  Part of it. */
struct routes {
	struct route of[CLUSTER_BUCKETS_MAX];
	struct call_list parked; /* to be sent again in a moment */
	bool unpark_due;
	bool stale; /* the map is known to be wrong */
	bool tick_due;
};

/* cluster.c */
void cluster_draw(struct world *w);

/* Another server takes a bucket over. */
void cluster_move(struct world *w);

/* NULL: the server carries the call out; else what it answers instead. */
redisReply *cluster_check(struct server *s, const struct request *r);

/* cluster_route.c */
void cluster_begin(struct broker *b);
struct pool *cluster_route(struct broker *b, uint32_t shard);

/* A pool is up or down. */
void cluster_link(struct pool *p, bool up);

/* A call was refused for where it was sent, and is taken over. */
bool cluster_redirected(
    struct pool *p, struct call *call, const redisReply *reply);

/* The broker dies. */
void cluster_forget(struct broker *b);

#endif
