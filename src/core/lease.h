/*
 * Leases: what this broker has of a name in the store.
 */
#ifndef LOCKBROKER_CORE_LEASE_H
#define LOCKBROKER_CORE_LEASE_H

#include "core/state.h"

void leases_init(struct core *core);
void leases_fini(struct core *core);

/*
 * Decides what a name needs next, and does it: the one function through which
 * every change of holders, waiters, outcome or time goes.  False: nothing was left to know, and the lock is freed.
 */
bool lease_next(struct core *core, struct lock *l);

/* Vouched for no more, or about to be freed: out of the line of those that are. */
void lease_disown(struct core *core, struct lock *l);

/* Does the broker vouch for the lease at this moment? */
bool lease_vouched(const struct core *core, const struct lock *l);

/* After trouble: nothing is asked for it before wake_ms. */
bool lease_paused(const struct core *core, const struct lock *l);

/* Does it linger for w alone, who would share it now?  Then it is not shared:
 * nobody else may come before that is over. */
bool lease_keeps_alone(
    const struct core *core, const struct lock *l, const struct waiter *w);

/* Does it linger for another than this one? */
bool lease_lingers(
    const struct core *core, const struct lock *l, const struct waiter *w);

/* It was held, and that has run out unnoticed. */
bool lease_overdue(const struct core *core, const struct lock *l);

/* Could w be granted on it, were it made to fit? */
bool lease_free_for(
    const struct core *core, const struct lock *l, const struct waiter *w);

/*
 * Does it fit w: its mode, a fence to give, a key that lives long enough?
 * lease_fits() sends what makes it fit where it does not.
 */
bool lease_suits(
    const struct core *core, const struct lock *l, const struct waiter *w);
bool lease_fits(struct core *core, struct lock *l, const struct waiter *w);

/* Does the key live long enough for such a keep and delay? */
bool lease_covers(const struct core *core, const struct lock *l,
    int64_t keep_ms, int64_t delay_ms);

/* Until when, if nothing is confirmed before. */
int64_t lease_deadline_ms(const struct core *core, const struct lock *l);

/* An operation on the name has ended. */
void lease_outcome(struct core *core, struct lock *l, enum op_kind op,
    int64_t sent_ms, const struct outcome *o);
void lease_timer(struct core *core, struct timer *t);

/* It is overdue: tells those who hold it, and nothing else yet. */
void lease_run_out(struct core *core, struct lock *l);

/* The history of the server has changed: write what is held again. */
void lease_reassert(struct core *core, struct lock *l);

/* Is this lease one that must be written again before a bless? */
bool lease_unasserted(const struct core *core, const struct lock *l);

#endif
