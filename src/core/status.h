/*
 * STATUS and QUEUE: who has a name, here or according to the store.
 */
#ifndef LOCKBROKER_CORE_STATUS_H
#define LOCKBROKER_CORE_STATUS_H

#include "core/lock/state.h"

/* A STATUS or a QUEUE of the owner.  The answer may come later. */
void status_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

/* The name was recalled: asks again. */
void status_again(struct core *core, const struct slot *slot, int64_t left_ms);

/* Redis has answered a LOOK, or has not. */
void status_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);

#endif
