/*
 * Reports what happens to names to the measurements (observe/count.h).
 */
#ifndef LOCKBROKER_CORE_PARTS_OBSERVE_MEASURED_H
#define LOCKBROKER_CORE_PARTS_OBSERVE_MEASURED_H

#include "core/kernel/lock/state.h"
#include "core/parts/observe/count.h"

/* Logs a hold that is over, of whatever kind (log.audit). */
void measured_audit(struct core *core, const struct measure_hold *h);

#endif
