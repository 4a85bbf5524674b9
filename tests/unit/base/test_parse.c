/*
 * Numbers, durations, UTF-8 and the words for errors: one row a case.
 */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/err.h"
#include "base/parse.h"
#include "suite.h"
#include "test_base.h"

struct number_row {
	const char *text;
	uint64_t max;
	bool good;
	uint64_t value;
};

static const struct number_row numbers[] = {
	{ "0", 0, true, 0 },
	{ "0", UINT64_MAX, true, 0 },
	{ "1", 1, true, 1 },
	{ "7", 6, false, 0 },
	{ "10", 10, true, 10 },
	{ "4294967296", UINT64_MAX, true, UINT64_C(4294967296) },
	{ "18446744073709551615", UINT64_MAX, true, UINT64_MAX },
	{ "18446744073709551615", UINT64_MAX - 1, false, 0 },
	{ "18446744073709551616", UINT64_MAX, false, 0 },
	{ "18446744073709551620", UINT64_MAX, false, 0 },
	{ "99999999999999999999", UINT64_MAX, false, 0 },
	{ "100000000000000000000000000000", UINT64_MAX, false, 0 },
	{ "", UINT64_MAX, false, 0 },
	{ "00", UINT64_MAX, false, 0 },
	{ "01", UINT64_MAX, false, 0 },
	{ "+1", UINT64_MAX, false, 0 },
	{ "-1", UINT64_MAX, false, 0 },
	{ "-0", UINT64_MAX, false, 0 },
	{ " 1", UINT64_MAX, false, 0 },
	{ "1 ", UINT64_MAX, false, 0 },
	{ "1.0", UINT64_MAX, false, 0 },
	{ "0x1", UINT64_MAX, false, 0 },
	{ "1e3", UINT64_MAX, false, 0 },
	{ "1,000", UINT64_MAX, false, 0 },
	{ "/", UINT64_MAX, false, 0 },
	{ ":", UINT64_MAX, false, 0 },
	{ "a", UINT64_MAX, false, 0 },
};

START_TEST(number)
{
	const struct number_row *row = &numbers[_i];
	uint64_t value = 77;
	bool good =
	    parse_number(row->text, strlen(row->text), row->max, &value);

	ck_assert_msg(good == row->good, "\"%s\"", row->text);
	ck_assert_uint_eq(value, row->good ? row->value : 77);
}
END_TEST

START_TEST(number_stops_at_its_length)
{
	uint64_t value;

	ck_assert(parse_number("123", 2, UINT64_MAX, &value));
	ck_assert_uint_eq(value, 12);
	ck_assert(!parse_number("1\0002", 3, UINT64_MAX, &value));
}
END_TEST

struct duration_row {
	const char *text;
	int64_t ms;	 /* -1: malformed */
	const char *why; /* in what parse_duration_why() tells */
};

static const struct duration_row durations[] = {
	{ "0", 0, NULL },
	{ "0ms", 0, NULL },
	{ "0d", 0, NULL },
	{ "1ms", 1, NULL },
	{ "500ms", 500, NULL },
	{ "30s", 30000, NULL },
	{ "5m", 300000, NULL },
	{ "2h", 7200000, NULL },
	{ "1d", 86400000, NULL },
	{ "365d", DURATION_MS_MAX, NULL },
	{ "8760h", DURATION_MS_MAX, NULL },
	{ "31536000s", DURATION_MS_MAX, NULL },
	{ "31536000000ms", DURATION_MS_MAX, NULL },
	{ "366d", -1, "365d" },
	{ "8761h", -1, "365d" },
	{ "31536001s", -1, "365d" },
	{ "31536000001ms", -1, "365d" },
	{ "18446744073709551616ms", -1, "365d" },
	{ "18446744073709551617d", -1, "365d" },
	{ "30", -1, "unit" },
	{ "1", -1, "unit" },
	{ "99999999999999999999", -1, "unit" },
	{ "", -1, "such as" },
	{ "s", -1, "such as" },
	{ "00", -1, "such as" },
	{ "00s", -1, "such as" },
	{ "05s", -1, "such as" },
	{ "-1s", -1, "such as" },
	{ "+1s", -1, "such as" },
	{ "1S", -1, "such as" },
	{ "1MS", -1, "such as" },
	{ "1us", -1, "such as" },
	{ "1w", -1, "such as" },
	{ "1sec", -1, "such as" },
	{ "1 s", -1, "such as" },
	{ "1s ", -1, "such as" },
	{ "1.5s", -1, "such as" },
	{ "1m30s", -1, "such as" },
	{ "forever", -1, "such as" },
};

