/*
 * Recovery: when a server that may have forgotten something grants again.
 */
#ifndef LOCKBROKER_CORE_GUARD_RECOVERY_H
#define LOCKBROKER_CORE_GUARD_RECOVERY_H

#include "core/guard/guard.h"

/* When this broker may bless a pending guard. */
int64_t guard_bless_ms(const struct core *core, const struct guard *g);

/*
 * A server of a quorum is about to be blessed: logs it if only the clocks of
 * the brokers ensure now that fences rise.
 */
void recovery_note(struct core *core, const struct guard *g);

#endif
