/*
 * Times for people.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/human.h"

#define MINUTE_MS INT64_C(60000)

const char *
human_ms(char buf[HUMAN_SIZE], int64_t ms)
{
	int64_t tenths = ms > 0 ? ms / 100 + (ms % 100 != 0) : 0;

	if (ms > 10 * MINUTE_MS)
		snprintf(buf, HUMAN_SIZE, "%" PRId64 " min",
		    ms / MINUTE_MS + (ms % MINUTE_MS != 0));
	else
		snprintf(buf, HUMAN_SIZE, "%" PRId64 ".%" PRId64 " s",
		    tenths / 10, tenths % 10);
	return buf;
}
