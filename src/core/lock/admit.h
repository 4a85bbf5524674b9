/*
 * What LOCK of one name and of several names ask before they begin to wait.
 */
#ifndef LOCKBROKER_CORE_LOCK_ADMIT_H
#define LOCKBROKER_CORE_LOCK_ADMIT_H

#include "core/lock/state.h"

/* Is there room for the request?  False: it was refused with a reply. */
bool lock_allowed(
    struct core *core, struct owner *owner, const struct core_request *rq);

/* Would the session wait for itself?  True: it was refused with a reply. */
bool lock_refuse_deadlock(struct core *core, struct owner *owner,
    const struct core_request *rq, struct lock *const *locks);

#endif
