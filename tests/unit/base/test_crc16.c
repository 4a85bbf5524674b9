/*
 * Tests of base/crc16: known values, and the rule of the manual.
 */
#include "config.h"

#include <string.h>

#include "base/crc16.h"
#include "test_base.h"

START_TEST(known_values)
{
	static const struct {
		const char *text;
		unsigned crc;
	} known[] = {
		/* from the Redis Cluster specification, and CLUSTER KEYSLOT */
		{ "123456789", 0x31c3 },
		{ "", 0 },
		{ "foo", 0xaf96 },
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		ck_assert_uint_eq(
		    crc16(known[i].text, strlen(known[i].text)), known[i].crc);
	ck_assert_uint_eq(crc16("foo", 3) % 16384, 12182);
}
END_TEST

/* Bit by bit, as the standard defines it. */
static unsigned
slowly(const unsigned char *p, size_t n)
{
	unsigned crc = 0;
	size_t i;
	int bit;

	for (i = 0; i < n; i++) {
		crc ^= (unsigned)p[i] << 8;
		for (bit = 0; bit < 8; bit++)
			crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
		crc &= 0xffff;
	}
	return crc;
}

START_TEST(all_bytes)
{
	unsigned char text[512];
	size_t i;

	for (i = 0; i < sizeof(text); i++)
		text[i] = (unsigned char)(i * 7);
	for (i = 0; i < sizeof(text); i++)
		ck_assert_uint_eq(
		    crc16((const char *)text, i), slowly(text, i));
}
END_TEST

TCase *
crc16_cases(void)
{
	TCase *tc = tcase_create("crc16");

	tcase_add_test(tc, known_values);
	tcase_add_test(tc, all_bytes);
	return tc;
}
