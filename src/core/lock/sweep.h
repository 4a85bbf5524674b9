/*
 * What is done for all names of a guard: those that there are now.  Walks come
 * by each at least once, a part of them a step.
 */
#ifndef LOCKBROKER_CORE_LOCK_SWEEP_H
#define LOCKBROKER_CORE_LOCK_SWEEP_H

#include "core/lock/state.h"

/* Lets everything go on that waited, once; what must wait on blocks again. */
void sweep_blocked(struct core *core, uint32_t shard);

/* What was confirmed before is in doubt: what is held is written again. */
void sweep_history(struct core *core, uint32_t shard);

/* Messages may have been missed: looks at every queued name, spread out. */
void sweep_look(struct core *core);

/* Is everything written again that this broker holds there? */
bool sweep_reclaimed(struct core *core, uint32_t shard);

/* What former steps have left. */
void sweep_run(struct core *core);

#endif
