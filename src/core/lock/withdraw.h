/*
 * A request that ends otherwise than by an answer of its own: its client is
 * gone, or the broker stops.  A grant that was not told yet is as if it had not
 * been made.
 */
#ifndef LOCKBROKER_CORE_LOCK_WITHDRAW_H
#define LOCKBROKER_CORE_LOCK_WITHDRAW_H

#include "core/lock/state.h"

/* Without a word: it has been answered, or nobody is there to be told. */
void withdraw_request(struct core *core, struct waiter *w);

/* The broker stops, and says so. */
void withdraw_refuse(struct core *core, struct waiter *w);

#endif
