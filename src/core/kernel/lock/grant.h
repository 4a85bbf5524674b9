/*
 * Granting: the waiter leaves the queue, and its session holds the name.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_GRANT_H
#define LOCKBROKER_CORE_KERNEL_LOCK_GRANT_H

#include "core/kernel/lock/state.h"

/* Grants the name to w.  Requires that the lease is vouched for and fits w. */
void lock_grant(struct core *core, struct waiter *w);

/*
 * A session has come to hold a name: its other requests for that name need no
 * longer wait, but re-enter.
 *
 * If the queue of the name is short, or the session waits for few things, they
 * do so at once.  Otherwise a walk visits everything that the session waits
 * for, in parts, and once for all names that it got meanwhile.  Until then a
 * request waits like any other: no other session is granted a name that this
 * one has, and if this one releases it before, the request goes on waiting in
 * its place.
 */

/* `several`: it was granted with others of a LOCK of several names. */
void reenter_others(struct core *core, struct hold *h, bool several);

/* A job: goes on with the walks. */
bool reenter_on(struct core *core);

#endif
