/*
 * Places for grace.  A client that is told that its grace= is granted relies on
 * it, so a place is reserved at the request: a session with grace= counts while
 * it is connected, or away and holding something.  There are limits.clients of
 * them, and one of several users has three quarters at most.
 *
 *	NONE --- grace= ---> TAKEN --- away, and has nothing ---> SPARE
 *	     <- grace=0, end -     <--------- resumed -----------
 *
 * A spare session is not kept if its room is needed: the session that has been
 * away longest goes first.  So all of them together are no more than
 * limits.clients, and idle ones keep no client away.
 */
#ifndef LOCKBROKER_CORE_KERNEL_SESSION_PLACE_H
#define LOCKBROKER_CORE_KERNEL_SESSION_PLACE_H

#include "core/kernel/session/record.h"

/* The state of the session has changed: counts it as what it is now. */
void place_look(struct core *core, struct session *s);

/* It is freed, or belongs to another user from now on. */
void place_leave(struct core *core, struct session *s);
void place_pass(struct core *core, struct session *s);

/* Is there a place for one session more of this user (NULL: no user)?  For this
 * one, if it is to be that user's? */
bool place_has_room(const struct core *core, const char *user);
bool place_may_pass(
    const struct core *core, const struct session *s, const char *user);

/* Says the same to a session that asks for a place: if there is none, answers
 * that, and returns false. */
bool place_admits(struct core *core, const struct session *s, uint64_t ref);

/* Returns a session that is not to be kept any longer; NULL: all are. */
struct session *place_surplus(const struct core *core);

/* Do the lists and the counters agree?  For tests; aborts if not. */
void place_check(const struct core *core);

#endif
