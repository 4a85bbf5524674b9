/*
 * Quorum: several servers, of which a majority decides.  How votes are cast is
 * in votes.h.
 */
#ifndef LOCKBROKER_CORE_GUARD_QUORUM_H
#define LOCKBROKER_CORE_GUARD_QUORUM_H

#include "core/guard/guard.h"

/* Is this what the core runs on? */
bool quorum_used(const struct core *core);

/* How many servers can be reached, or grant; what a majority is. */
unsigned quorum_count(const struct core *core, bool ready);
unsigned quorum_majority(const struct core *core);

/* Says when there is none any more, and when there is one again. */
void quorum_tell(struct core *core);

#endif
