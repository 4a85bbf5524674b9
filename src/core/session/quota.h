/*
 * How much is kept for nobody in all (limits.unowned), and for how long: names
 * and latches share one bound.  The counters are in struct sessions.
 */
#ifndef LOCKBROKER_CORE_SESSION_QUOTA_H
#define LOCKBROKER_CORE_SESSION_QUOTA_H

#include "core/session/record.h"

/* May there be so many more?  False: there is no room, and that was answered. */
bool quota_has_room(struct core *core, struct session *s, uint64_t ref,
    uint64_t more, const char *instead);

/* May an option ask for so long?  False: not, and that was answered. */
bool quota_bounds(struct core *core, struct session *s, uint64_t ref,
    const char *option, const char *setting, int64_t ms, int64_t most_ms);

#endif
