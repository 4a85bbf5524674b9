/*
 * Log lines about sessions, and what log lines about their holds share.
 */
#ifndef LOCKBROKER_CORE_KERNEL_SESSION_NOTIFY_H
#define LOCKBROKER_CORE_KERNEL_SESSION_NOTIFY_H

#include "core/kernel/session/owner.h"
#include "core/kernel/turn/tally.h"

/* Emits a line of debugging, if such lines are wanted. */
void notify_session(
    struct core *core, enum notice_id id, const struct owner *owner);

/* Adds fields that say which session to the line emitted last. */
void notify_who(struct core *core, const struct owner *owner);

/* The reason for a lock that its session released while it was at risk. */
#define NOTIFY_GIVEN_UP "given-up"

/* As which kind of line is a loss with this reason logged? */
enum tally_kind notify_loss(const char *reason);

#endif
