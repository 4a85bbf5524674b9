/*
 * A latch is in the store and belongs to nobody.  It counts against
 * limits.unowned for the ttl= of its LATCH, even if others use it longer.
 */
#ifndef LOCKBROKER_CORE_SYNC_LATCH_COUNT_H
#define LOCKBROKER_CORE_SYNC_LATCH_COUNT_H

#include "core/sync/sync.h"

/* May the session make a latch?  If not, this answers the request. */
bool latch_count_allowed(
    struct core *core, struct owner *owner, const struct core_request *rq);

/* Counts a latch that the owner has made, for ttl_ms. */
void latch_count_new(
    struct core *core, const struct owner *owner, int64_t ttl_ms);
void latch_count_timer(struct core *core, struct timer *t);
void latch_count_fini(struct core *core);

#endif
