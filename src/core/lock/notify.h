/*
 * Log lines about locks: who lost what, when and why, for those who read the log
 * later.
 */
#ifndef LOCKBROKER_CORE_LOCK_NOTIFY_H
#define LOCKBROKER_CORE_LOCK_NOTIFY_H

#include "core/lock/state.h"

/* Lines of debugging; they are not made unless somebody reads them. */
void notify_granted(struct core *core, const struct waiter *w);
void notify_released(struct core *core, const struct hold *h);

/* What is lost; INFO if the holder had set the bound itself. */
void notify_lost(struct core *core, const struct hold *h, const char *reason);

/* At risk, or safe again. */
void notify_risk(
    struct core *core, const struct hold *h, bool safe, int64_t left_ms);

/* UNLOCK-FORCE: who asks, of whoever has it here (NULL: nobody has). */
void notify_force(struct core *core, const struct session *by,
    const struct hold *h, const char *name, size_t len);
/* Another broker has asked; `h` NULL: it is only kept for a while. */
void notify_forced(struct core *core, const struct lock *l,
    const struct hold *h, const char *by);

#endif
