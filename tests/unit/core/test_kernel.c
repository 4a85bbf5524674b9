/*
 * The kernel by itself, linked with base alone: it plays the stories of leases,
 * queues, times, groups, sharing, keep=, and deadlocks, word for word, but for
 * those that ask something of a part.
 *
 * With WITH_QUORUM it has the one part that says how several servers decide
 * together, and plays the stories of that.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"

#include "kernel_alone.h"
#include "story.h"
#include "suite.h"

/* How many of its stories each has at least that need no part. */
static const struct {
	const char *subject;
	unsigned least;
} played[] = {
#ifdef WITH_QUORUM
	{ "quorum", 34 },
	{ "voters", 14 },
#else
	{ "lease", 38 },
	{ "unknown", 8 },
	{ "time", 33 },
	{ "queue", 42 },
	{ "shared", 18 },
	{ "groups", 29 },
	{ "deadlock", 7 },
	{ "given", 25 },
	{ "keep", 27 },
	{ "guard", 19 },
	{ "turns", 6 },
	{ "leave", 13 },
	{ "stop", 11 },
#endif
};

/* Verbs, lines that drive, and events that are a part's. */
static const char *const words_of_parts[] = {
	" STATUS", " WATCH", " UNWATCH", " UNLOCK-FORCE", " ACQUIRE",
	" RELEASE", " LATCH", " COUNTDOWN", " AWAIT", " BARRIER", " QUEUE",
	" BROKERS", " LIST", " unowned", " log forced", " token",
#ifndef WITH_QUORUM
	" quorum="
#endif
};

static bool
needs_parts(const char *story, size_t len)
{
	size_t i;

	for (i = 0; i < COUNT(words_of_parts); i++)
		if (memmem(story, len, words_of_parts[i],
			strlen(words_of_parts[i])) != NULL)
			return true;
	return false;
}

/* The stories that need none, and how many these are. */
static unsigned
choose(const char *text, struct buf *out)
{
	const char *next;
	unsigned n = 0;
	size_t len;

	for (text = strstr(text, "\n== "); text != NULL; text = next) {
		next = strstr(text + 1, "\n== ");
		len = next != NULL ? (size_t)(next - text) : strlen(text);
		if (needs_parts(text, len))
			continue;
		buf_add(out, text + 1, len - 1);
		buf_addc(out, '\n');
		n++;
	}
	buf_addc(out, '\0');
	return n;
}

START_TEST(test_story)
{
	char path[STORY_PATH_SIZE], *all;
	struct buf want, got;
	unsigned n;

	all = story_read(played[_i].subject, path);
	buf_init(&want);
	buf_init(&got);
	n = choose(all, &want);
	ck_assert_msg(
	    n >= played[_i].least, "%s: only %u stories need no part", path, n);
	story_tell(buf_data(&want), &got);
	buf_addc(&got, '\0');
	story_compare(path, buf_data(&want), buf_data(&got));
	buf_fini(&want);
	buf_fini(&got);
	free(all);
}
END_TEST

static TCase *
story_cases(void)
{
	TCase *tc = tcase_create("stories");

	tcase_add_loop_test(tc, test_story, 0, COUNT(played));
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { story_cases, kernel_part_cases };

	return suite_run("kernel", cases, COUNT(cases));
}
