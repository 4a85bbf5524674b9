/*
 * A cluster: buckets of names, each on one of several masters, and how they
 * move from one to another while they are used; in some runs each master has
 * replicas, one of which takes its place when it is gone (takeover.c).
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
#define CLUSTER_MASTERS_MAX 4
#define CLUSTER_SERVERS_MAX 12

struct broker;
struct request;
struct server;
struct world;

/* A server, as a part of the cluster. */
struct cluster_node {
	int group; /* it is a master of this group, or a replica of one */
	/* As it has heard of it: who has each bucket, and where those of its
	 * own are going (-1: they stay). */
	int heard[CLUSTER_BUCKETS_MAX];
	int going[CLUSTER_BUCKETS_MAX];
	uint64_t epoch;
	/* With replicas: it hears of too few masters, and refuses calls. */
	bool down;
	int64_t heard_us; /* when it last heard of enough of them */
	int64_t back_us;  /* when it will be up again; 0: nobody knows */
};

/* Masters that have replicas.  Part of the cluster. */
struct cluster_group {
	int master;	 /* index of the server: the latest one */
	int64_t down_us; /* since when most masters miss it; -1: they don't */
};

/* Who has what.  Part of the world. */
struct cluster {
	int ngroups;
	struct cluster_group groups[CLUSTER_MASTERS_MAX];
	struct cluster_node nodes[CLUSTER_SERVERS_MAX];
	int owner[CLUSTER_BUCKETS_MAX];	 /* index of the server */
	int target[CLUSTER_BUCKETS_MAX]; /* where it is going; -1: it stays */
	uint64_t epoch;	    /* rises with each move and each takeover */
	bool ask_early;	    /* as before 7.0: ASK where any key is missing */
	int64_t timeout_us; /* cluster-node-timeout */
	uint64_t failovers;
};

/* cluster.c */
void cluster_draw(struct world *w);
void cluster_make(struct world *w);

/* The master of some group, and of a server's. */
struct server *cluster_some_master(struct world *w);
struct server *cluster_master_of(const struct server *s);

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

/* takeover.c: the servers watch each other. */
void takeover_watch(struct world *w);

/* A server was started. */
void takeover_started(struct server *s);

/* CLUSTER FAILOVER FORCE for a replica of some group: returns the master that it
 * replaces; NULL: nobody would vote for it. */
struct server *takeover_force(struct world *w);

#endif
