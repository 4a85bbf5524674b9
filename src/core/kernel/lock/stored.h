/*
 * Values of keys: they say who has a name in the store.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_STORED_H
#define LOCKBROKER_CORE_KERNEL_LOCK_STORED_H

#include "core/kernel/turn/turn.h"

/* What the value of a key says; see lua/lease.lua.  In a token hold's value, a
 * bar at the end stands for the client's token. */
struct stored {
	const char *state;
	bool free;
	size_t broker_len; /* of the name that it begins with; 0: unknown */
	uint64_t fence;	   /* 0: unknown; of a lease: its first */
	bool lease;	   /* held alone by a broker's sessions */
};

struct stored stored_parse(const char *value, size_t n);

/* Returns the length of the broker's name at the beginning of a token; 0: it is
 * no token of a broker. */
size_t stored_broker(const char *token, size_t n);

/* Is it a lease of this run of this broker?  A token hold is not. */
bool stored_is_ours(const struct core *core, const char *value, size_t n);

#endif