START_TEST(duration)
{
	const struct duration_row *row = &durations[_i];
	size_t n = strlen(row->text);
	int64_t ms = -1;
	bool good = parse_duration(row->text, n, &ms);

	ck_assert_msg(good == (row->ms >= 0), "\"%s\"", row->text);
	ck_assert_int_eq(ms, row->ms);
	if (!good)
		ck_assert_msg(
		    strstr(parse_duration_why(row->text, n), row->why),
		    "\"%s\" %s", row->text, parse_duration_why(row->text, n));
}
END_TEST

START_TEST(duration_stops_at_its_length)
{
	int64_t ms;

	ck_assert(parse_duration("12ms", 4, &ms) && ms == 12);
	ck_assert(!parse_duration("12ms", 2, &ms));
	ck_assert(parse_duration("12ms", 3, &ms) && ms == 720000);
}
END_TEST

struct utf8_row {
	const char *text;
	bool good;
};

static const struct utf8_row utf8s[] = {
	{ "", true },
	{ "plain", true },
	{ "\x7f", true },
	{ "caf\xc3\xa9", true },
	{ "\xc2\x80", true },
	{ "\xdf\xbf", true },
	{ "\xe0\xa0\x80", true },
	{ "\xed\x9f\xbf", true },
	{ "\xee\x80\x80", true },
	{ "\xef\xbf\xbf", true },
	{ "\xf0\x90\x80\x80", true },
	{ "\xf0\x9f\x94\x92", true },
	{ "\xf4\x8f\xbf\xbf", true },
	{ "\x80", false },
	{ "\xbf", false },
	{ "a\x80z", false },
	{ "\xc0\x80", false }, /* overlong NUL */
	{ "\xc1\xbf", false },
	{ "\xc3", false },
	{ "\xc3z", false },
	{ "\xc3\xc3\xa9", false },
	{ "\xe0\x80\x80", false }, /* overlong */
	{ "\xe0\x9f\xbf", false },
	{ "\xe2\x82", false },
	{ "\xe2\x82z", false },
	{ "\xed\xa0\x80", false }, /* a surrogate */
	{ "\xed\xbf\xbf", false },
	{ "\xf0\x80\x80\x80", false }, /* overlong */
	{ "\xf0\x8f\xbf\xbf", false },
	{ "\xf0\x9f\x94", false },
	{ "\xf0\x9f\x94z", false },
	{ "\xf4\x90\x80\x80", false }, /* above U+10FFFF */
	{ "\xf5\x80\x80\x80", false },
	{ "\xff", false },
	{ "\xfe", false },
};

START_TEST(utf8)
{
	const struct utf8_row *row = &utf8s[_i];

	ck_assert_msg(parse_utf8(row->text, strlen(row->text)) == row->good,
	    "row %d", _i);
}
END_TEST

START_TEST(utf8_char)
{
	ck_assert_uint_eq(parse_utf8_char("", 0), 0);
	ck_assert_uint_eq(parse_utf8_char("\0", 1), 1);
	ck_assert_uint_eq(parse_utf8_char("ab", 2), 1);
	ck_assert_uint_eq(parse_utf8_char("\xc3\xa9z", 3), 2);
	ck_assert_uint_eq(parse_utf8_char("\xc3\xa9z", 1), 0);
	ck_assert_uint_eq(parse_utf8_char("\xe2\x82\xac", 3), 3);
	ck_assert_uint_eq(parse_utf8_char("\xf0\x9f\x94\x92", 4), 4);
}
END_TEST

START_TEST(error_words)
{
	ck_assert_str_eq(err_word(ERR_NONE), "none");
	ck_assert_str_eq(err_word(ERR_UNKNOWN_COMMAND), "unknown-command");
	ck_assert_str_eq(err_word(ERR_NOT_HELD), "not-held");
	ck_assert_str_eq(err_word(ERR_INTERNAL), "internal");
}
END_TEST

TCase *
parse_cases(void)
{
	TCase *tc = tcase_create("parse");

	tcase_add_loop_test(tc, number, 0, (int)COUNT(numbers));
	tcase_add_test(tc, number_stops_at_its_length);
	tcase_add_loop_test(tc, duration, 0, (int)COUNT(durations));
	tcase_add_test(tc, duration_stops_at_its_length);
	tcase_add_loop_test(tc, utf8, 0, (int)COUNT(utf8s));
	tcase_add_test(tc, utf8_char);
	tcase_add_test(tc, error_words);
	return tc;
}
