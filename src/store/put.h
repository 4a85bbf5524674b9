/*
 * Operations into calls (put.c); for gather.c alone.
 */
#ifndef LOCKBROKER_STORE_PUT_H
#define LOCKBROKER_STORE_PUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "store/call.h"

#define DIGITS_MAX 21 /* of a 64-bit number, with its sign */

/* What is the same in every call of one shard.  Owned by the gather. */
struct shard_keys {
	uint64_t seen; /* the highest fence it was told about */
	size_t head_len;
	char *head; /* what keys begin with: PREFIX or PREFIX{N}: */
	char *guard;
	char *fence;
	char head_digits[DIGITS_MAX];  /* head_len, as text */
	char noted[HISTORY_BYTES + 1]; /* where the guard knows us; or "" */
	/* Quorum: q, and what the broker goes by there, `ID SET`. */
	char voter[1 + NODE_BYTES + 1 + SET_MAX_BYTES + 1];
};

/*
 * Adds the keys and arguments of an operation.  Acquires and ends go in rows if
 * `rows`: servers that vote answer each by itself.
 */
void call_put(struct call *call, const struct shard_keys *s,
    const struct op *op, bool rows);

#endif
