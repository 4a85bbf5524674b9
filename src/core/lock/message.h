/*
 * Messages from other brokers.  Each is a hint, and may be lost, late, doubled
 * or wrong.
 */
#ifndef LOCKBROKER_CORE_LOCK_MESSAGE_H
#define LOCKBROKER_CORE_LOCK_MESSAGE_H

#include "core/lock/state.h"

void message_take(struct core *core, const char *text, size_t len);

/* They may have been missed for this name: true if it is to be looked at. */
bool message_missed(struct core *core, struct lock *l);

#endif
