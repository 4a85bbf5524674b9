/*
 * A latch is in the store, and of nobody.  It counts for the ttl= that it was
 * made with (limits.unowned); that others use it longer is theirs.
 */
#ifndef LOCKBROKER_CORE_SYNC_MADE_H
#define LOCKBROKER_CORE_SYNC_MADE_H

#include "core/sync/sync.h"

/* May the session make one?  False: it was answered. */
bool made_allowed(
    struct core *core, struct session *s, const struct core_request *rq);

/* One is in the store, and for how long after its last use. */
void made_new(struct core *core, int64_t ttl_ms);
void made_timer(struct core *core, struct timer *t);
void made_fini(struct core *core);

#endif
