/*
 * Values of keys: who has a name, as the store tells it.
 */
#ifndef LOCKBROKER_CORE_LOCK_STORED_H
#define LOCKBROKER_CORE_LOCK_STORED_H

#include "core/turn/turn.h"

/* What the value of a key says; see lua/lease.lua.  A bar at its end stands for
 * the client's token of a token hold. */
struct stored {
	const char *state;
	bool free;
	size_t broker_len; /* at its beginning; 0: unknown */
	uint64_t fence;	   /* 0: unknown */
};

struct stored stored_parse(const char *value, size_t n);

/* Is it a lease of this broker, of this run of it?  A token hold is none. */
bool stored_is_ours(const struct core *core, const char *value, size_t n);

#endif
