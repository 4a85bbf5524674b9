/*
 * What a lease must be like, so that somebody who waits may be granted it; and
 * what makes it so.
 */
#ifndef LOCKBROKER_CORE_LOCK_FIT_H
#define LOCKBROKER_CORE_LOCK_FIT_H

#include "core/lock/state.h"

/* Does it linger for another than this one? */
bool lock_lingers(
    const struct core *core, const struct lock *l, const struct waiter *w);

/*
 * Is it kept for w, a member of a starving group, though another broker waits?  Not
 * for a group that came after that broker: one after the other, they could keep
 * it waiting for ever.
 */
bool lock_kept_for(
    const struct core *core, const struct lock *l, const struct waiter *w);

/* Could w be granted on it, were it made to fit? */
bool lock_free_for(
    const struct core *core, const struct lock *l, const struct waiter *w);

/*
 * Does it linger for w alone, who would share it now?  Then it is not shared:
 * nobody else may come before that is over.
 */
bool lock_keeps_alone(
    const struct core *core, const struct lock *l, const struct waiter *w);

/*
 * Does it fit w: its mode, a fence to give, a key that lives long enough?
 * lock_fits() sends what makes it fit if it does not.
 */
bool lock_suits(
    const struct core *core, const struct lock *l, const struct waiter *w);
bool lock_fits(struct core *core, struct lock *l, const struct waiter *w);

#endif
