/*
 * A cluster: buckets of names, each on one of several masters, and how they
 * move from one to another while they are used.
 *
 * What the servers do is Redis' (cluster.c, getNodeByQuery()): a call for a
 * bucket that is elsewhere is answered MOVED; of one that is on its way, only a
 * call is served whose keys are all here; ASK and TRYAGAIN answer the others.
 */
#ifndef LOCKBROKER_SIM_CLUSTER_H
#define LOCKBROKER_SIM_CLUSTER_H

#include <hiredis/hiredis.h> /* only for redisReply */
#include <stdbool.h>
#include <stdint.h>

#define CLUSTER_BUCKETS_MAX 16
#define CLUSTER_SERVERS_MAX 4

struct broker;
struct request;
struct server;
struct world;

/* Who has what.  Part of the world. */
struct cluster {
	int owner[CLUSTER_BUCKETS_MAX];	 /* index of the server */
	int target[CLUSTER_BUCKETS_MAX]; /* where it is going; -1: it stays */
	/* As each server has heard of it. */
	int heard[CLUSTER_SERVERS_MAX][CLUSTER_BUCKETS_MAX];
	uint64_t epoch;				/* rises with each move */
	uint64_t epoch_of[CLUSTER_SERVERS_MAX]; /* as each has heard of it */
	bool ask_early; /* as before 7.0: ASK where any key is missing */
};

/* cluster.c */
void cluster_draw(struct world *w);

/* Another server takes a bucket over. */
void cluster_move(struct world *w);

/* NULL: the server carries the call out; else what it answers instead. */
redisReply *cluster_check(
    struct server *s, const struct request *r, bool asking);

/* Its answers to CLUSTER SLOTS and CLUSTER INFO. */
redisReply *cluster_slots(const struct server *s);
redisReply *cluster_info(const struct server *s);

/* A broker begins. */
void cluster_begin(struct broker *b);

#endif
