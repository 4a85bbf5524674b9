/*
 * Names: who holds them and who waits for them through this broker.
 */
#ifndef LOCKBROKER_CORE_LOCK_LOCK_H
#define LOCKBROKER_CORE_LOCK_LOCK_H

#include "core/lock/names.h"

void lock_free(struct core *core, struct lock *l);

/*
 * Does what a name needs next: the one function through which every change of
 * holders, waiters, outcome or time goes.  False: nothing was left to know, and
 * the lock is freed.
 */
bool lock_next(struct core *core, struct lock *l);

/*
 * Brings it up to date before somebody does something about it: a loss that
 * there was no time to tell yet is told first; if many
 * lose it, this session at least.
 */
void lock_look(struct core *core, struct lock *l, const struct session *s);

/* LOCK and TRYLOCK (protocol, section 5). */
void lock_request(
    struct core *core, struct session *s, const struct core_request *rq);

/* The parts of LOCK that one name and several have in common. */
bool lock_allowed(
    struct core *core, struct session *s, const struct core_request *rq);
bool lock_refuse_deadlock(struct core *core, struct session *s,
    const struct core_request *rq, struct lock *const *locks);

/*
 * Whose mode the lease should have when it comes; NULL: nobody waits.  Not that
 * of several names of which others are lacking, where another could be granted
 * at once: the lease would go back and come again in the same mode.
 */
const struct waiter *lock_in_line(
    const struct core *core, const struct lock *l);

/* May w come to those who hold the name? */
bool lock_compatible(const struct lock *l, const struct waiter *w);

/* Grants a waiter whose lease fits. */
void lock_grant(struct core *core, struct waiter *w);

/*
 * Gives the name to whoever may have it now.  False: to nobody; the lease may
 * be on its way to fit (an operation was sent), or nobody may have it.
 */
bool lock_grant_next(struct core *core, struct lock *l);

/* A CONVERT was answered that other brokers share the name, too. */
void lock_upgrade_refused(struct core *core, struct lock *l);

/* Tells grants that are still good, a part of them; withdraws the others. */
void lock_tell_granted(struct core *core);

#endif
