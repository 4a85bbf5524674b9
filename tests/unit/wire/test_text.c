/*
 * Names, and bytes from outside that become part of a line.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "suite.h"
#include "test_wire.h"

struct name_row {
	const char *name;
	const char *why; /* NULL: a good name */
};

static const struct name_row names[] = {
	{ "a", NULL },
	{ "a@b!c", NULL },
	{ "nightly-report/part-2", NULL },
	{ "caf\xc3\xa9", NULL },
	{ "\xf0\x9f\x94\x92", NULL },
	{ "\xc2\xa0", NULL },
	{ "", "is empty" },
	{ "@a", "begins with \"@\"" },
	{ "!a", "begins with \"!\"" },
	{ "a b", "contains a space" },
	{ " a", "contains a space" },
	{ "a=b", "contains \"=\"" },
	{ "=", "contains \"=\"" },
	{ "a\n", "contains a control character" },
	{ "\x1b[2J", "contains a control character" },
	{ "a\x7f", "contains a control character" },
	{ "a\xc2\x80", "contains a control character" },
	{ "a\xc2\x9f", "contains a control character" },
	{ "a\x80", "is not valid UTF-8" },
	{ "a\xc3", "is not valid UTF-8" },
	{ "\xed\xa0\x80", "is not valid UTF-8" },
};

START_TEST(name)
{
	const struct name_row *row = &names[_i];
	struct span text = { row->name, strlen(row->name) };
	const char *why = text_name_why(text, NAME_MAX_BYTES);

	if (!row->why)
		ck_assert_ptr_null(why);
	else
		ck_assert_str_eq(why, row->why);
}
END_TEST

START_TEST(name_with_a_nul)
{
	struct span text = { "a\0b", 3 };

	ck_assert_str_eq(text_name_why(text, NAME_MAX_BYTES),
	    "contains a control character");
}
END_TEST

START_TEST(name_lengths)
{
	char bytes[NAME_MAX_BYTES + 1];
	struct span text = { bytes, 0 };

	memset(bytes, 'n', sizeof(bytes));
	for (text.n = 1; text.n <= sizeof(bytes); text.n++) {
		const char *as_name = text_name_why(text, NAME_MAX_BYTES);
		const char *as_label = text_name_why(text, LABEL_MAX_BYTES);

		ck_assert_int_eq(as_name == NULL, text.n <= 255);
		ck_assert_int_eq(as_label == NULL, text.n <= 64);
	}
	text.n--;
	ck_assert_str_eq(
	    text_name_why(text, NAME_MAX_BYTES), "is longer than 255 bytes");
	ck_assert_str_eq(
	    text_name_why(text, LABEL_MAX_BYTES), "is longer than 64 bytes");
}
END_TEST

START_TEST(values)
{
	char bytes[VALUE_MAX_BYTES + 1];
	struct span text = { bytes, sizeof(bytes) };

	ck_assert_ptr_null(text_value_why(span_of("!@=a=b")));
	ck_assert_ptr_null(text_value_why(span_of("caf\xc3\xa9")));
	ck_assert_str_eq(text_value_why(span_of("")), "is empty");
	ck_assert_str_eq(text_value_why(span_of("a b")), "contains a space");
	ck_assert_str_eq(
	    text_value_why(span_of("a\n")), "contains a control character");
	ck_assert_str_eq(text_value_why(span_of("\xc3")), "is not valid UTF-8");
	memset(bytes, '=', sizeof(bytes));
	ck_assert_str_eq(text_value_why(text), "is longer than 512 bytes");
	text.n--;
	ck_assert_ptr_null(text_value_why(text));
}
END_TEST

struct cut_row {
	const char *text;
	size_t max;
	const char *cut;
};

static const struct cut_row cuts[] = {
	{ "", 0, "" },
	{ "abc", 3, "abc" },
	{ "abcd", 3, "abc..." },
	{ "abcd", 0, "..." },
	{ "a\nb\x7f", 9, "a?b?" },
	{ "a b", 9, "a b" },
	{ "\xff\xc2\x9b.", 9, "???." },
	/* The text is cut before the euro sign, and not within it. */
	{ "ab\xe2\x82\xac", 5, "ab\xe2\x82\xac" },
	{ "ab\xe2\x82\xac", 4, "ab..." },
	{ "ab\xe2\x82\xac", 3, "ab..." },
	{ "ab\xe2\x82\xac", 2, "ab..." },
	/* Nothing but parts of characters. */
	{ "\x80\x80\x80\x80", 2, "..." },
};

START_TEST(added)
{
	const struct cut_row *row = &cuts[_i];
	struct span text = { row->text, strlen(row->text) };
	struct buf b;

	buf_init(&b);
	buf_addc(&b, '<');
	text_add(&b, text, row->max);
	buf_addc(&b, '\0');
	ck_assert_str_eq(buf_data(&b) + 1, row->cut);
	buf_fini(&b);
}
END_TEST

START_TEST(cleaned)
{
	char text[] = "a b\0\r\n\xc2\x85\xc3\xa9 \xe2\x82";

	text_clean(text, sizeof(text) - 1, '_');
	ck_assert_str_eq(text, "a_b?????\xc3\xa9_??");
	text_clean(text, 0, '_');
}
END_TEST

TCase *
text_cases(void)
{
	TCase *tc = tcase_create("text");

	tcase_add_loop_test(tc, name, 0, (int)COUNT(names));
	tcase_add_test(tc, name_with_a_nul);
	tcase_add_test(tc, name_lengths);
	tcase_add_test(tc, values);
	tcase_add_loop_test(tc, added, 0, (int)COUNT(cuts));
	tcase_add_test(tc, cleaned);
	return tc;
}
