/*
 * Hostile configurations: they take little time and memory, and their faults
 * are bounded.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "config/config.h"
#include "config/node.h"

#include "config_rig.h"
#include "suite.h"
#include "test_config.h"

/*
 * Of the processor, in seconds.  Without the check, libyaml takes over 5 for the
 * first bomb, and a sanitizer multiplies that as well.
 */
#ifdef __SANITIZE_ADDRESS__
#define BOMB_MAX_S 8.0
#else
#define BOMB_MAX_S 2.0
#endif

/* `head`, and `unit` repeated until the text is full. */
static const struct {
	const char *head;
	const char *unit;
	const char *fault; /* this is among the faults */
} bombs[] = {
	{ "", "[", "nested too deeply" },
	{ "a: ", "[", "nested too deeply" },
	{ "", "{", "as a key" },
	{ "", "- ", "nested too deeply" },
	{ "", "? ", "as a key" },
	{ "redis:\n  nodes:\n", "    - &a x\n", "has an anchor" },
	{ "redis:\n  nodes:\n", "    - *a\n", "is an alias" },
	{ "a: &a [x, x]\nb: &b [*a, *a, *a]\nc: &c [*b, *b, *b]\n", "? *c\n",
	    "is an alias" },
	{ "", "? a\n", "given twice" },
	{ "redis:\n  nodes:\n", "  - a\n", "'a' has no port" },
	{ "redis: {nodes: [", "a,", "syntax" },
	{ "log: \"", "x", "syntax" },
	{ "log: ", "x", "is a single value" },
	{ "", "!", "has a tag" },
	{ "", "&a ", "syntax" },
	{ "", "%", "syntax" },
	{ "", "\"", "syntax" },
	{ "", "---\n", "a second document" },
};

static double
seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
	return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

START_TEST(bomb)
{
	size_t n = strlen(bombs[_i].unit);
	size_t used = strlen(bombs[_i].head);
	char *yaml = malloc(CONFIG_NODE_TEXT_MAX + 1);
	double start = seconds();
	char *text;

	memcpy(yaml, bombs[_i].head, used);
	for (; used + n <= CONFIG_NODE_TEXT_MAX; used += n)
		memcpy(yaml + used, bombs[_i].unit, n);
	text = config_rig_faults(yaml, used);
	ck_assert_msg(strstr(text, bombs[_i].fault) != NULL,
	    "bomb %d has no '%s':\n%s", _i, bombs[_i].fault, text);
	ck_assert_msg(seconds() - start < BOMB_MAX_S, "bomb %d takes %f s", _i,
	    seconds() - start);
	free(text);
	free(yaml);
}
END_TEST

START_TEST(faults_are_bounded)
{
	struct config_faults faults;
	struct config c;
	char yaml[8000];
	size_t used = 0;

	for (int i = 0; i < 500; i++)
		used += (size_t)sprintf(yaml + used, "unknown%d: 1\n", i);
	config_faults_init(&faults);
	ck_assert(!config_load_buffer(&c, "t", yaml, used, &faults));
	ck_assert_uint_eq(faults.n, CONFIG_FAULTS_MAX + 1);
	ck_assert_str_eq(faults.lines[CONFIG_FAULTS_MAX],
	    "t: more faults were found, not shown here");
	config_faults_fini(&faults);
}
END_TEST

TCase *
hostile_cases(void)
{
	TCase *t = tcase_create("hostile");

	tcase_add_loop_test(t, bomb, 0, COUNT(bombs));
	tcase_add_test(t, faults_are_bounded);
	return t;
}
