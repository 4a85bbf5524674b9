/*
 * Until when all is vouched for that a session holds: the valid= of PING.
 *
 * Of a session with few things that is looked up (core/vouched.h).  For one with
 * many, a bound is kept: nothing runs out before it.  Renewals put deadlines
 * off, of which the bound need not know; a walk over all, a part a step, eight
 * times a lease, finds a later one.  What brings a deadline nearer lowers it at
 * once: what the session gets, a shorter hold=, a clock that gains.  So the
 * bound is never later than is true, whatever happens between the parts.
 */
#ifndef LOCKBROKER_CORE_SESSION_VALID_H
#define LOCKBROKER_CORE_SESSION_VALID_H

#include "core/session/record.h"

/* Of one session with many things.  Owned by it. */
struct valid {
	TAILQ_ENTRY(valid) in_walking;
	struct session *session;
	struct timer timer; /* the next walk */
	bool walking;	    /* in sessions.walking */
	/* Bounds, as if no clock had ever gained: see sessions.gained_ms. */
	int64_t least_ms; /* of all */
	int64_t next_ms;  /* of what the walk has come by, and what is new */
	const struct hold *hold; /* that come next */
	const struct permits *permits;
};

/* It has something new, or for a shorter time: until then. */
void valid_note(struct core *core, struct session *s, int64_t at_ms);

/* This is being freed; the session still counts it.  The one behind it. */
void valid_leave_hold(struct core *core, struct session *s,
    const struct hold *h, const struct hold *next);
void valid_leave_permits(struct core *core, struct session *s,
    const struct permits *p, const struct permits *next);

/* The next walk is due in a part of a lease. */
void valid_plan(struct core *core, struct valid *v);

#endif
