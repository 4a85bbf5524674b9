/*
 * How much may be kept for nobody in all (limits.unowned), and for how long:
 * names, latches and token holds share one bound.  The counters are in struct
 * sessions.
 */
#ifndef LOCKBROKER_CORE_SESSION_QUOTA_H
#define LOCKBROKER_CORE_SESSION_QUOTA_H

#include "core/session/record.h"

/* May there be so many more?  If not, answers that, and returns false. */
bool quota_has_room(struct core *core, struct session *s, uint64_t ref,
    uint64_t more, const char *instead);

/* May an option ask for so long?  If not, answers that, and returns false. */
bool quota_bounds(struct core *core, struct session *s, uint64_t ref,
    const char *option, const char *setting, int64_t ms, int64_t most_ms);

#endif
