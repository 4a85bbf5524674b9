/*
 * Topologies: which servers a world has, and which of them a broker asks for
 * what.  One row for each mode of the daemon that is simulated.
 *
 * What a guard watches over is a shard, as in the core.  The connections of a
 * broker to one server are a pool (broker.h).  A topology says how many there
 * are of each, where each pool connects to, and which one takes the calls of a
 * shard.
 *
 * To add one: a row in topology.c.
 */
#ifndef LOCKBROKER_SIM_TOPOLOGY_H
#define LOCKBROKER_SIM_TOPOLOGY_H

#include <stdbool.h>
#include <stdint.h>

struct broker;
struct pool;
struct server;
struct world;

struct topology {
	const char *word; /* on the command line */

	/* Those of FAULT_BIT_SEVERAL and further on that it may have. */
	unsigned faults;

	/* How many servers, shards and replicas the world has. */
	void (*draw)(struct world *w);

	/* A broker begins: how many pools it has, and where they connect. */
	void (*begin)(struct broker *b);

	/* The servers are made; all is made, and begins.  May be NULL. */
	void (*make)(struct world *w);
	void (*start)(struct world *w);

	/* The pool for the calls of a shard; NULL: none.  It may be down. */
	struct pool *(*route)(struct broker *b, uint32_t shard);

	/* Where a pool connects to now; NULL: where it did. */
	struct server *(*locate)(struct pool *p);

	/* A pool is up or down; a guard said that its server is no master,
	 * or that it is one; both may be NULL. */
	void (*link)(struct pool *p, bool up);
	void (*refused)(struct pool *p, bool refused);
};

/*
 * embedded.c: the note that outlives a broker, of what clients count on; its
 * server, which does not.  Does nothing in other topologies.
 */
void embedded_draw(struct world *w);
void embedded_begin(struct broker *b);
void embedded_promise(struct broker *b);
int64_t embedded_floor_ms(const struct broker *b);
void embedded_end(struct broker *b);

/* quorum.c */
void quorum_draw(struct world *w);
void quorum_begin(struct broker *b);
struct pool *quorum_route(struct broker *b, uint32_t shard);

/* May this one lose its data, and fences rise without clocks all the same? */
bool quorum_bears(struct world *w, const struct server *lost);

/* Is all that was ever granted on it known to it? */
bool quorum_is_whole(struct server *s);

extern const struct topology topologies[]; /* a NULL word ends it */

/* NULL: there is none of that name. */
const struct topology *topology_find(const char *word);

#endif
