/*
 * What is to be done in a step beside its event: what is due, what was lost,
 * what was touched, and what former steps have left.
 *
 * All of it is bounded (work.h).  First comes what can't wait: losses, then
 * leases and what else is vouched for, then those who wait, then the names
 * that were touched and the walks over all names of a guard.
 */
#ifndef LOCKBROKER_CORE_AGENDA_H
#define LOCKBROKER_CORE_AGENDA_H

#include "core/lock/state.h"

/* Before the event. */
void agenda_run(struct core *core, bool bare);

/* Behind it: what it has touched; and who watches that. */
void agenda_settle(struct core *core);
void agenda_tell(struct core *core, bool bare);

/* When there is something to do; the present: something was left. */
int64_t agenda_deadline(const struct core *core);

#endif
