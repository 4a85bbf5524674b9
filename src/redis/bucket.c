/*
 * Only the text between the first braces of a key decides its slot.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/crc16.h"
#include "redis/bucket.h"

unsigned
bucket_slot(uint32_t bucket)
{
	char digits[16];
	int n = snprintf(digits, sizeof(digits), "%" PRIu32, bucket);

	return crc16(digits, (size_t)n) % SLOTS;
}
