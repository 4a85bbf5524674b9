/*
 * Pace: renewals spread over time.
 *
 * Leases that were taken in a burst would be renewed in bursts for ever.  So
 * the broker counts the renewals that it plans for each slice of the time
 * ahead.  A slice takes no more than its share; any further renewal goes to
 * another slice, a little earlier.  So a burst is flat after a few renewals.
 *
 * A call to the store takes long, whatever it is for.  So renewals that are due
 * within a tick go out together, and some of them go earlier, in a call that
 * ends another lease.  The busier the broker is, the fewer are left for the
 * tick, which all other operations would have to wait for.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LEASE_PACE_H
#define LOCKBROKER_CORE_KERNEL_LEASE_PACE_H

#include "core/kernel/lease/term.h"

#define PACE_TICK_MS 16 /* renewals due within it go out together, at least */

/*
 * Plans the next renewal, and counts that: sets wake_ms.  It is due a third of
 * a lease after the term was confirmed.  The first one is early by chance, by
 * up to a sixth; later ones are early only if their slice is full.
 */
void pace_plan(struct core *core, struct term *t, bool first);

/*
 * A renewal is due: may it go in this millisecond?  If not, sets wake_ms to one
 * that has room.  If very many are due at once, as when a server has lost its
 * data, each is put off once and not over and over.
 */
bool pace_room(struct core *core, struct term *t);

/* The name is held again, and its renewal was due while it had no holder: the
 * renewal goes out with those of the next tick, if it is not late by then. */
void pace_put_off(struct core *core, struct term *t);

struct lease;

/* The end of this lease is being sent: renewals may go in the same call. */
void pace_ending(struct core *core, const struct lease *l);

/* Sends renewals along with the lease that the step has ended. */
void pace_piggyback(struct core *core);

#endif
