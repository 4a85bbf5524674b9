/*
 * Reads what the nodes of a Redis Cluster say of each other: the answers to
 * CLUSTER SLOTS and CLUSTER INFO, and the errors that redirect calls.
 *
 * An answer is input like any other: parts that do not fit are left out.
 */
#ifndef LOCKBROKER_REDIS_CLUSTER_MAP_H
#define LOCKBROKER_REDIS_CLUSTER_MAP_H

#include <hiredis/hiredis.h> /* only for redisReply */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CLUSTER_HOST_SIZE 256

#define SLOTS 16384 /* spread over the masters */

/* Returns the slot of all keys of a bucket, which begin PREFIX{BUCKET}:. */
unsigned cluster_slot(uint32_t bucket);

/* A longer answer is refused, because all of it is read in one go.  Each slot
 * may be a range of its own with four nodes; an entry has two elements more. */
#define CLUSTER_PLACES_MAX (6 * SLOTS)

/* A node and a range of slots that it has, as their master or as a replica. */
struct cluster_range {
	unsigned first, last; /* inclusive */
	bool master;
	const char *host; /* of the reply, or `self` */
	uint16_t port;
};
typedef void cluster_range_fn(void *arg, const struct cluster_range *range);

/*
 * Calls back for every node of every range, the master first.  A node that does
 * not know its own host leaves it out; `self`, the host that was asked (NULL:
 * unknown), stands in.  Returns false if this is no answer to CLUSTER SLOTS.
 */
bool cluster_slots_read(
    const redisReply *reply, const char *self, cluster_range_fn *fn, void *arg);

/* Returns cluster_current_epoch, higher in a later view; 0: unknown. */
uint64_t cluster_epoch_read(const char *info, size_t len);

enum redirect_kind {
	REDIRECT_MOVED,	   /* another node has the slot */
	REDIRECT_ASK,	   /* another node has those keys already */
	REDIRECT_TRYAGAIN, /* they are being moved */
	REDIRECT_DOWN,	   /* no node has it, or this one lost the others */
	REDIRECT_MAX
};

/* Plain data.  host is empty if it is unknown. */
struct redirect {
	enum redirect_kind kind;
	unsigned slot; /* MOVED, ASK */
	char host[CLUSTER_HOST_SIZE];
	uint16_t port;
};

/* Reads an error reply.  Returns false if it is no redirection. */
bool redirect_read(struct redirect *out, const char *error, const char *self);

#endif
