/*
 * The times derived from the lease (core/kernel/guard/DESIGN).  All brokers on
 * one server must use the same ones; brokers pass them to the scripts.
 *
 * To whole milliseconds, waits are rounded up and guarantees down.
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
 * The time in which the process did not run, for example because it was
 * stopped, given how late a wait has ended.  On a busy machine a wait ends late
 * by less than that.
 */
static inline int64_t
still_ms(int64_t late_ms)
{
	return late_ms > 300 ? late_ms : 0;
}

/* How far clocks may drift apart in `ms`: one hundredth. */
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

/* G: the grace period of a server with an unknown past. */
static inline int64_t
times_recovery_ms(int64_t lease_ms)
{
	return lease_ms + times_drift_ms(lease_ms) + times_pad_ms(lease_ms) +
	       500;
}

/* How long a lease of `ms` is vouched for, counted from its request. */
static inline int64_t
times_vouch_ms(int64_t ms)
{
	return ms - times_drift_ms(ms) - 2;
}

#endif
