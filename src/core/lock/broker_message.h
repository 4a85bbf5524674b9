/*
 * Messages from other brokers.  Each is only a hint, and may be lost, late,
 * doubled or wrong.
 */
#ifndef LOCKBROKER_CORE_LOCK_BROKER_MESSAGE_H
#define LOCKBROKER_CORE_LOCK_BROKER_MESSAGE_H

#include "core/lock/state.h"

/* Acts on a message; ignores a text that is none.  `history` is that of the
 * server on which we heard it, see struct core_event. */
void broker_message_take(
    struct core *core, const char *text, size_t len, const char *history);

/* Messages for this name may have been missed.  Returns true if it waits for
 * one: the caller must then call lock_next(). */
bool broker_message_missed(struct core *core, struct lock *l);

#endif
