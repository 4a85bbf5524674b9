/*
 * Does a lease fit a waiter, so that the waiter can be granted the name?  And
 * if it does not: the operations that make it fit.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_FIT_H
#define LOCKBROKER_CORE_KERNEL_LOCK_FIT_H

#include "core/kernel/lock/state.h"

/* Do the present holders, if any, let w have the name, too? */
bool lock_compatible(const struct lock *l, const struct waiter *w);

/*
 * Does w only re-enter: has its session the name already, in a mode that will
 * do?
 */
bool lock_reenters(
    const struct core *core, const struct lock *l, const struct waiter *w);

/*
 * Does the name linger in a way that excludes w (NULL: anyone)?  Not if it
 * lingers for the session of w, or if w only re-enters.
 */
bool lock_lingers(
    const struct core *core, const struct lock *l, const struct waiter *w);

/*
 * Is the name kept for w, a member of a starving group, even if another broker
 * waits?  Not if the group came after that broker: one group after the other
 * could keep it waiting for ever.
 */
bool lock_kept_for(
    const struct core *core, const struct lock *l, const struct waiter *w);

/*
 * Does another client here come before the first waiter?  A token that polls
 * has a place of its own in the store's queue, beside this broker's.  So that
 * the waiters make progress whatever tokens do, the broker gives way at most
 * locks.handovers times between two grants, unless it has just made one.
 */
bool lock_gives_way(const struct core *core, const struct lock *l);

/* Could w be granted the name if the lease fitted and the holders let it in? */
bool lock_free_for(
    const struct core *core, const struct lock *l, const struct waiter *w);

/*
 * Does the name linger for the session of w, which now wants to share it?  Then
 * the lease stays exclusive: no one else may join before the linger is over.
 * Not if others hold the name: it lingers because one of several sharers here
 * has left, and w joins those that stayed.
 */
bool lock_keeps_alone(
    const struct core *core, const struct lock *l, const struct waiter *w);

/*
 * Does the lease fit w: its mode, a fence to give, a key that lives long
 * enough?  If not, lock_prepare() also asks the store for what is lacking, if
 * it can be asked now.
 */
bool lock_suits(
    const struct core *core, const struct lock *l, const struct waiter *w);
bool lock_prepare(struct core *core, struct lock *l, const struct waiter *w);

#endif
