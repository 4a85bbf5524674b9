/*
 * Messages from other brokers.  Each is only a hint, and may be lost, late,
 * doubled or wrong.
 */
#ifndef LOCKBROKER_CORE_LOCK_MESSAGE_H
#define LOCKBROKER_CORE_LOCK_MESSAGE_H

#include "core/lock/state.h"

/* Acts on a message; ignores a text that is none. */
void message_take(struct core *core, const char *text, size_t len);

/* Messages for this name may have been missed.  Returns true if it waits for
 * one: the caller must then call lock_next(). */
bool message_missed(struct core *core, struct lock *l);

#endif
