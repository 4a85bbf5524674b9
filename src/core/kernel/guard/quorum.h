/*
 * Quorums: the guards that decide about a name together, by a majority.
 *
 * Over several independent servers these are all guards, and lease/votes.h says
 * how votes are cast.  Otherwise each name has one guard, which is a quorum of
 * one: so most of the core need not know which of the two it is.
 */
#ifndef LOCKBROKER_CORE_GUARD_QUORUM_H
#define LOCKBROKER_CORE_GUARD_QUORUM_H

#include "core/kernel/guard/guard.h"

/* Are there several servers that vote? */
static inline bool
quorum_used(const struct core *core)
{
	return core->config.quorum;
}

/* The first guard of a quorum, by any of them; core->nvoters of them follow. */
static inline uint32_t
quorum_first(const struct core *core, uint32_t shard)
{
	return core->nvoters == 1 ? shard : 0;
}

/* How many of its servers can be reached (`ready`: and grant), have said since
 * then that they grant, and must. */
unsigned quorum_count(const struct core *core, uint32_t shard, bool ready);
unsigned quorum_said(const struct core *core, uint32_t shard);
/* When a majority had told last that it may grant; 0: never. */
int64_t quorum_good_ms(const struct core *core, uint32_t shard);
unsigned quorum_majority(const struct core *core);

/* Logs when no majority grants any more, and when one does again. */
void quorum_tell(struct core *core);

#endif
