/*
 * STATUS: who has a name, from here or from its key in the store.
 */
#ifndef LOCKBROKER_CORE_STATUS_H
#define LOCKBROKER_CORE_STATUS_H

#include "core/state.h"

void status_request(
    struct core *core, struct session *s, const struct core_request *rq);
void status_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);

#endif
