/*
 * Invariants of all names, which hold between two steps.
 */
#ifndef LOCKBROKER_CORE_LOCK_CHECK_H
#define LOCKBROKER_CORE_LOCK_CHECK_H

#include "core/lock/state.h"

/* For tests and the simulator; aborts if an invariant is broken. */
void locks_check(const struct core *core);

#endif
