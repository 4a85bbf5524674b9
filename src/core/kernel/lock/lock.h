/*
 * Names: who holds them and who waits for them through this broker.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_LOCK_H
#define LOCKBROKER_CORE_KERNEL_LOCK_LOCK_H

#include "core/kernel/lock/names.h"

/* Frees the lock.  Requires that the name has no holder and no waiter. */
void lock_free(struct core *core, struct lock *l);

/*
 * Does what a name needs next: the one function through which every change of
 * holders, waiters, outcome or time goes.  Returns false if nothing was left to
 * know of the name, and the lock was freed.
 */
bool lock_next(struct core *core, struct lock *l);

/* A job: lock_next() for names that were touched. */
bool lock_run_touched(struct core *core);

/* The store has said that another broker or client waits for the name. */
void lock_contended(struct core *core, const char *name, size_t len);

/* A client that is no session wants the name.  If it is warm, it is given back
 * before anything that the caller asks the store for after this. */
void lock_recall(struct core *core, const char *name, size_t len);

/* What the end of its claim means for a waiter. */
extern const struct claim_class waiter_class;

/* LOCK and TRYLOCK ("Locks" in lockbroker-protocol(7)). */
void lock_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

/*
 * The waiter whose mode the lease should have when it comes; NULL: no one
 * waits.  It is not of a group that lacks other names if another waiter could
 * be granted at once: the lease would go back and come again in the same mode.
 */
const struct waiter *lock_in_line(
    const struct core *core, const struct lock *l);

/*
 * Grants the name to the waiter that may have it now, or refuses an upgrade
 * that is impossible.  Returns false if it did neither: the lease does not fit
 * yet (an operation may be under way that makes it fit), or no waiter may have
 * it.
 */
bool lock_grant_next(struct core *core, struct lock *l);

/* The store has refused a CONVERT: other brokers share the name, too. */
void lock_upgrade_refused(struct core *core, struct lock *l);

/* UNLOCK and EXTEND; the time for which a hold was bounded is over. */
void unlock_request(
    struct core *core, struct owner *owner, const struct core_request *rq);
void extend_request(
    struct core *core, struct owner *owner, const struct core_request *rq);
void unlock_timer(struct core *core, struct timer *t);

/* The hold of the only name that the owner's request has; NULL: there is none,
 * and the request was refused. */
struct hold *hold_or_refuse(
    struct core *core, struct owner *owner, const struct core_request *rq);

/* A name as the lessee of its lease and of the lease's term. */
extern const struct lease_lessee lock_lessee;
extern const struct term_lessee lock_of_term;

/* What a walk over the names of a guard does. */
extern const struct swept names_swept;

/* Invariants of all names, which hold between two steps.  For tests and the
 * simulator; aborts if one is broken.  Returns how many are blocked. */
size_t locks_check(const struct core *core);

/* How many waiters were granted and have not been told yet.  Looks at all of
 * them. */
uint64_t locks_untold(const struct core *core);

#endif
