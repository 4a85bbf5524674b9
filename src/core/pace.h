/*
 * Pace: renewals spread over time.
 *
 * Leases that were taken in a burst would be renewed in bursts for ever.  So it
 * is counted how many renewals are planned for each slice of the time ahead.
 * Each has a share of them, and what is beyond that is planned for another, a
 * little earlier.  So a burst is flat after a few renewals.
 */
#ifndef LOCKBROKER_CORE_PACE_H
#define LOCKBROKER_CORE_PACE_H

#include "core/state.h"

/* A moment for a renewal, at most early_ms before at_ms; it is counted. */
int64_t pace_plan(struct core *core, int64_t at_ms, int64_t early_ms);

#endif
