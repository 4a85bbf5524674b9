/*
 * Tests the checker of histories: it must find each kind of violation that is
 * planted, and must not report what only looks like one.
 */
#include "config.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"

#include "history.h"

/* One row: a history, and a part of the only fault in it (NULL: none). */
struct history_case {
	const char *what;
	const char *text;
	const char *fault;
};

static const struct history_case cases[] = {
	{ "one after the other",
	    "10 invoke 1 lock a - wait=0\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 1 unlock a -\n"
	    "40 ok 1 unlock a -\n"
	    "50 invoke 2 lock a -\n"
	    "60 ok 2 lock a 101\n",
	    NULL },
	{ "granted while the first still holds",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock a -\n"
	    "40 ok 2 lock a 101\n"
	    "50 invoke 1 unlock a -\n"
	    "60 ok 1 unlock a -\n",
	    "session 2 is granted a 10 us before session 1" },
	{ "held to the end, and granted again",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock a -\n"
	    "40 ok 2 lock a 101\n"
	    "50 info - end - -\n",
	    "malformed" },
	{ "held to the end, and granted again (2)",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock a -\n"
	    "40 ok 2 lock a 101\n"
	    "50 info 0 end - -\n",
	    "before session 1 has let it go" },
	{ "a long hold that overlaps a later one, past a short one",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "21 invoke 2 lock a -\n"
	    "22 invoke 3 lock a -\n"
	    "30 ok 2 lock a 101 limit=30\n"
	    "40 ok 3 lock a 102\n"
	    "50 invoke 1 unlock a -\n"
	    "60 ok 1 unlock a -\n",
	    "session 3 is granted a 10 us before session 1" },
	{ "other names do not matter",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock b -\n"
	    "40 ok 2 lock b 101\n",
	    NULL },
	{ "told !LOST before",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock a -\n"
	    "35 info 1 lost a -\n"
	    "40 ok 2 lock a 101\n",
	    NULL },
	{ "its connection ended before",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock a -\n"
	    "35 info 1 closed - -\n"
	    "40 ok 2 lock a 101\n",
	    NULL },
	{ "its own clock says that it is over",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100 limit=39\n"
	    "30 invoke 2 lock a -\n"
	    "40 ok 2 lock a 101\n",
	    NULL },
	{ "its broker was frozen",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock a -\n"
	    "35 info 1 doubt a -\n"
	    "40 ok 2 lock a 101\n"
	    "50 info 1 lost a -\n",
	    NULL },
	{ "an inner UNLOCK does not let go",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100 depth=1\n"
	    "21 invoke 1 lock a -\n"
	    "22 ok 1 lock a 100 depth=2\n"
	    "23 invoke 1 unlock a -\n"
	    "24 ok 1 unlock a -\n"
	    "30 invoke 2 lock a -\n"
	    "40 ok 2 lock a 101\n"
	    "50 info 0 end - -\n",
	    "before session 1 has let it go" },
	{ "a smaller fence later",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 1 unlock a -\n"
	    "40 ok 1 unlock a -\n"
	    "50 invoke 2 lock a -\n"
	    "60 ok 2 lock a 99\n",
	    "fence 99 of a, but 100" },
	{ "a smaller fence, much later",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 info 1 closed - -\n"
	    "31 invoke 2 lock a -\n"
	    "32 ok 2 lock a 101\n"
	    "33 info 2 closed - -\n"
	    "50 invoke 3 lock a -\n"
	    "60 ok 3 lock a 98\n",
	    "fence 98 of a, but 100" },
	{ "answers that cross on the network",
	    "10 invoke 1 lock a -\n"
	    "11 invoke 2 lock a -\n"
	    "20 ok 2 lock a 101\n"
	    "21 info 2 closed - -\n"
	    "30 ok 1 lock a 100\n",
	    NULL },
	{ "one fence twice",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 info 1 closed - -\n"
	    "31 invoke 2 lock a -\n"
	    "40 ok 2 lock a 100\n",
	    "given twice" },
	{ "no fence",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a -\n",
	    "without a fence" },
	{ "never answered",
	    "10 invoke 1 lock a -\n"
	    "20 invoke 2 lock b -\n"
	    "30 fail 2 lock b -\n",
	    "line 1: session 1 is never answered" },
	{ "closed before the answer",
	    "10 invoke 1 lock a -\n"
	    "20 info 1 closed - -\n",
	    NULL },
	{ "answered without a question", "10 ok 1 lock a 100\n",
	    "is answered what it did not ask" },
	{ "answered twice",
	    "10 invoke 1 lock a - id=1\n"
	    "20 fail 1 lock a - id=1\n"
	    "30 fail 1 lock a - id=1\n",
	    "is answered what it did not ask" },
	{ "answers out of order, by id",
	    "10 invoke 1 lock a - id=1 wait=5000\n"
	    "20 invoke 1 lock a - id=2 wait=5\n"
	    "30 fail 1 lock a - id=2\n"
	    "4000 fail 1 lock a - id=1\n",
	    NULL },
	{ "waited longer than it would",
	    "10 invoke 1 lock a - wait=100\n"
	    "2110 fail 1 lock a -\n",
	    "is answered after 2100 us; it would wait 100" },
	{ "waited about as long as it would",
	    "10 invoke 1 lock a - wait=100\n"
	    "1000 fail 1 lock a -\n",
	    NULL },
	{ "waited too long for anybody",
	    "10 invoke 1 lock a - wait=-1\n"
	    "60000 ok 1 lock a 100\n",
	    "waits 59990 us for a" },
	{ "two share it",
	    "10 invoke 1 lock a - shared=1\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock a - shared=1\n"
	    "40 ok 2 lock a 100\n"
	    "50 info 0 end - -\n",
	    NULL },
	{ "two share it with two fences",
	    "10 invoke 1 lock a - shared=1\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock a - shared=1\n"
	    "40 ok 2 lock a 101\n"
	    "50 info 0 end - -\n",
	    "before session 1 has let it go" },
	{ "alone, and somebody shares it",
	    "10 invoke 1 lock a - shared=1\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock a -\n"
	    "40 ok 2 lock a 101\n"
	    "50 info 0 end - -\n",
	    "before session 1 has let it go" },
	{ "shared, and somebody has it alone",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 2 lock a - shared=1\n"
	    "40 ok 2 lock a 101\n"
	    "50 info 0 end - -\n",
	    "before session 1 has let it go" },
	{ "shared with the fence of one who had it alone",
	    "10 invoke 1 lock a -\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 1 unlock a -\n"
	    "40 ok 1 unlock a -\n"
	    "50 invoke 2 lock a - shared=1\n"
	    "60 ok 2 lock a 100\n",
	    "given twice" },
	{ "who shares it gets it alone",
	    "10 invoke 1 lock a - shared=1\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 1 lock a -\n"
	    "40 ok 1 lock a 101 depth=2\n"
	    "50 invoke 1 unlock a -\n"
	    "60 ok 1 unlock a -\n"
	    "70 invoke 1 unlock a -\n"
	    "80 invoke 2 lock a -\n"
	    "90 ok 1 unlock a -\n"
	    "95 ok 2 lock a 102\n",
	    NULL },
	{ "who shares it gets it alone, and another shares it",
	    "10 invoke 1 lock a - shared=1\n"
	    "20 ok 1 lock a 100\n"
	    "30 invoke 1 lock a -\n"
	    "40 ok 1 lock a 101 depth=2\n"
	    "50 invoke 1 unlock a -\n"
	    "60 ok 1 unlock a -\n"
	    "70 invoke 2 lock a - shared=1\n"
	    "80 ok 2 lock a 102\n"
	    "90 info 0 end - -\n",
	    "before session 1 has let it go" },
	{ "several names at once",
	    "10 invoke 1 lock a - id=7\n"
	    "10 invoke 1 lock b - id=7\n"
	    "20 ok 1 lock a 100 id=7\n"
	    "20 ok 1 lock b 101 id=7\n"
	    "30 invoke 1 unlock a - id=8\n"
	    "30 invoke 1 unlock b - id=8\n"
	    "40 ok 1 unlock a - id=8\n"
	    "40 ok 1 unlock b - id=8\n",
	    NULL },
	{ "one of several names",
	    "10 invoke 1 lock a - id=7\n"
	    "10 invoke 1 lock b - id=7\n"
	    "20 ok 1 lock a 100 id=7\n"
	    "20 fail 1 lock b - id=7\n",
	    "some of the names" },
	{ "time runs backwards",
	    "20 invoke 1 lock a -\n"
	    "10 fail 1 lock a -\n",
	    "time runs backwards" },
	{ "an unknown word", "10 begin 1 lock a -\n", "line 1 is malformed" },
	{ "an unknown key", "10 invoke 1 lock a - x=1\n",
	    "line 1 is malformed" },
	{ "a word too few", "# fine\n\n10 invoke 1 lock a\n",
	    "line 3 is malformed" },
};

