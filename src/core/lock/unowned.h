/*
 * Counts the names that are kept for nobody, and bounds them (limits.unowned).
 */
#ifndef LOCKBROKER_CORE_LOCK_UNOWNED_H
#define LOCKBROKER_CORE_LOCK_UNOWNED_H

#include "core/lock/state.h"

/* The name has changed: counts it anew. */
void unowned_look(struct core *core, struct lock *l);

/* The lock is about to be freed. */
void unowned_forget(struct core *core, struct lock *l);

/* A hold or a request of the owner with keep= or delay= comes, or goes. */
void unowned_bind(struct core *core, struct lock *l, const struct owner *owner);
void unowned_unbind(struct core *core, struct lock *l);

/*
 * The client of a session is gone, and has no grace; or it is back after all.
 * Its names are counted anew in parts, and until then as they were.  That does
 * no harm: a name that is kept for a valid= is refused to nobody.
 */
void unowned_gone(struct core *core, struct owner *owner, bool gone);
bool unowned_go_on(struct core *core); /* a job */

/* A hold has ended that was counted as that of a client that is gone. */
void unowned_hold_ended(struct core *core, struct lock *l);

/* May the request have its keep= and delay=?  False: it was refused. */
bool unowned_allows(
    struct core *core, struct owner *owner, const struct core_request *rq);

#endif
