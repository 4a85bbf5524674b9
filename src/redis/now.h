/*
 * The time as leases count it: CLOCK_BOOTTIME, which counts suspension too.
 * Read here only for when a command was handed to the socket and for the
 * timers of connections; what the core is told comes from daemon/clock.c.
 */
#ifndef LOCKBROKER_REDIS_NOW_H
#define LOCKBROKER_REDIS_NOW_H

#include <stdint.h>
#include <time.h>

static inline int64_t
now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_BOOTTIME, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

#endif
