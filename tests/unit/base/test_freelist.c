/*
 * Free lists: what is given back is taken again, and is all zero.
 */
#include "config.h"

#include <stdint.h>
#include <string.h>

#include "base/freelist.h"
#include "suite.h"
#include "test_base.h"

#define MANY (FREELIST_KEPT + 10)

static void
is_zero(const unsigned char *object, size_t size)
{
	size_t i;

	for (i = 0; i < size; i++)
		ck_assert_uint_eq(object[i], 0);
}

START_TEST(an_object_is_zero_whatever_was_in_it)
{
	struct freelist p;
	void *object;

	freelist_init(&p, 24);
	object = freelist_take(&p);
	is_zero(object, 24);
	memset(object, 0xff, 24);
	freelist_give(&p, object);
	object = freelist_take(&p);
	is_zero(object, 24);
	freelist_give(&p, object);
	freelist_fini(&p);
}
END_TEST

START_TEST(more_objects_than_are_kept)
{
	unsigned char *objects[MANY];
	struct freelist p;
	unsigned i;

	freelist_init(&p, 8);
	for (i = 0; i < MANY; i++) {
		objects[i] = freelist_take(&p);
		memset(objects[i], (int)i, 8);
	}
	/* Nobody was given what somebody has. */
	for (i = 0; i < MANY; i++)
		ck_assert_uint_eq(objects[i][7], i & UINT8_MAX);
	for (i = 0; i < MANY; i++)
		freelist_give(&p, objects[i]);
	ck_assert_uint_le(p.n, FREELIST_KEPT);
	freelist_fini(&p);
	ck_assert_uint_eq(p.n, 0);
}
END_TEST

START_TEST(nothing_can_be_given)
{
	struct freelist p;

	freelist_init(&p, 8);
	freelist_give(&p, NULL);
	ck_assert_uint_eq(p.n, 0);
	freelist_fini(&p);
}
END_TEST

TCase *
freelist_cases(void)
{
	TCase *tc = tcase_create("freelist");

	tcase_add_test(tc, an_object_is_zero_whatever_was_in_it);
	tcase_add_test(tc, more_objects_than_are_kept);
	tcase_add_test(tc, nothing_can_be_given);
	return tc;
}