/* The faults that were found, one after the other. */
struct found {
	char text[2000];
	int n;
};

static void
note(void *arg, const char *text)
{
	struct found *found = arg;

	strncat(
	    found->text, text, sizeof(found->text) - strlen(found->text) - 1);
	found->n++;
}

static FILE *
file_of(const char *text)
{
	FILE *f = tmpfile();

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	rewind(f);
	return f;
}

START_TEST(finds_what_is_planted)
{
	const struct history_case *c = &cases[_i];
	struct history_limits limits = { .late_us = 1000, .longest_us = 50000 };
	struct found found = { "", 0 };
	struct history history;
	FILE *f = file_of(c->text);

	history_init(&history);
	if (history_read(&history, f, note, &found))
		history_check(&history, &limits, note, &found);
	history_fini(&history);
	fclose(f);
	if (c->fault == NULL) {
		ck_assert_msg(found.n == 0, "%s: %s", c->what, found.text);
		return;
	}
	ck_assert_msg(
	    found.n == 1, "%s: %d faults: %s", c->what, found.n, found.text);
	ck_assert_msg(strstr(found.text, c->fault) != NULL, "%s: %s", c->what,
	    found.text);
}
END_TEST

START_TEST(writes_what_it_reads)
{
	static const char text[] = "10 invoke 1 lock a - id=7 wait=-1\n"
				   "20 ok 1 lock a 100 id=7 depth=1 limit=90\n"
				   "30 info 1 lost a -\n"
				   "40 info 1 closed - -\n";
	char again[sizeof(text)] = "";
	struct found found = { "", 0 };
	struct history history;
	FILE *in = file_of(text), *out = tmpfile();

	ck_assert_ptr_nonnull(out);
	history_init(&history);
	ck_assert(history_read(&history, in, note, &found));
	history_write(&history, out);
	rewind(out);
	ck_assert_uint_eq(
	    fread(again, 1, sizeof(text) - 1, out), sizeof(text) - 1);
	ck_assert_str_eq(again, text);
	history_fini(&history);
	fclose(in);
	fclose(out);
}
END_TEST

int
main(void)
{
	Suite *suite = suite_create("history");
	TCase *tcase = tcase_create("history");
	SRunner *runner;
	int failed;

	hash_seed(1, 2);
	tcase_add_loop_test(tcase, finds_what_is_planted, 0,
	    (int)(sizeof(cases) / sizeof(cases[0])));
	tcase_add_test(tcase, writes_what_it_reads);
	suite_add_tcase(suite, tcase);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed == 0 ? 0 : 1;
}
