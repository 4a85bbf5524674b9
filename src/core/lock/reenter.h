/*
 * The other requests of a session that has come to hold a name: what it asked
 * for besides need not wait, but re-enters.
 *
 * If the queue of the name is short, or the session waits for few things, that
 * is done at once; else a walk over all that the session waits for does it, in
 * parts, and once for all names that it got meanwhile.  A request that the walk
 * has not come by yet waits like any: nobody else is granted what the session
 * has, and if it lets go before, then the request goes on waiting in its place.
 */
#ifndef LOCKBROKER_CORE_LOCK_REENTER_H
#define LOCKBROKER_CORE_LOCK_REENTER_H

#include "core/lock/state.h"

/* `several`: it was granted with others of a LOCK of several names. */
void reenter_others(struct core *core, struct hold *h, bool several);

void reenter_on(struct core *core);
bool reenter_has_more(const struct core *core);

/* The session is about to be freed. */
void reenter_leave(struct core *core, struct session *s);

#endif
