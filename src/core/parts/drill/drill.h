/*
 * DRILL: a holder is told that it has lost a name, which no one else gets until
 * the holder has released it.  How long did the holder go on?
 */
#ifndef LOCKBROKER_CORE_PARTS_DRILL_DRILL_H
#define LOCKBROKER_CORE_PARTS_DRILL_DRILL_H

#include "core/kernel/session/owner.h"

/* A DRILL of the owner.  The answer comes when the holder has released the
 * name. */
void drill_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

#endif
