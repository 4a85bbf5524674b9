/*
 * Computes four bits at a time: the table is small enough to check by eye.
 */
#include "config.h"

#include "base/crc16.h"

static const uint16_t table[16] = { 0x0000, 0x1021, 0x2042, 0x3063, 0x4084,
	0x50a5, 0x60c6, 0x70e7, 0x8108, 0x9129, 0xa14a, 0xb16b, 0xc18c, 0xd1ad,
	0xe1ce, 0xf1ef };

uint16_t
crc16(const char *p, size_t n)
{
	unsigned crc = 0, byte;
	size_t i;

	for (i = 0; i < n; i++) {
		byte = (unsigned char)p[i];
		crc = (crc << 4 ^ table[(crc >> 12 ^ byte >> 4) & 15]) & 0xffff;
		crc = (crc << 4 ^ table[(crc >> 12 ^ byte) & 15]) & 0xffff;
	}
	return (uint16_t)crc;
}
