/*
 * Does something for all names that a guard has now.  A walk comes by each of
 * them at least once, over several steps.
 */
#ifndef LOCKBROKER_CORE_LOCK_SWEEP_H
#define LOCKBROKER_CORE_LOCK_SWEEP_H

#include "core/lock/state.h"

/* The guard may grant again: lets each blocked lease go on.  One that still
 * can't will block again.  Or it may not: what is warm is given back. */
void sweep_blocked(struct core *core, uint32_t shard);

/* The store may have forgotten what it confirmed: writes again what is held. */
void sweep_history(struct core *core, uint32_t shard);

/* Messages may have been missed: plans a look at each name that waits for one,
 * spread over time. */
void sweep_look(struct core *core);

/* Settings have changed, or the broker leaves: gives back, in later steps, what
 * is warm and may not stay so. */
void sweep_warm(struct core *core);

/* The broker is replaced: what is kept for nobody is for its successor. */
void sweep_hand_on(struct core *core);

/* A job: goes on with the walks. */
bool sweep_run(struct core *core);

#endif
