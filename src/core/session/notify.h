/*
 * Log lines about sessions, and what log lines about their holds share.
 */
#ifndef LOCKBROKER_CORE_SESSION_NOTIFY_H
#define LOCKBROKER_CORE_SESSION_NOTIFY_H

#include "core/session/owner.h"

/* Emits a line of debugging, if somebody reads such lines. */
void notify_session(
    struct core *core, enum notice_id id, const struct owner *owner);

/* Adds fields that say which session to the line emitted last. */
void notify_who(struct core *core, const struct owner *owner);

/* Is this the reason of a hold that ran out by its own hold=? */
bool notify_is_bound(const char *reason);

#endif
