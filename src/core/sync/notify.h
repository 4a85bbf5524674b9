/*
 * Log lines about permits; those about locks are in core/lock/notify.h.
 */
#ifndef LOCKBROKER_CORE_SYNC_NOTIFY_H
#define LOCKBROKER_CORE_SYNC_NOTIFY_H

#include "core/sync/sync.h"

struct permits;

void notify_permits(
    struct core *core, enum notice_id id, const struct permits *p, uint64_t n);
void notify_permits_lost(
    struct core *core, const struct permits *p, const char *reason);
void notify_permits_risk(
    struct core *core, const struct permits *p, bool safe, int64_t left_ms);

#endif
