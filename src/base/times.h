/*
 * The times that follow from the lease (core/kernel/guard/DESIGN).  All
 * brokers on one server must use the same ones; brokers pass them to the
 * scripts.
 *
 * If they are no whole milliseconds, waits are rounded up and promises down.
 */
#ifndef LOCKBROKER_BASE_TIMES_H
#define LOCKBROKER_BASE_TIMES_H

#include <stdint.h>

static inline int64_t
min_ms(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static inline int64_t
max_ms(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * A wait ended so much later than it should have: for so long the process did
 * not run, as when it was stopped. A busy machine is late by less.
 */
static inline int64_t
still_ms(int64_t late_ms)
{
	return late_ms > 300 ? late_ms : 0;
}

/* How far clocks may drift apart in `ms`: a hundredth. */
static inline int64_t
times_drift_ms(int64_t ms)
{
	return (ms + 99) / 100;
}

/* How long a key outlives its lease, and a server may stall unnoticed. */
static inline int64_t
times_pad_ms(int64_t lease_ms)
{
	int64_t pad_ms = lease_ms * 3 / 10;

	if (pad_ms < 500)
		return 500;
	return pad_ms > 3000 ? 3000 : pad_ms;
}

/* G: how long a server with an unknown past grants nothing. */
static inline int64_t
times_recovery_ms(int64_t lease_ms)
{
	return lease_ms + times_drift_ms(lease_ms) + times_pad_ms(lease_ms) +
	       500;
}

/* How long a lease of `ms` is vouched for, from its request on. */
static inline int64_t
times_vouch_ms(int64_t ms)
{
	return ms - times_drift_ms(ms) - 2;
}

#endif
