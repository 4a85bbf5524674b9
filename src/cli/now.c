/*
 * The clock by which the command judges whether its lock is still good.
 * The only place in src/cli that reads a clock.
 */
#include "config.h"

#include "cli/now.h"

#include <assert.h>
#include <time.h>

int64_t
now_us(void)
{
	struct timespec ts;
	int rc;

	rc = clock_gettime(CLOCK_BOOTTIME, &ts);
	assert(rc == 0);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

int64_t
now_ms(void)
{
	return now_us() / 1000;
}
