/*
 * A server of a quorum that has lost its data: how it gets all fences back.
 */
#ifndef LOCKBROKER_CORE_GUARD_RECOVERY_H
#define LOCKBROKER_CORE_GUARD_RECOVERY_H

#include "core/guard/guard.h"

/* Can another broker do that better?  Then it has the time of a grace period. */
bool recovery_others_first(const struct core *core, const struct guard *g);

/* It is about to be blessed: says so if fences rest on the clocks alone. */
void recovery_note(struct core *core, const struct guard *g);

#endif
