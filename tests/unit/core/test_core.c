/*
 * Stories of the core (story.h), one file for each subject.  The output of the
 * core is compared with the file; with STORY_WRITE in the environment it is
 * written there instead, to be read and judged before it is committed.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#include "story.h"
#include "suite.h"

static const char *const subjects[] = {
	"notices",
	"lease",
	"unknown",
	"time",
	"queue",
	"quorum",
	"shared",
	"groups",
	"deadlock",
	"given",
	"keep",
	"guard",
	"idle",
	"turns",
	"sessions",
	"resume",
	"places",
	"warm",
	"watch",
	"notes",
	"why",
	"force",
	"outside",
	"recall",
	"about",
	"chain",
	"drill",
	"stop",
	"leave",
	"unowned",
	"voters",
	"brokers",
	"tokens",
	"counted",
	"semaphores",
	"latches",
	"barriers",
};

static void
write_file(const char *path, const struct buf *text)
{
	FILE *f = fopen(path, "w");

	ck_assert_msg(f != NULL, "no %s", path);
	ck_assert_uint_eq(
	    fwrite(buf_data(text), 1, buf_len(text), f), buf_len(text));
	fclose(f);
}

START_TEST(test_story)
{
	struct buf got;
	char path[STORY_PATH_SIZE], *want;

	want = story_read(subjects[_i], path);
	buf_init(&got);
	story_tell(want, &got);
	if (getenv("STORY_WRITE") != NULL)
		write_file(path, &got);
	buf_addc(&got, '\0');
	if (getenv("STORY_WRITE") == NULL)
		story_compare(path, want, buf_data(&got));
	buf_fini(&got);
	free(want);
}
END_TEST

static TCase *
story_cases(void)
{
	TCase *tc = tcase_create("stories");

	tcase_add_loop_test(tc, test_story, 0, COUNT(subjects));
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { story_cases };

	return suite_run("core", cases, COUNT(cases));
}
