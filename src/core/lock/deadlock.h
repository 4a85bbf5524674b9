/*
 * Deadlock: sessions of this broker that wait for each other in a circle.
 *
 * A session counts as waiting where its request is untagged: it can do nothing
 * else meanwhile.  It waits for every session that holds a name it asked for.
 */
#ifndef LOCKBROKER_CORE_LOCK_DEADLOCK_H
#define LOCKBROKER_CORE_LOCK_DEADLOCK_H

#include "core/lock/state.h"

/*
 * Looks for a circle through the session, which waits (or is about to) for
 * these names.  Writes it as `a -> b -> a` and returns true where there is
 * one.
 */
bool deadlock_find(struct core *core, struct session *s,
    struct lock *const *locks, unsigned n, struct buf *circle);

/* A session that was just granted a name: refuses what it waits for. */
void deadlock_check(struct core *core, struct session *s);

#endif
