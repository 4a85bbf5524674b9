/*
 * How much an owner may ask for (limits.holds); nothing if the broker stops.
 * How much may be reserved without an owner in all (limits.unowned), and for
 * how long: names, latches and token holds share one bound.  The counters are
 * in struct owners.
 */
#ifndef LOCKBROKER_CORE_KERNEL_SESSION_QUOTA_H
#define LOCKBROKER_CORE_KERNEL_SESSION_QUOTA_H

#include "core/kernel/session/owner.h"

#define QUOTA_STOPPING "the broker is stopping; try another one"
#define QUOTA_DRAINED "the broker is draining; try another one"

/* Does the broker take requests?  If not, answers that, and returns false. */
bool quota_open(struct core *core, const struct owner *owner, uint64_t ref);

/* The same for anything new from a broker that is drained. */
bool quota_grants(struct core *core, const struct owner *owner, uint64_t ref);

/* May the owner hold, await or watch this many more things, by the request?
 * Likewise. */
bool quota_admits(struct core *core, const struct owner *owner,
    const struct core_request *rq, unsigned more);

/* The same of token holds, which limits.holds does not bound. */
bool quota_admits_tokens(
    struct core *core, const struct owner *owner, uint64_t ref, unsigned more);

/* May this many more things be reserved without an owner?  If not, answers
 * that, with `instead` as what the client may do, and returns false. */
bool quota_has_room(struct core *core, struct owner *owner, uint64_t ref,
    uint64_t more, const char *instead);

/* May an option ask for that long?  If not, answers that, and returns false.
 * `setting` is the setting that says `most_ms`. */
bool quota_bounds(struct core *core, struct owner *owner, uint64_t ref,
    const char *option, const char *setting, int64_t ms, int64_t most_ms);

#endif
