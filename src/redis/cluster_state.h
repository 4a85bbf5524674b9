/*
 * The structs of the topology of a cluster.  Only topo_cluster.c (the map, and
 * when to ask for it), cluster_nodes.c (nodes, and which buckets are on them)
 * and cluster_calls.c (calls that a node refused) include this.
 */
#ifndef LOCKBROKER_REDIS_CLUSTER_STATE_H
#define LOCKBROKER_REDIS_CLUSTER_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/address.h"
#include "base/list.h"
#include "redis/io.h"
#include "redis/once.h"
#include "redis/pool.h"
#include "redis/topology.h"

#define BUCKETS 256
#define ASK_MS 50 /* between two questions for the map */

/* One server. Owned by the topology; freed when no map names it any more. */
struct node {
	TAILQ_ENTRY(node) entry;
	struct topology *cluster;
	struct address address; /* owned */
	struct pool *pool;	/* NULL: not connected */
	unsigned buckets;	/* that are on it */
	unsigned map;		/* number of the last map to name it */
	bool seed;		/* of redis.nodes */
	int64_t unneeded_ms;	/* since when it has no buckets */
	uint64_t epoch;		/* of its view of the cluster */
};
TAILQ_HEAD(node_list, node);

/* One shard: buckets[shard]. */
struct bucket {
	unsigned slot;
	struct node *node; /* NULL: no node has its slot */
	int64_t hint_ms;   /* when a redirection named the node; 0: a map did */
	int64_t down_ms;   /* when the node refused it as down; 0: it didn't */
	bool up;	   /* as last reported to the owner */
};

struct topology {
	struct topology_env env;
	struct node_list nodes;
	struct node *next; /* to be asked for the map next */
	struct bucket buckets[BUCKETS];
	struct timer *tick;
	struct timer *unpark;
	struct call_list parked;
	struct once once;
	unsigned map;	  /* maps read so far */
	uint64_t epoch;	  /* of the latest view seen */
	int64_t epoch_ms; /* when it was last seen */
	int64_t ask_ms;	  /* when a node was last asked for the map */
	bool stale;	  /* the map is known to be wrong */
	bool degraded;	  /* some bucket is down, and that was logged */
	bool deaf;	  /* no answer is a map, and that was logged */
	bool closing;
};

/* topo_cluster.c */

/* Asks for the map soon, and repeats that until a map is taken over. */
void cluster_doubt_map(struct topology *t);

/* Asks a node for the map; returns false if it cannot be asked now. */
bool cluster_ask(struct topology *t, struct node *n);

/* cluster_nodes.c */

/* Reports to the owner whether a bucket can be reached, if that has changed. */
void cluster_tell(struct topology *t, uint32_t shard, bool up, const char *why);

/* Reports the reason for all buckets that are down. */
void cluster_tell_why(struct topology *t, const char *why);

/* Reports a bucket as up if its node is up and did not refuse the bucket as
 * down. */
void cluster_settle(struct topology *t, uint32_t shard);

/* Places a bucket on a node; NULL: on none. */
void cluster_place(struct topology *t, uint32_t shard, struct node *n);

struct node *cluster_node_new(
    struct topology *t, const struct address *address);
void cluster_node_free(struct node *n);

/* Returns the node with that address, made anew if there is none. */
struct node *cluster_node_at(
    struct topology *t, const char *host, uint16_t port);

/* Connects to a node, unless it is connected already. */
void cluster_open(struct node *n);

/* Connects to one more of the known nodes, because none can be asked. */
void cluster_open_another(struct topology *t);

/* Is there a node that can be asked? */
bool cluster_any_up(const struct topology *t);

/*
 * Leaves nodes that have been unneeded for a while, and forgets those that no
 * map names any more.  Returns false if it must be called again soon.
 */
bool cluster_prune(struct topology *t);

/* cluster_calls.c */

/* The node `arg` refused a call: returns true if the topology took the call
 * over. */
bool cluster_redirected(void *arg, struct call *call, const redisReply *reply);

/* The timer of parked calls. */
void cluster_unpark(void *arg);

#endif
