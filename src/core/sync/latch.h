/*
 * Count-down latches (protocol, section 6): LATCH, COUNTDOWN and AWAIT.
 */
#ifndef LOCKBROKER_CORE_SYNC_LATCH_H
#define LOCKBROKER_CORE_SYNC_LATCH_H

#include "core/sync/sync.h"

extern const struct sync_class latch_class;

void latch_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

#endif
