/*
 * Tests of base/times: waiting times are rounded up, promises down, and
 * nothing is promised for longer than others wait.
 */
#include "config.h"

#include "base/times.h"
#include "test_base.h"

START_TEST(times_follow_from_the_lease)
{
	ck_assert_int_eq(times_pad_ms(1000), 500);
	ck_assert_int_eq(times_pad_ms(5000), 1500);
	ck_assert_int_eq(times_pad_ms(60000), 3000);
	ck_assert_int_eq(times_recovery_ms(10000), 10100 + 3000 + 500);
	ck_assert_int_eq(times_recovery_ms(1001), 1012 + 500 + 500);
	ck_assert_int_eq(times_vouch_ms(10000), 9900 - 2);
	ck_assert_int_eq(times_vouch_ms(1001), 1001 - 11 - 2);
}
END_TEST

START_TEST(no_part_of_a_millisecond_is_won)
{
	int64_t lease_ms, pad_ms;

	for (lease_ms = 1000; lease_ms < 12000; lease_ms++) {
		pad_ms = times_pad_ms(lease_ms);
		ck_assert_int_le(
		    100 * times_vouch_ms(lease_ms), 99 * lease_ms - 200);
		ck_assert_int_ge(100 * times_recovery_ms(lease_ms),
		    101 * lease_ms + 100 * pad_ms + 50000);
	}
}
END_TEST

TCase *
times_cases(void)
{
	TCase *tc = tcase_create("times");

	tcase_add_test(tc, times_follow_from_the_lease);
	tcase_add_test(tc, no_part_of_a_millisecond_is_won);
	return tc;
}
