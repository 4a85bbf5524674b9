/*
 * The clocks.  A kernel without them is not one this program runs on.
 */
#include "config.h"

#include <assert.h>
#include <time.h>

#include "daemon/clock.h"

int64_t
clock_now_ms(void)
{
	struct timespec ts;
	int rc = clock_gettime(CLOCK_BOOTTIME, &ts);

	assert(rc == 0);
	(void)rc;
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

int64_t
clock_monotonic_us(void)
{
	struct timespec ts;
	int rc = clock_gettime(CLOCK_MONOTONIC, &ts);

	assert(rc == 0);
	(void)rc;
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}
