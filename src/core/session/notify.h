/*
 * Log lines about sessions, and what lines about what they hold share.
 */
#ifndef LOCKBROKER_CORE_SESSION_NOTIFY_H
#define LOCKBROKER_CORE_SESSION_NOTIFY_H

#include "core/session/record.h"

/* A line of debugging; it is not made unless somebody reads it. */
void notify_session(
    struct core *core, enum notice_id id, const struct session *s);

/* Fields of the line emitted last: which session. */
void notify_who(struct core *core, const struct session *s);

/* Was it lost by its own hold=? */
bool notify_is_bound(const char *reason);

#endif
