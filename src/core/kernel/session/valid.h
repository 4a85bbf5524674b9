/*
 * Until when the broker vouches for everything that an owner has: PING's
 * valid=.
 *
 * If an owner has few things, the broker looks at each.  If it has many, the
 * broker keeps a bound: nothing runs out before it.  Renewals put deadlines
 * off, and leave the bound as it is; when the bound is near, a walk over all
 * things, a part in each step, finds a later one.  If the client does not ask,
 * the bound may come nearer, and walks are fewer.  Anything that brings a
 * deadline nearer lowers the bound at once: a thing that the owner gets, a
 * shorter hold=, a clock that gains.  So the bound is never later than is true,
 * whatever happens between the parts.
 */
#ifndef LOCKBROKER_CORE_KERNEL_SESSION_VALID_H
#define LOCKBROKER_CORE_KERNEL_SESSION_VALID_H

#include "core/kernel/session/owner.h"

/* Of one owner with many things.  Owned by it. */
struct valid {
	struct owner *owner;
	struct timer timer; /* the next walk */
	int64_t asked_ms;   /* when the client asked last */
	int64_t walked_ms;  /* when the last walk was over */
	/* Bounds, as if no clock had ever gained: see owners.gained_ms. */
	int64_t least_ms; /* of all things */
	int64_t next_ms;  /* of those that the walk has seen, and new ones */
};

/* The owner has something new, or may have something for less time: until
 * then. */
void valid_note(struct core *core, struct owner *owner, int64_t at_ms);

/* One thing is being freed.  Requires that the owner still counts it. */
void valid_left(struct core *core, struct owner *owner);

/* The client asks.  Returns a time at which all that the owner has is still
 * vouched for, though not always the latest; INT64_MAX if it has nothing. */
int64_t valid_until_ms(struct core *core, struct owner *owner);

/* Walks over what owners with many things have. */
void valid_timer(struct core *core, struct timer *t);
bool valid_run_on(struct core *core); /* a job */

#endif
