/*
 * UNLOCK and EXTEND.
 */
#ifndef LOCKBROKER_CORE_LOCK_UNLOCK_H
#define LOCKBROKER_CORE_LOCK_UNLOCK_H

#include "core/lock/state.h"

void unlock_request(
    struct core *core, struct owner *owner, const struct core_request *rq);
void extend_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

/* The time for which a hold was bounded is over. */
void unlock_timer(struct core *core, struct timer *t);

#endif
