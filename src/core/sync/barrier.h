/*
 * Cyclic barriers (protocol, section 6): BARRIER.
 */
#ifndef LOCKBROKER_CORE_SYNC_BARRIER_H
#define LOCKBROKER_CORE_SYNC_BARRIER_H

#include "core/sync/sync.h"

extern const struct sync_class barrier_class;

void barrier_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

#endif
