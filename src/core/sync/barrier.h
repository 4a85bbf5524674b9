/*
 * Cyclic barriers ("Other synchronizers" in lockbroker-protocol(7)): BARRIER.
 */
#ifndef LOCKBROKER_CORE_SYNC_BARRIER_H
#define LOCKBROKER_CORE_SYNC_BARRIER_H

#include "core/sync/sync.h"

extern const struct sync_class barrier_class;

/* A party arrives.  It is answered later, unless a limit or another parties=
 * refuses it. */
void barrier_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

#endif
