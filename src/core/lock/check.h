/*
 * What is true of all names between two steps.
 */
#ifndef LOCKBROKER_CORE_LOCK_CHECK_H
#define LOCKBROKER_CORE_LOCK_CHECK_H

#include "core/lock/state.h"

/* For tests and the simulator; aborts if it is not. */
void locks_check(const struct core *core);

#endif
