/*
 * Reads stories, and compares them with what the core has said.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "story.h"
#include "suite.h"

char *
story_read(const char *subject, char path[STORY_PATH_SIZE])
{
	const char *dir = getenv("srcdir");
	char *text = xcalloc(1, 1 << 20);
	FILE *f;
	size_t n;

	snprintf(path, STORY_PATH_SIZE, "%s/tests/unit/core/stories/%s.story",
	    dir == NULL ? "." : dir, subject);
	f = fopen(path, "r");
	ck_assert_msg(f != NULL, "no %s", path);
	n = fread(text, 1, (1 << 20) - 1, f);
	ck_assert_msg(n > 0 && text[n - 1] == '\n', "%s: no last line", path);
	fclose(f);
	return text;
}

void
story_compare(const char *path, const char *want, const char *got)
{
	unsigned line = 1;
	size_t i;

	if (strcmp(want, got) == 0)
		return;
	for (i = 0; want[i] != '\0' && want[i] == got[i]; i++)
		line += want[i] == '\n';
	while (i > 0 && want[i - 1] != '\n')
		i--;
	ck_abort_msg("%s:%u:\nwant %.*s\ngot  %.*s", path, line,
	    (int)strcspn(want + i, "\n"), want + i, (int)strcspn(got + i, "\n"),
	    got + i);
}
