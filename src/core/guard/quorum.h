/*
 * Quorum: several servers, of which a majority decides.  lease/votes.h says how
 * votes are cast.
 */
#ifndef LOCKBROKER_CORE_GUARD_QUORUM_H
#define LOCKBROKER_CORE_GUARD_QUORUM_H

#include "core/guard/guard.h"

/* Does the core run over a quorum? */
bool quorum_used(const struct core *core);

/* How many servers can be reached (`ready`: and grant); how many must. */
unsigned quorum_count(const struct core *core, bool ready);
unsigned quorum_majority(const struct core *core);

/* Logs when no majority grants any more, and when one does again. */
void quorum_tell(struct core *core);

#endif
