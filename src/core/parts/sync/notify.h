/*
 * Log lines about permits; those about locks are in core/parts/observe/notify.h.
 */
#ifndef LOCKBROKER_CORE_PARTS_SYNC_NOTIFY_H
#define LOCKBROKER_CORE_PARTS_SYNC_NOTIFY_H

#include "core/parts/sync/sync.h"

struct permits;

/* n permits were granted, or released. */
void notify_permits(
    struct core *core, enum notice_id id, const struct permits *p, uint64_t n);
/* n of p are lost.  If the reason is the client's own hold=, the line is no
 * warning. */
void notify_permits_lost(
    struct core *core, const struct permits *p, uint64_t n, const char *reason);
/* They are at risk, and will be lost in left_ms unless a renewal is confirmed;
 * or `safe` again. */
void notify_permits_risk(
    struct core *core, const struct permits *p, bool safe, int64_t left_ms);

#endif
