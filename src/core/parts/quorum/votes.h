/*
 * Quorum: one operation on a lease becomes one on each server, and the answer
 * of a majority is the answer (Redlock, redis.io "Distributed Locks").
 *
 * Fences are those of an ABD register (Attiya, Bar-Noy, Dolev, JACM 1995): each
 * server answers with max(its counter + 1, hint).  If a majority answered the
 * same number, that is the fence.  Otherwise the broker writes the highest back
 * to a majority on which the lock is still ours, and then grants it.  So fences
 * rise without any clock; only the lease needs clocks.
 *
 * A failed acquire is ended on all servers that may have its token, also on
 * those that did not answer.
 */
#ifndef LOCKBROKER_CORE_PARTS_QUORUM_VOTES_H
#define LOCKBROKER_CORE_PARTS_QUORUM_VOTES_H

#include "core/kernel/lease/lease.h"

#define QUORUM_MAX 9

/* One server has answered. */
void votes_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);

extern const struct lease_way way_votes;

/* Asks servers again that have refused a renewal; or ends an attempt that has
 * found a rival, rather than wait for silent servers. */
void votes_timer(struct core *core, struct timer *t);

void votes_fini(struct core *core);

#endif
