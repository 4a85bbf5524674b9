/*
 * Granting: the waiter leaves the queue, and its session holds the name.
 */
#ifndef LOCKBROKER_CORE_LOCK_GRANT_H
#define LOCKBROKER_CORE_LOCK_GRANT_H

#include "core/lock/state.h"

/* Grants the name to w.  Requires that the lease is vouched for and fits w. */
void lock_grant(struct core *core, struct waiter *w);

#endif
