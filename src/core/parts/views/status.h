/*
 * STATUS and QUEUE: who has a name, here or according to the store.
 */
#ifndef LOCKBROKER_CORE_PARTS_VIEWS_STATUS_H
#define LOCKBROKER_CORE_PARTS_VIEWS_STATUS_H

#include "core/kernel/lock/state.h"

/* A STATUS or a QUEUE of the owner.  The answer may come later. */
void status_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

#endif
