/*
 * Three Sentinels, as an oracle with delays: they watch the master, make one
 * of its replicas the master when it does not answer for a while, and turn the
 * others into replicas of that one; each of them says what it has heard.
 *
 * And how a broker follows what they say, as redis/topo_sentinel.c does it.
 */
#ifndef LOCKBROKER_SIM_SENTINEL_H
#define LOCKBROKER_SIM_SENTINEL_H

#include <stdbool.h>
#include <stdint.h>

#define SENTINELS 3

struct broker;
struct pool;
struct server;
struct world;

/* One of them. */
struct sentinel {
	int side; /* of the network */
	struct server *says;
};

/* Owned by the world. */
struct sentinels {
	struct sentinel v[SENTINELS];
	struct server *master; /* the latest one */
	int64_t down_after_us;
	int64_t demote_us; /* how long a server may be a master, too */
	int64_t down_us;   /* since when the master is silent; -1: not */
	uint64_t failovers;
};

/* What a broker has heard.  Part of it. */
struct follower {
	struct server *said[SENTINELS]; /* NULL: nothing */
	int64_t heard_us[SENTINELS];
	bool refused; /* the server says that it is no master */
	bool hurry;
	uint64_t polls; /* the tag of the poll that counts */
};

/* The first server is the master of the others. */
void sentinels_init(struct world *w);
void sentinels_start(struct world *w);

/* The side of the network where more than half of them are. */
int sentinels_side(const struct world *w);

/* Makes another server the master; false: there is none that could be. */
bool sentinels_failover(struct world *w);

/* A broker begins; its pool is up or down; a guard said that it is refused. */
void follower_begin(struct broker *b);
void follower_link(struct pool *p, bool up);
void follower_refused(struct pool *p, bool refused);

#endif
