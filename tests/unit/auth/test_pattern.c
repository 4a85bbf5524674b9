/*
 * Patterns of names: one row a case.
 */
#include "config.h"

#include <string.h>

#include "auth/pattern.h"
#include "suite.h"
#include "test_auth.h"

struct match_row {
	const char *pattern;
	const char *name;
	bool matches; /* for the user "ci" */
};

static const struct match_row matches[] = {
	{ "a", "a", true },
	{ "a", "b", false },
	{ "a", "ab", false },
	{ "ab", "a", false },
	{ "*", "a", true },
	{ "a*", "a", true },
	{ "a*", "abc", true },
	{ "a*", "b", false },
	{ "deploy/*", "deploy/", true },
	{ "deploy/*", "deploy/web", true },
	{ "deploy/*", "deploy", false },
	{ "deploy/*", "Deploy/web", false },
	{ "%u", "ci", true },
	{ "%u", "cid", false },
	{ "%u", "c", false },
	{ "%u/*", "ci/x", true },
	{ "%u/*", "cix", false },
	{ "home/%u/%u", "home/ci/ci", true },
	{ "home/%u/%u", "home/ci/cj", false },
	{ "%u*", "circle", true },
	{ "%", "%", true },
	{ "%x", "%x", true },
	{ "100%", "100%", true },
	{ "100%u", "100ci", true },
	{ "%%u", "%ci", true },
	{ "gr\xc3\xbc*", "gr\xc3\xbcn", true },
};

START_TEST(match)
{
	const struct match_row *row = &matches[_i];
	struct span name = { row->name, strlen(row->name) };

	ck_assert_msg(pattern_matches(row->pattern, name, "ci") == row->matches,
	    "\"%s\" \"%s\"", row->pattern, row->name);
}
END_TEST

/* A name is no string: the bytes after it in memory do not count. */
START_TEST(match_within_the_name)
{
	struct span name = { "abc", 2 };

	ck_assert(pattern_matches("ab", name, "ci"));
	ck_assert(!pattern_matches("abc", name, "ci"));
}
END_TEST

struct why_row {
	const char *pattern;
	const char *why;
};

static const struct why_row whys[] = {
	{ "a", NULL },
	{ "*", NULL },
	{ "a/*", NULL },
	{ "", "is empty" },
	{ "*a", "has a '*' before its end" },
	{ "a*b*", "has a '*' before its end" },
	{ "**", "has a '*' before its end" },
	{ "@x", "begins with \"@\"" },
	{ "a b", "contains a space" },
};

START_TEST(fault_of)
{
	const struct why_row *row = &whys[_i];
	const char *why = pattern_why(row->pattern);

	if (row->why == NULL)
		ck_assert_ptr_null(why);
	else
		ck_assert_str_eq(why, row->why);
}
END_TEST

TCase *
pattern_cases(void)
{
	TCase *tc = tcase_create("pattern");

	tcase_add_loop_test(tc, match, 0, (int)COUNT(matches));
	tcase_add_test(tc, match_within_the_name);
	tcase_add_loop_test(tc, fault_of, 0, (int)COUNT(whys));
	return tc;
}
