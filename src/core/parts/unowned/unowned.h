/*
 * Counts reserved names, and bounds them (limits.unowned).
 */
#ifndef LOCKBROKER_CORE_PARTS_UNOWNED_UNOWNED_H
#define LOCKBROKER_CORE_PARTS_UNOWNED_UNOWNED_H

#include "core/kernel/lock/state.h"

/*
 * The client of a session is gone, and has no grace; or it is back after all.
 * Its names are counted anew in parts, and until then as they were.  That does
 * no harm: a name that is kept for a valid= is never refused.
 */
void unowned_gone(struct core *core, struct owner *owner, bool gone);
bool unowned_go_on(struct core *core); /* a job */

#endif
