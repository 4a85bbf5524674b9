/*
 * Withdraws a request without an answer of its own, because its client is gone
 * or the broker stops.  A grant that was not told yet is undone.
 */
#ifndef LOCKBROKER_CORE_LOCK_WITHDRAW_H
#define LOCKBROKER_CORE_LOCK_WITHDRAW_H

#include "core/lock/state.h"

/* Without a reply: the request has one, or nobody is there to read it. */
void withdraw_request(struct core *core, struct waiter *w);

/* With the reply that the broker stops. */
void withdraw_refuse(struct core *core, struct waiter *w);

#endif
