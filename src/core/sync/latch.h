/*
 * Count-down latches ("Other synchronizers" in lockbroker-protocol(7)): LATCH,
 * COUNTDOWN and AWAIT.
 */
#ifndef LOCKBROKER_CORE_SYNC_LATCH_H
#define LOCKBROKER_CORE_SYNC_LATCH_H

#include "core/sync/sync.h"

extern const struct sync_class latch_class;

/* One of these three; the verb says which.  It is answered later, unless a
 * limit refuses it. */
void latch_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

#endif
