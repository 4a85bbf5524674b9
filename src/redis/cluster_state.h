/*
 * What the topology of a cluster is made of.  Only topo_cluster.c (the map, and
 * when it is asked for), cluster_nodes.c (nodes, and which buckets are on them)
 * and cluster_calls.c (calls that were refused where they were sent) include
 * this.
 */
#ifndef LOCKBROKER_REDIS_CLUSTER_STATE_H
#define LOCKBROKER_REDIS_CLUSTER_STATE_H

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/list.h"
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
	struct pool *pool;	/* NULL: nothing is sent there */
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
	struct node *node; /* NULL: nobody has its slot */
	int64_t hint_ms;   /* when a redirection named the node; 0: a map did */
	int64_t down_ms;   /* when the node refused it as down; 0: it didn't */
	bool up;	   /* as was told */
};

struct topology {
	struct topology_env env;
	struct node_list nodes;
	struct node *next; /* to be asked for the map next */
	struct bucket buckets[BUCKETS];
	struct event *tick;
	struct event *unpark;
	struct call_list parked;
	struct once once;
	unsigned map;	  /* maps taken over */
	uint64_t epoch;	  /* of the latest view seen */
	int64_t epoch_ms; /* when it was seen last */
	int64_t ask_ms;	  /* when the map was asked for last */
	bool stale;	  /* the map is known to be wrong */
	bool degraded;	  /* some bucket is down, and that was logged */
	bool deaf;	  /* no answer is a map, and that was logged */
	bool closing;
};

/* topo_cluster.c */

/* The map is asked for soon, and again and again until it is right. */
void cluster_doubt_map(struct topology *t);

/* False where that node can't be asked for the map now. */
bool cluster_ask(struct topology *t, struct node *n);

/* cluster_nodes.c */

/* Tells the owner that a bucket can be reached, or not, where that is news. */
void cluster_tell(struct topology *t, uint32_t shard, bool up, const char *why);

/* The bucket is up, where its node is and did not refuse it. */
void cluster_settle(struct topology *t, uint32_t shard);

/* The bucket is on that node from now on; NULL: on none. */
void cluster_place(struct topology *t, uint32_t shard, struct node *n);

struct node *cluster_node_new(
    struct topology *t, const struct address *address);
void cluster_node_free(struct node *n);

/* The node of that address; a new one where there is none. */
struct node *cluster_node_at(
    struct topology *t, const char *host, uint16_t port);

/* Connects, unless it does already. */
void cluster_open(struct node *n);

/* Nobody can be asked: one more of all that were ever named. */
void cluster_open_another(struct topology *t);

/* Is there anybody who can be asked? */
bool cluster_any_up(const struct topology *t);

/*
 * Leaves nodes that are not needed, and forgets those nobody names.  False
 * while there are some that may still be needed.
 */
bool cluster_prune(struct topology *t);

/* cluster_calls.c */

/* A call was refused by the node `arg`: true where it is taken over. */
bool cluster_redirected(void *arg, struct call *call, const redisReply *reply);

/* The timer of parked calls. */
void cluster_unpark(evutil_socket_t fd, short what, void *arg);

#endif
