/*
 * What may be expected of a world with its faults: what is lost, what is
 * excused, and how long it may take until all is well.
 */
#include "config.h"

#include "world.h"

#define QUORUM_RETRIES_US 300000 /* all brokers try at the same time */

static bool
has(const struct world *w, enum fault fault)
{
	return (w->faults.on & (unsigned)fault) != 0;
}

bool
faults_none(const struct world *w)
{
	return (w->faults.on == 0 || w->faults.few > 0) &&
	       (w->o->ablation == NULL || ablation_of_warmth(w->o->ablation));
}

int64_t
faults_left_us(const struct world *w)
{
	return w->faults.few > 0 ? (w->lease_ms + w->pad_ms) * 1000 : 0;
}

bool
faults_forget(const struct world *w)
{
	if (w->replicates && (has(w, FAULT_PAUSE) || has(w, FAULT_PARTITION) ||
				 has(w, FAULT_FAILOVER)))
		return true;
	return (has(w, FAULT_RESTART) && !w->owned) || has(w, FAULT_ASIDE) ||
	       has(w, FAULT_FLUSH) || has(w, FAULT_CLOCK) || has(w, FAULT_BACK);
}

bool
faults_deposed(const struct world *w)
{
	return w->replicates && w->split_us >= 0 &&
	       world_now(w) <= w->split_us + (w->lease_ms + w->grace_ms) * 1000;
}

/*
 * lockbroker-guarantees(7): if fewer replicas confirm than may be promoted, two masters
 * at once may grant the same lock, each to the clients that can reach it, and
 * for as long as their grants last.
 */
bool
faults_split(const struct world *w)
{
	return w->replicas + 1 < (unsigned)w->members && faults_deposed(w);
}

/* A reserve of fences that a former master gave lasts as long as the lease. */
bool
faults_excuse_fence(struct world *w)
{
	bool fewer = w->replicates && w->replicas + 1 < (unsigned)w->members;

	w->checker.excused += fewer && w->split_us >= 0;
	return fewer && w->split_us >= 0;
}

bool
faults_excuse(struct world *w)
{
	bool split = faults_split(w);

	w->checker.excused += split;
	return split;
}

/* A new server costs one G; after that, or when all is healed, there is no
 * excuse. */
int64_t
faults_calm_us(const struct world *w)
{
	if (w->faults.on == 0)
		return (w->trusts || (w->owned && w->nbrokers == 1)
			       ? 1000
			       : w->grace_ms + 2000) *
		       1000;
	return w->heal_us;
}

int64_t
faults_patience_us(const struct world *w)
{
	int64_t most_ms, retries_us = w->quorum ? QUORUM_RETRIES_US : 0;

	if (w->faults.on == 0)
		return 100000 + 40 * w->latency_us + retries_us;
	/* An epoch, a dead broker's key with its delay and keep, the lease
	 * of a handover for each broker in the queue, looks, links that come
	 * back. */
	most_ms = w->grace_ms + 2 * (w->lease_ms + w->pad_ms) +
		  4 * w->lease_ms + 2 * w->nbrokers * w->pad_ms +
		  2 * w->reply_timeout_ms + 3000;
	/* A master that must be demoted, and copies of all data. */
	if (w->replicates)
		most_ms += w->sentinels.demote_us / 1000 + 9000;
	/* A new list waits until nobody has asked for the old one for a G;
	 * before that, brokers that lag behind are helped. */
	if (w->quorum && has(w, FAULT_REPLACE))
		most_ms += 2 * w->grace_ms;
	return most_ms * 1010 + w->faults.back_us + retries_us;
}

int64_t
faults_names_calm_us(const struct world *w)
{
	if (w->faults.few > 0)
		return (w->grace_ms + 2000) * 1000;
	return faults_calm_us(w);
}

/*
 * A vote that one server spoils is tried again.  A server that could not be
 * told of an end votes for nobody else until the key has run out, which with a
 * delay= may take three leases; if another server is in its grace period,
 * nobody wins before.
 */
int64_t
faults_names_patience_us(const struct world *w)
{
	if (w->faults.few > 0)
		return 100000 + 40 * w->latency_us + 10 * QUORUM_RETRIES_US +
		       (3 * w->lease_ms + w->pad_ms) * 1010;
	return faults_patience_us(w);
}
