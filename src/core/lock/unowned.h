/*
 * Names that are kept for nobody: how many there may be (limits.unowned).
 */
#ifndef LOCKBROKER_CORE_LOCK_UNOWNED_H
#define LOCKBROKER_CORE_LOCK_UNOWNED_H

#include "core/lock/state.h"

/* Something about the name has changed: is it kept for nobody now? */
void unowned_look(struct core *core, struct lock *l);

/* It is about to be freed. */
void unowned_forget(struct core *core, struct lock *l);

/* A hold or a request with keep= or delay= comes (1) or goes (-1). */
void unowned_bind(struct core *core, struct lock *l, int by);

/* The client of a session is gone for good, or is back after all. */
void unowned_gone(struct core *core, struct session *s, bool gone);

/* A hold of a session that is gone has ended. */
void unowned_hold_ended(struct core *core, struct lock *l);

/* May it ask for so much?  False: it was answered. */
bool unowned_allows(
    struct core *core, struct session *s, const struct core_request *rq);

#endif
