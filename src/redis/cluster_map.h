/*
 * What the nodes of a Redis Cluster say of each other, taken apart: the answer
 * of CLUSTER SLOTS, that of CLUSTER INFO, and the errors that send us elsewhere.
 *
 * An answer is input like any other: what does not fit is left out.
 */
#ifndef LOCKBROKER_REDIS_CLUSTER_MAP_H
#define LOCKBROKER_REDIS_CLUSTER_MAP_H

#include <hiredis/hiredis.h> /* only for redisReply */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLUSTER_HOST_SIZE 256

/* An answer that is longer is none, as all of it is taken in in one go.  Each
 * slot may be a range of its own, of four nodes: an entry has two more. */
#define CLUSTER_PLACES_MAX (6 * 16384)

/* A node and slots that it has: as their master, or as its replica. */
struct cluster_range {
	unsigned first, last; /* inclusive */
	bool master;
	const char *host; /* of the reply, or `self` */
	uint16_t port;
};
typedef void cluster_range_fn(void *arg, const struct cluster_range *range);

/*
 * Calls back for every node of every range, the master first.  Nodes that
 * don't know their own address leave it out: that is `self`, the host that was
 * asked (NULL: unknown).  False where it is no answer of CLUSTER SLOTS.
 */
bool cluster_slots_read(
    const redisReply *reply, const char *self, cluster_range_fn *fn, void *arg);

/* The cluster_current_epoch: a later view has a higher one. 0: unknown. */
uint64_t cluster_epoch_read(const char *info, size_t len);

enum redirect_kind {
	REDIRECT_MOVED,	   /* another node has the slot */
	REDIRECT_ASK,	   /* another node has those keys already */
	REDIRECT_TRYAGAIN, /* they are being moved */
	REDIRECT_DOWN,	   /* nobody has it, or that node lost the others */
	REDIRECT_MAX
};

/* Plain data.  host is empty where it is unknown. */
struct redirect {
	enum redirect_kind kind;
	unsigned slot; /* MOVED, ASK */
	char host[CLUSTER_HOST_SIZE];
	uint16_t port;
};

/* False for any other error. */
bool redirect_read(struct redirect *out, const char *error, const char *self);

#endif
