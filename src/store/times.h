/*
 * The times that follow from the lease.  All brokers on one server must use
 * the same ones (ARCHITECTURE, "Data in Redis"); the scripts are told them.
 */
#ifndef LOCKBROKER_STORE_TIMES_H
#define LOCKBROKER_STORE_TIMES_H

#include <stdint.h>

/* What a key outlives its lease, and what a server may stall unnoticed. */
static inline int64_t
times_pad_ms(int64_t lease_ms)
{
	int64_t pad_ms = lease_ms * 3 / 10;

	if (pad_ms < 500)
		return 500;
	return pad_ms > 3000 ? 3000 : pad_ms;
}

/* G: how long nothing is granted on a server with an unknown past. */
static inline int64_t
times_grace_ms(int64_t lease_ms)
{
	return lease_ms + (lease_ms + 99) / 100 + times_pad_ms(lease_ms) + 500;
}

#endif
