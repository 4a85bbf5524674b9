/*
 * Deadlock: sessions of this broker that wait for each other in a circle.
 *
 * A session counts as waiting only for its untagged requests: it can do nothing
 * else meanwhile.  It waits for every session that holds a name it asked for.
 */
#ifndef LOCKBROKER_CORE_LOCK_DEADLOCK_H
#define LOCKBROKER_CORE_LOCK_DEADLOCK_H

#include "core/lock/state.h"

/*
 * Looks for a circle through the session, which waits (or is about to wait) for
 * these names.  If there is one, appends it to `circle` as `a -> b -> a` and
 * returns true.
 */
bool deadlock_find(struct core *core, struct owner *owner,
    struct lock *const *locks, unsigned n, struct buf *circle);

/* After a grant to the session: refuses its waiting request if the grant has
 * closed a circle. */
void deadlock_check(struct core *core, struct owner *owner);

#endif
