/*
 * Pools: what is given back is taken again, and is all zero.
 */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "base/pool.h"
#include "suite.h"
#include "test_base.h"

#define MANY (POOL_KEPT + 10)

static void
is_zero(const unsigned char *object, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		ck_assert_uint_eq(object[i], 0);
}

START_TEST(an_object_is_zero_whatever_was_in_it)
{
	struct pool p;
	void *object;

	pool_init(&p, 24);
	object = pool_take(&p);
	is_zero(object, 24);
	memset(object, 0xff, 24);
	pool_give(&p, object);
	object = pool_take(&p);
	is_zero(object, 24);
	pool_give(&p, object);
	pool_fini(&p);
}
END_TEST

START_TEST(more_objects_than_are_kept)
{
	unsigned char *objects[MANY];
	struct pool p;
	unsigned i;

	pool_init(&p, 8);
	for (i = 0; i < MANY; i++) {
		objects[i] = pool_take(&p);
		memset(objects[i], (int)i, 8);
	}
	/* Nobody was given what somebody has. */
	for (i = 0; i < MANY; i++)
		ck_assert_uint_eq(objects[i][7], i & UINT8_MAX);
	for (i = 0; i < MANY; i++)
		pool_give(&p, objects[i]);
	ck_assert_uint_le(p.n, POOL_KEPT);
	pool_fini(&p);
	ck_assert_uint_eq(p.n, 0);
}
END_TEST

START_TEST(nothing_can_be_given)
{
	struct pool p;

	pool_init(&p, 8);
	pool_give(&p, NULL);
	ck_assert_uint_eq(p.n, 0);
	pool_fini(&p);
}
END_TEST

TCase *
pool_cases(void)
{
	TCase *tc = tcase_create("pool");

	tcase_add_test(tc, an_object_is_zero_whatever_was_in_it);
	tcase_add_test(tc, more_objects_than_are_kept);
	tcase_add_test(tc, nothing_can_be_given);
	return tc;
}
