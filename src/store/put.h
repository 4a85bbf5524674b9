/*
 * Writes operations into calls (put.c); for gather.c alone.
 */
#ifndef LOCKBROKER_STORE_PUT_H
#define LOCKBROKER_STORE_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/script_call.h"

#define DIGITS_MAX 21 /* of a 64-bit number, with its sign */

/* The parts that every call of one shard shares.  Owned by the gather. */
struct shard_keys {
	uint64_t seen; /* the highest fence known of the shard */
	size_t head_len;
	char *head; /* what keys begin with: PREFIX or PREFIX{N}: */
	char *guard;
	char *fence;
	char head_digits[DIGITS_MAX];  /* head_len, as text */
	char noted[HISTORY_BYTES + 1]; /* in which the guard knows us; or "" */
	/* Quorum: q, then the server's id and its set as we know them; a server
	 * of our own: what it has begun with (enum store_data). */
	char voter[1 + NODE_BYTES + 1 + SET_MAX_BYTES + 1];
};

/*
 * Adds the keys and arguments of an operation.  `rows`: acquires and ends go in
 * rows, too; not for servers that vote, which answer each operation by itself.
 */
void call_put(struct call *call, const struct shard_keys *s,
    const struct op *op, bool rows);

#endif
