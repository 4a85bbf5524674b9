/*
 * What a step does besides its event: timers that are due, losses, names that
 * were touched, and what earlier steps have left.
 *
 * All of it is bounded (work.h).  First comes what cannot wait: losses, then
 * leases and all else that the broker vouches for, then requests that wait,
 * then the walks over all names of a guard and the names that were touched.
 * core_has_losses() and core_deadline() (core.h) say what is still to be done.
 */
#ifndef LOCKBROKER_CORE_KERNEL_AGENDA_H
#define LOCKBROKER_CORE_KERNEL_AGENDA_H

#include "core/kernel/turn/turn.h"

/* Runs before the event.  `bare`: the event is nothing but the time. */
void agenda_run(struct core *core, bool bare);

/* After the event: sees to what it has touched. */
void agenda_settle(struct core *core);

/* Then: warns holders, and tells sessions that watch a name. */
void agenda_tell(struct core *core, bool bare);

#endif
