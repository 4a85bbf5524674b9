/*
 * The byte buffer.
 */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "suite.h"
#include "test_base.h"

static void
expect(const struct buf *b, const char *text)
{
	ck_assert_uint_eq(buf_len(b), strlen(text));
	if (text[0] != '\0')
		ck_assert_mem_eq(buf_data(b), text, strlen(text));
}

START_TEST(empty_owns_nothing)
{
	struct buf b;

	buf_init(&b);
	ck_assert_uint_eq(buf_len(&b), 0);
	ck_assert_ptr_null(b.mem);
	ck_assert_ptr_null(buf_data(&b));
	buf_add(&b, NULL, 0);
	buf_consume(&b, 0);
	buf_trim(&b, 0);
	ck_assert_ptr_null(b.mem);
	ck_assert_ptr_nonnull(buf_reserve(&b, 0));
	buf_fini(&b);
	ck_assert_ptr_null(b.mem);
	buf_fini(&b);
}
END_TEST

START_TEST(adds_all_kinds)
{
	struct buf b;

	buf_init(&b);
	buf_add(&b, "ab\0cd", 5);
	ck_assert_uint_eq(buf_len(&b), 5);
	ck_assert_mem_eq(buf_data(&b), "ab\0cd", 5);
	buf_clear(&b);
	buf_adds(&b, "x");
	buf_addc(&b, '=');
	buf_add_u64(&b, 0);
	buf_addc(&b, ' ');
	buf_add_u64(&b, UINT64_MAX);
	buf_addf(&b, " %s/%d", "y", -3);
	expect(&b, "x=0 18446744073709551615 y/-3");
	buf_fini(&b);
}
END_TEST

/* The text is longer than the free room when it is printed. */
START_TEST(printf_grows)
{
	struct buf b;
	char text[1000];
	int len;

	memset(text, 'q', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (len = 0; len < 200; len++) {
		buf_init(&b);
		buf_addf(&b, "%.*s", len, text);
		buf_addf(&b, "%s", text);
		ck_assert_uint_eq(buf_len(&b), (size_t)len + sizeof(text) - 1);
		ck_assert_mem_eq(buf_data(&b) + len, text, sizeof(text) - 1);
		buf_fini(&b);
	}
}
END_TEST

START_TEST(reserve_then_added)
{
	struct buf b;
	char *p;

	buf_init(&b);
	p = buf_reserve(&b, 1000);
	memcpy(p, "hello", 5);
	buf_added(&b, 5);
	expect(&b, "hello");
	buf_consume(&b, 2);
	expect(&b, "llo");
	buf_consume(&b, 3);
	expect(&b, "");
	/* All bytes are consumed: the whole memory is free again. */
	ck_assert_uint_eq(b.tail, 0);
	buf_fini(&b);
}
END_TEST

START_TEST(trim_only_when_empty_and_large)
{
	struct buf b;

	buf_init(&b);
	(void)buf_reserve(&b, 5000);
	buf_adds(&b, "x");
	buf_trim(&b, 100);
	expect(&b, "x");
	buf_consume(&b, 1);
	buf_trim(&b, 100000);
	ck_assert_ptr_nonnull(b.mem);
	buf_trim(&b, 100);
	ck_assert_ptr_null(b.mem);
	ck_assert_uint_eq(b.size, 0);
	buf_adds(&b, "again");
	expect(&b, "again");
	buf_fini(&b);
}
END_TEST

/*
 * A pipe of bytes through one buffer: the bytes come out as they went in, and
 * the memory stays in proportion to the content.
 */
START_TEST(a_long_stream_stays_small)
{
	unsigned seed = 7, in = 0, out = 0, wrong = 0, n, i;
	unsigned char piece[97];
	struct buf b;

	buf_init(&b);
	while (in < 2000000) {
		n = (unsigned)rand_r(&seed) % sizeof(piece);
		for (i = 0; i < n; i++)
			piece[i] = (unsigned char)(in++ * 31 % 251);
		buf_add(&b, piece, n);
		n = (unsigned)rand_r(&seed) % 200;
		if (n > buf_len(&b))
			n = (unsigned)buf_len(&b);
		for (i = 0; i < n; i++)
			wrong += ((unsigned char *)buf_data(&b))[i] !=
				 out++ * 31 % 251;
		buf_consume(&b, n);
	}
	ck_assert_uint_eq(wrong, 0);
	ck_assert_uint_eq(buf_len(&b), in - out);
	ck_assert_uint_le(b.size, 4096);
	buf_fini(&b);
}
END_TEST

/* The buffer is never empty, with a little in and a little out: its size must
 * not grow without end. */
START_TEST(a_buffer_that_is_never_empty_stays_small)
{
	struct buf b;
	int i;

	buf_init(&b);
	buf_adds(&b, "0123456789");
	for (i = 0; i < 100000; i++) {
		buf_adds(&b, "abc");
		buf_consume(&b, 3);
	}
	ck_assert_uint_eq(buf_len(&b), 10);
	ck_assert_uint_le(b.size, 128);
	buf_fini(&b);
}
END_TEST

/* Bytes that have left the buffer are nowhere in its memory. */
static void
expect_wiped(const struct buf *b)
{
	ck_assert_ptr_null(memchr(b->mem, 's', b->head));
	ck_assert_ptr_null(memchr(b->mem + b->tail, 's', b->size - b->tail));
}

START_TEST(a_secret_buffer_keeps_nothing)
{
	struct buf b;
	unsigned i;

	buf_init_secret(&b);
	/* Memory that was never written to may contain anything. */
	(void)buf_reserve(&b, 4000);
	memset(b.mem, 'x', b.size);
	for (i = 0; i < 2000; i++) {
		buf_adds(&b, "ssssssssss");
		buf_consume(&b, i % 21 < buf_len(&b) ? i % 21 : 5);
		expect_wiped(&b);
	}
	buf_clear(&b);
	expect_wiped(&b);
	buf_fini(&b);
	ck_assert(b.secret);
}
END_TEST

START_TEST(consuming_too_much_aborts)
{
	struct buf b;

	buf_init(&b);
	buf_adds(&b, "abc");
	buf_consume(&b, 4);
}
END_TEST

START_TEST(adding_more_than_reserved_aborts)
{
	struct buf b;

	buf_init(&b);
	(void)buf_reserve(&b, 1);
	buf_added(&b, b.size + 1);
}
END_TEST

START_TEST(an_absurd_size_aborts)
{
	struct buf b;

	buf_init(&b);
	(void)buf_reserve(&b, SIZE_MAX - 10);
}
END_TEST

TCase *
buf_cases(void)
{
	TCase *tc = tcase_create("buf");

	tcase_add_test(tc, empty_owns_nothing);
	tcase_add_test(tc, adds_all_kinds);
	tcase_add_test(tc, printf_grows);
	tcase_add_test(tc, reserve_then_added);
	tcase_add_test(tc, trim_only_when_empty_and_large);
	tcase_add_test(tc, a_long_stream_stays_small);
	tcase_add_test(tc, a_buffer_that_is_never_empty_stays_small);
	tcase_add_test(tc, a_secret_buffer_keeps_nothing);
	tcase_add_test_raise_signal(tc, consuming_too_much_aborts, SIGABRT);
	tcase_add_test_raise_signal(
	    tc, adding_more_than_reserved_aborts, SIGABRT);
	tcase_add_test_raise_signal(tc, an_absurd_size_aborts, SIGABRT);
	return tc;
}
