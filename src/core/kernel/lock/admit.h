/*
 * What LOCK of one name and of several names ask before they begin to wait.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_ADMIT_H
#define LOCKBROKER_CORE_KERNEL_LOCK_ADMIT_H

#include "core/kernel/lock/state.h"

/* Is there room for the request?  False: it was refused with a reply.  `first`
 * is the lock of its first name; NULL: there is none. */
bool lock_allowed(struct core *core, struct owner *owner,
    const struct core_request *rq, const struct lock *first);

/* Would the session wait for itself?  True: it was refused with a reply. */
bool lock_refuse_deadlock(struct core *core, struct owner *owner,
    const struct core_request *rq, struct lock *const *locks);

/*
 * Deadlock: sessions of this broker that wait for each other in a circle.
 *
 * A session counts as waiting only for its untagged requests: it can do nothing
 * else meanwhile.  It waits for every session that holds a name it asked for.
 */

/* After a grant to the session: refuses its waiting request if the grant has
 * closed a circle. */
void deadlock_check(struct core *core, struct owner *owner);

#endif
