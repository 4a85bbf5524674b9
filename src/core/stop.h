/*
 * The end of a broker: who keeps what for how long (protocol, section 7).
 */
#ifndef LOCKBROKER_CORE_STOP_H
#define LOCKBROKER_CORE_STOP_H

#include "core/lock/state.h"

void stop_init(struct core *core);
void stop_fini(struct core *core);

/* Has it come by all sessions? */
bool stop_all_over(const struct core *core);

/* Tells everybody, refuses what waits, and releases all that may be. */
void stop_begin(struct core *core);

/* The second is over. */
void stop_timer(struct core *core, struct timer *t);

/* What former steps have left. */
void stop_on(struct core *core);

#endif
