/*
 * Pace: renewals spread over time.
 *
 * Leases that were taken in a burst would be renewed in bursts for ever.  So it
 * is counted how many renewals are planned for each slice of the time ahead.
 * Each has a share of them, and what is beyond that is planned for another, a
 * little earlier.  So a burst is flat after a few renewals.
 *
 * A call to the store takes long, whatever it is for.  So what is due within a
 * tick goes out together; and some of it goes along with a lease that is ended
 * meanwhile, in the same call.  The busier the broker is, the less is left for
 * the tick, which all others would have to wait for.
 */
#ifndef LOCKBROKER_CORE_LEASE_PACE_H
#define LOCKBROKER_CORE_LEASE_PACE_H

#include "core/lease/lease.h"

#define PACE_TICK_MS 16 /* what is due within it goes out together */

/*
 * A moment for the renewal of a lease that was confirmed then; it is counted.
 * It is due after a third of the lease.  The first is early by chance, by up
 * to a sixth; later ones only where they must be.
 */
int64_t pace_plan(
    struct core *core, const struct lease *l, int64_t confirmed_ms, bool first);

/*
 * Its renewal is due: may it go in this millisecond?  Else sets wake_ms to one
 * that has room.  Where very many are due at once, as when a server has lost
 * its data, each is put off once and not over and over.
 */
bool pace_room(struct core *core, struct lease *l);

/* The end of this lease is on its way: others may go along with it. */
void pace_ending(struct core *core, const struct lease *l);

/* Sends renewals along with what the step has ended. */
void pace_piggyback(struct core *core);

#endif
