/*
 * Tests of base/json: commas, nesting, and what must be escaped.
 */
#include "config.h"

#include <string.h>

#include "base/json.h"
#include "test_base.h"

static void
expect(struct json *j, const char *text)
{
	json_close(j);
	buf_addc(&j->text, '\0');
	ck_assert_str_eq(buf_data(&j->text), text);
	buf_fini(&j->text);
}

START_TEST(members_and_lists)
{
	char first[] = "a", second[] = "\"";
	char *lines[] = { first, second };
	struct json j;
	int i;

	json_begin(&j);
	json_str(&j, "name", "x", 1);
	json_raw(&j, "n", "17", 2);
	json_open(&j, "brokers", '[');
	for (i = 0; i < 2; i++) {
		json_open(&j, NULL, '{');
		json_key(&j, "ttl=", 3, "_ms");
		buf_add_u64(&j.text, 5);
		json_str(&j, "empty", "", 0);
		json_shut(&j, '}');
	}
	json_shut(&j, ']');
	json_open(&j, "none", '[');
	json_shut(&j, ']');
	json_strs(&j, "lines", lines, 2);
	expect(&j, "{\"name\":\"x\",\"n\":17,\"brokers\":[{\"ttl_ms\":5,"
		   "\"empty\":\"\"},{\"ttl_ms\":5,\"empty\":\"\"}],\"none\":[],"
		   "\"lines\":[\"a\",\"\\\"\"]}\n");
}
END_TEST

/* No text can end its string, or its line, early. */
START_TEST(no_byte_gets_out)
{
	struct json j;
	char text[257];
	const char *p;
	size_t n;
	int i;

	for (i = 0; i < 256; i++)
		text[i] = (char)i;
	json_begin(&j);
	json_str(&j, "k", text, 256);
	json_close(&j);
	p = buf_data(&j.text);
	n = buf_len(&j.text);
	ck_assert_ptr_eq(memchr(p, '\n', n), p + n - 1);
	for (i = 6; i < (int)n - 3; i++) {
		ck_assert_int_ge((unsigned char)p[i], ' ');
		ck_assert_int_lt((unsigned char)p[i], 0x7f);
		if (p[i] == '\\')
			i++;
		else
			ck_assert_int_ne(p[i], '"');
	}
	buf_fini(&j.text);
}
END_TEST

START_TEST(bytes_that_are_no_text)
{
	struct json j;

	json_begin(&j);
	json_str(&j, "k", "\xff \xc3 \xc3\xa9 \xc2\x9b \0", 11);
	expect(&j, "{\"k\":\"\\\\xff \\\\xc3 \xc3\xa9 \\u009b \\u0000\"}\n");
}
END_TEST

TCase *
json_cases(void)
{
	TCase *tc = tcase_create("json");

	tcase_add_test(tc, members_and_lists);
	tcase_add_test(tc, no_byte_gets_out);
	tcase_add_test(tc, bytes_that_are_no_text);
	return tc;
}
