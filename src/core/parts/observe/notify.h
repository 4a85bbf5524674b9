/*
 * Log lines about locks: they say who lost what, when and why.
 */
#ifndef LOCKBROKER_CORE_PARTS_OBSERVE_NOTIFY_H
#define LOCKBROKER_CORE_PARTS_OBSERVE_NOTIFY_H

#include "core/kernel/lock/state.h"

/* Debug lines; they are made only if they are wanted. */
void notify_granted(struct core *core, const struct waiter *w);
void notify_released(struct core *core, const struct hold *h);

/* A hold is lost; only an INFO if it has reached its bound. */
void notify_lost(struct core *core, const struct hold *h, const char *reason);

/* A hold is at risk, or safe again. */
/* The broker stops, and the session has not released the lock. */
void notify_stopped(struct core *core, const struct hold *h);
void notify_risk(
    struct core *core, const struct hold *h, bool safe, int64_t left_ms);

/* UNLOCK-FORCE: the session `by` asks; h: the hold here, or NULL. */
void notify_force(struct core *core, const struct owner *by,
    const struct hold *h, const char *name, size_t len);
/* Another broker has asked for it; h NULL: here the name only lingers. */
void notify_forced(struct core *core, const struct lock *l,
    const struct hold *h, const char *by);

#endif
