/*
 * Topologies: which servers a world has, and what brokers are told of them.
 * One row for each mode of the daemon that is simulated.
 *
 * What a guard watches over is a shard, as in the core.  Which server takes the
 * calls of a shard is decided by src/redis; a topology only says what is in the
 * configuration.
 *
 * To add one: a row in topology.c.
 */
#ifndef LOCKBROKER_SIM_TOPOLOGY_H
#define LOCKBROKER_SIM_TOPOLOGY_H

#include <stdbool.h>

#include "config/config.h"

struct broker;
struct server;
struct world;

struct topology {
	const char *word;      /* on the command line */
	enum config_mode mode; /* redis.mode of the brokers */

	/* Those of FAULT_BIT_SEVERAL and further on that it may have. */
	unsigned faults;

	/* How many servers, shards and replicas the world has. */
	void (*draw)(struct world *w);

	/* A broker begins: its redis.nodes. */
	void (*begin)(struct broker *b);

	/* The servers are made; all is made, and begins.  May be NULL. */
	void (*make)(struct world *w);
	void (*start)(struct world *w);
};

/*
 * embedded.c: a server that ends with its broker.  The end does nothing in
 * other topologies; if the server has died, a broker that runs starts it again.
 */
void embedded_draw(struct world *w);
void embedded_begin(struct broker *b);
void embedded_end(struct broker *b);
void embedded_died(struct world *w);

/* quorum.c */
void quorum_draw(struct world *w);
void quorum_begin(struct broker *b);

/* May this one lose its data, and fences rise without clocks all the same? */
bool quorum_bears(struct world *w, const struct server *lost);

/* Is all that was ever granted on it known to it? */
bool quorum_is_whole(struct server *s);

extern const struct topology topologies[]; /* a NULL word ends it */

/* NULL: there is none of that name. */
const struct topology *topology_find(const char *word);

#endif
