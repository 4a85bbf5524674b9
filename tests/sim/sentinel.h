/*
 * Three Sentinels, as an oracle with delays: they watch the master, make one
 * of its replicas the master if it does not answer for a while, and turn the
 * others into replicas of the new master; each Sentinel says what it has
 * heard.  To brokers each is a server that answers the commands of a Sentinel.
 */
#ifndef LOCKBROKER_SIM_SENTINEL_H
#define LOCKBROKER_SIM_SENTINEL_H

#include <stdbool.h>
#include <stdint.h>

#include "server.h"

#define SENTINELS 3

struct request;
struct world;

/* One of them. */
struct sentinel {
	struct server node; /* as brokers see it */
	struct server *says;
};

/* Owned by the world. */
struct sentinels {
	struct sentinel v[SENTINELS];
	struct server *master; /* the latest one */
	int64_t down_after_us;
	int64_t demote_us; /* how long two servers may be masters */
	int64_t down_us;   /* since when the master is silent; -1: it is not */
	uint64_t failovers;
};

/* The first server is the master of the others. */
void sentinels_init(struct world *w);
void sentinels_watch(struct world *w);
void sentinels_fini(struct world *w);

/* Answers a command; NULL: Sentinels do not know it. */
redisReply *sentinel_command(
    const struct sentinel *one, const struct request *r);

/* The side of the network where more than half of them are. */
int sentinels_side(const struct world *w);

/* Makes another server the master; false: none is fit. */
bool sentinels_failover(struct world *w);

#endif
