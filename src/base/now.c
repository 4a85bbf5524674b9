/* The clocks.  On a kernel without them this program does not run. */
#include "config.h"

#include <assert.h>
#include <time.h>

#include "base/now.h"

static int64_t
read_us(clockid_t clock)
{
	struct timespec ts;
	int rc = clock_gettime(clock, &ts);

	assert(rc == 0);
	(void)rc;
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t
now_us(void)
{
	return read_us(CLOCK_BOOTTIME);
}

int64_t
now_ms(void)
{
	return now_us() / 1000;
}

int64_t
now_awake_us(void)
{
	return read_us(CLOCK_MONOTONIC);
}

int64_t
now_awake_ms(void)
{
	return now_awake_us() / 1000;
}

int64_t
now_wall_us(void)
{
	return read_us(CLOCK_REALTIME);
}
