/*
 * Allocation that aborts.
 */
#include "config.h"

#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "suite.h"
#include "test_base.h"

/* Under the address sanitizer, too, malloc must return NULL when it fails. */
const char *__asan_default_options(void);

const char *
__asan_default_options(void)
{
	return "allocator_may_return_null=1";
}

START_TEST(zero_bytes_are_an_allocation)
{
	void *p = xmalloc(0);

	ck_assert_ptr_nonnull(p);
	p = xrealloc(p, 0);
	ck_assert_ptr_nonnull(p);
	free(p);
	p = xcalloc(0, 8);
	ck_assert_ptr_nonnull(p);
	free(p);
}
END_TEST

START_TEST(calloc_clears)
{
	unsigned char *p = xcalloc(100, 3);
	size_t i;

	for (i = 0; i < 300; i++)
		ck_assert_uint_eq(p[i], 0);
	free(p);
}
END_TEST

START_TEST(realloc_keeps)
{
	char *p = xmalloc(4);

	memcpy(p, "abc", 4);
	p = xrealloc(p, 100000);
	ck_assert_str_eq(p, "abc");
	free(p);
}
END_TEST

START_TEST(strings_are_copied)
{
	const char raw[] = { 'a', 'b', 'c' };
	char *s = xstrdup("hello");

	ck_assert_str_eq(s, "hello");
	free(s);
	s = xstrndup("hello", 3);
	ck_assert_str_eq(s, "hel");
	free(s);
	s = xstrndup("hello", 99);
	ck_assert_str_eq(s, "hello");
	free(s);
	/* There is no NUL within the bounds. */
	s = xstrndup(raw, sizeof(raw));
	ck_assert_str_eq(s, "abc");
	free(s);
}
END_TEST

/* Volatile, because the compiler sees that this can't succeed. */
static volatile size_t huge = SIZE_MAX / 2;

START_TEST(malloc_aborts)
{
	free(xmalloc(huge));
}
END_TEST

START_TEST(realloc_aborts)
{
	free(xrealloc(NULL, huge));
}
END_TEST

START_TEST(calloc_aborts_on_overflow)
{
	free(xcalloc(huge, 16));
}
END_TEST

TCase *
xmalloc_cases(void)
{
	TCase *tc = tcase_create("xmalloc");

	tcase_add_test(tc, zero_bytes_are_an_allocation);
	tcase_add_test(tc, calloc_clears);
	tcase_add_test(tc, realloc_keeps);
	tcase_add_test(tc, strings_are_copied);
	tcase_add_test_raise_signal(tc, malloc_aborts, SIGABRT);
	tcase_add_test_raise_signal(tc, realloc_aborts, SIGABRT);
	tcase_add_test_raise_signal(tc, calloc_aborts_on_overflow, SIGABRT);
	return tc;
}
