/*
 * DRILL: a holder is told that it has lost a name, and keeps others away until
 * it has let go; how long did it go on?
 */
#ifndef LOCKBROKER_CORE_PARTS_DRILL_DRILL_H
#define LOCKBROKER_CORE_PARTS_DRILL_DRILL_H

#include "core/kernel/session/owner.h"

/* A DRILL of the owner.  The answer comes when the holder has let go. */
void drill_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

#endif
