/*
 * STATUS and QUEUE: who has a name, here or according to the store.
 */
#ifndef LOCKBROKER_CORE_PARTS_VIEWS_STATUS_H
#define LOCKBROKER_CORE_PARTS_VIEWS_STATUS_H

#include "core/kernel/lock/state.h"

/* A STATUS or a QUEUE of the owner.  The answer may come later. */
void status_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

/* The name was recalled: asks again. */
void status_again(struct core *core, const struct slot *slot, int64_t left_ms);

/* Redis has answered, or has not; and then the broker that has the name,
 * or has not (NULL). */
void status_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
void status_told(struct core *core, const struct slot *slot,
    const struct outcome *o, const struct about *told);

/* lock_hooks.token_held() */
bool status_of_token(
    const struct core *core, const char *name, size_t len, struct about *out);

#endif
