/*
 * Names: who holds them and who waits for them through this broker.
 */
#ifndef LOCKBROKER_CORE_LOCK_LOCK_H
#define LOCKBROKER_CORE_LOCK_LOCK_H

#include "core/lock/names.h"

/* Frees the lock.  Requires that nobody holds the name or waits for it. */
void lock_free(struct core *core, struct lock *l);

/*
 * Does what a name needs next: the one function through which every change of
 * holders, waiters, outcome or time goes.  Returns false if nothing was left to
 * know of the name, and the lock was freed.
 */
bool lock_next(struct core *core, struct lock *l);

/* The store has said that somebody else waits for the name. */
void lock_contended(struct core *core, const char *name, size_t len);

/*
 * Brings the lock up to date before a request acts on it: if the lease has run
 * out or the holders are losing the name, they are told so first; if they are
 * many, at least this session is.
 */
void lock_look(struct core *core, struct lock *l, const struct owner *owner);

/* LOCK and TRYLOCK (protocol, section 5). */
void lock_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

/*
 * Parts of LOCK for one name and for several.  lock_allowed() returns false,
 * and lock_refuse_deadlock() true, if it has refused the request with a reply.
 */
bool lock_allowed(
    struct core *core, struct owner *owner, const struct core_request *rq);
bool lock_refuse_deadlock(struct core *core, struct owner *owner,
    const struct core_request *rq, struct lock *const *locks);

/*
 * The waiter whose mode the lease should have when it comes; NULL: nobody
 * waits.  It is not of a group that lacks other names if another waiter could
 * be granted at once: the lease would go back and come again in the same mode.
 */
const struct waiter *lock_in_line(
    const struct core *core, const struct lock *l);

/* Do the present holders, if any, let w have the name, too? */
bool lock_compatible(const struct lock *l, const struct waiter *w);

/* Grants the name to w.  Requires that the lease is vouched for and fits w. */
void lock_grant(struct core *core, struct waiter *w);

/*
 * Grants the name to the waiter that may have it now, or refuses an upgrade
 * that can't be.  Returns false if it did neither: the lease does not fit yet
 * (an operation may be under way that makes it fit), or nobody may have it.
 */
bool lock_grant_next(struct core *core, struct lock *l);

/* The store has refused a CONVERT: other brokers share the name, too. */
void lock_upgrade_refused(struct core *core, struct lock *l);

/* Tells the grants that are still good, and withdraws the others, as many as
 * the step has work left for. */
void lock_tell_granted(struct core *core);

#endif
