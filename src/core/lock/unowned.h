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

/*
 * The client of a session is gone for good, or is back after all.  Its names are
 * counted so in parts; meanwhile some count as they did.  That is as good: what
 * is kept for a valid= is refused to nobody.
 */
void unowned_gone(struct core *core, struct session *s, bool gone);
void unowned_go_on(struct core *core);
bool unowned_has_more(const struct core *core);

/* The session is about to be freed. */
void unowned_leave(struct core *core, struct session *s);

/* A hold that counted as that of a session that is gone has ended. */
void unowned_hold_ended(struct core *core, struct lock *l);

/* May it ask for so much?  False: it was answered. */
bool unowned_allows(
    struct core *core, struct session *s, const struct core_request *rq);

#endif
