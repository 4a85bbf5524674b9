/*
 * Log lines about holds, permits and sessions.  Only files of src/core include
 * this.
 */
#ifndef LOCKBROKER_CORE_NOTIFY_H
#define LOCKBROKER_CORE_NOTIFY_H

#include "core/state.h"

/* Lines of debugging; they are not made unless somebody reads them. */
void notify_session(
    struct core *core, enum notice_id id, const struct session *s);
void notify_granted(struct core *core, const struct waiter *w);
void notify_released(struct core *core, const struct hold *h);
void notify_permits(
    struct core *core, enum notice_id id, const struct permits *p, uint64_t n);

/* What is lost; INFO where the holder had set the bound itself. */
void notify_lost(struct core *core, const struct hold *h, const char *reason);
void notify_permits_lost(
    struct core *core, const struct permits *p, const char *reason);

/* At risk, or safe again: the first ones by name, then how many more. */
void notify_risk(
    struct core *core, const struct hold *h, bool safe, int64_t left_ms);
void notify_permits_risk(
    struct core *core, const struct permits *p, bool safe, int64_t left_ms);
void notify_run(struct core *core);

/* UNLOCK-FORCE: who asks, of whoever has it here (NULL: nobody has). */
void notify_force(struct core *core, const struct session *by,
    const struct hold *h, const char *name, size_t len);
/* Another broker has asked; `h` NULL: it is only kept for a while. */
void notify_forced(struct core *core, const struct lock *l,
    const struct hold *h, const char *by);

#endif
