/* Milliseconds, the unit of all times here, in the form that timers take. */
#ifndef LOCKBROKER_BASE_TIMEVAL_H
#define LOCKBROKER_BASE_TIMEVAL_H

#include <stdint.h>
#include <sys/time.h>

static inline struct timeval
ms_to_timeval(int64_t ms)
{
	struct timeval tv = { (time_t)(ms / 1000),
		(suseconds_t)(ms % 1000 * 1000) };

	return tv;
}

#endif
