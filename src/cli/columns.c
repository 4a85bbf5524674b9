/* See columns.h. */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "cli/columns.h"
#include "cli/json_reply.h"
#include "cli/timespan.h"
#include "client/message.h"

#define COLUMNS_MAX 18
#define CELL_MAX 520
#define BARE_MIN 4
#define VALUE_SIZE 300 /* of a label, a peer, or the name of a broker */

/* Returns the bare word of a line: a name, or the kind of the line. */
static struct pair
bare_of(const char *line)
{
	struct pair p;

	while (pair_next(&line, &p)) {
		if (p.key == NULL)
			return p;
	}
	return (struct pair){ NULL, 0, "-", 1 };
}

static bool
is_bare(const struct table *t, const struct table_column *column)
{
	return strcmp(column->key, t->bare) == 0;
}

/* Returns the text of a cell; "-" if the line has no value for it. */
static const char *
cell_text(const struct table *t, const char *line,
    const struct table_column *column, char text[CELL_MAX])
{
	char span[TIMESPAN_TEXT_MAX];
	struct pair p = { NULL, 0, "-", 1 };
	const bool bare = is_bare(t, column);
	char *space;
	int64_t ms;

	if (bare)
		p = bare_of(line);
	else if (pair_find(line, column->key, &p) && column->how == TABLE_MARK)
		p = (struct pair){ NULL, 0, "yes", 3 };
	snprintf(text, CELL_MAX, "%.*s", (int)p.value_len, p.value);
	for (space = text; (space = strchr(space, COLUMNS_SPACE[0])) != NULL;)
		*space = ' ';
	if (!bare && p.value_len > 2 &&
	    memcmp(p.value + p.value_len - 2, "ms", 2) == 0 &&
	    strcmp(column->key, "value") != 0 &&
	    parse_duration(p.value, p.value_len, &ms))
		snprintf(text, CELL_MAX, "%s",
		    ms == 0 && column->how == TABLE_NOT_0
			? "-"
			: timespan_cell(ms, span));
	return text;
}

/* Counts characters, not bytes. */
static size_t
text_width(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* Cuts a text that is too wide, at a whole character, and marks it. */
static void
text_cut(char *text, size_t width)
{
	size_t n = 0;
	char *p;

	if (text_width(text) <= width)
		return;
	for (p = text; *p != '\0'; p++) {
		if (((unsigned char)*p & 0xc0) != 0x80 && ++n == width)
			break;
	}
	(void)strcpy(p, "~");
}

static void
cell_print(char *text, size_t width, bool last)
{
	size_t n;

	text_cut(text, width);
	(void)fputs(text, stdout);
	if (last) {
		(void)putchar('\n');
		return;
	}
	for (n = text_width(text); n < width + 2; n++)
		(void)putchar(' ');
}

static void
lines_json(const struct table *t, char *const *lines, size_t n)
{
	struct json j;
	struct pair bare;
	size_t i;

	for (i = 0; i < n; i++) {
		bare = bare_of(lines[i]);
		json_begin(&j);
		json_str(&j, t->bare, bare.value, bare.value_len);
		json_pairs(&j, lines[i]);
		json_end(&j);
	}
}

/* Returns 0 for a column that is left out. */
static size_t
column_width(const struct table *t, const struct table_column *column,
    char *const *lines, size_t n)
{
	size_t i, w, width = strlen(column->title);
	bool any = column->how != TABLE_IF_ANY && column->how != TABLE_MARK;
	char text[CELL_MAX];
	struct pair p;

	for (i = 0; i < n; i++) {
		any = any || pair_find(lines[i], column->key, &p);
		w = text_width(cell_text(t, lines[i], column, text));
		width = w > width ? w : width;
	}
	return any ? width : 0;
}

/* If the table is too wide, shortens the bare words, down to a few letters. */
static void
widths_fit(const struct table *t, size_t width[COLUMNS_MAX])
{
	size_t c, others = 0, bare = 0;

	for (c = 0; c < t->columns_n; c++) {
		if (is_bare(t, &t->columns[c]))
			bare = c;
		else if (width[c] > 0)
			others += width[c] + 2;
	}
	if (t->width == 0 || others + width[bare] <= t->width)
		return;
	width[bare] =
	    t->width > others + BARE_MIN ? t->width - others : BARE_MIN;
}

static void
row_print(
    const struct table *t, const char *line, const size_t width[COLUMNS_MAX])
{
	size_t c, last = t->columns_n - 1;
	char text[CELL_MAX];

	while (last > 0 && width[last] == 0)
		last--;
	for (c = 0; c <= last; c++) {
		if (width[c] == 0)
			continue;
		if (line == NULL)
			snprintf(text, CELL_MAX, "%s", t->columns[c].title);
		else
			(void)cell_text(t, line, &t->columns[c], text);
		cell_print(text, width[c], c == last);
	}
}

static void
lines_print(const struct table *t, char *const *lines, size_t n)
{
	size_t width[COLUMNS_MAX], i, c;

	assert(t->columns_n <= COLUMNS_MAX);
	if (n == 0)
		return;
	for (c = 0; c < t->columns_n; c++)
		width[c] = column_width(t, &t->columns[c], lines, n);
	widths_fit(t, width);
	row_print(t, NULL, width);
	for (i = 0; i < n; i++)
		row_print(t, lines[i], width);
}

void
columns_print(const struct table *t, char *const *lines, size_t n, bool json)
{
	char **rows;
	size_t i;

	if (json || t->row == NULL) {
		(json ? lines_json : lines_print)(t, lines, n);
		return;
	}
	rows = xcalloc(n + 1, sizeof(*rows));
	for (i = 0; i < n; i++)
		rows[i] = t->row(lines[i]);
	lines_print(t, rows, n);
	for (i = 0; i < n; i++)
		free(rows[i]);
	free(rows);
}

char *
name_line(const char *line)
{
	char one[VALUE_SIZE], two[VALUE_SIZE];
	int n = (int)strcspn(line, " "), rc;
	const char *rest = line + n;
	struct pair p;
	char *out;

	if (pair_text(line, "kept", one, VALUE_SIZE)[0] == '\0' &&
	    pair_text(line, "limit", one, VALUE_SIZE)[0] != '\0')
		rc = asprintf(&out,
		    "%.*s state=%s" COLUMNS_SPACE "of" COLUMNS_SPACE "%s%s", n,
		    line, pair_text(line, "permits", two, VALUE_SIZE), one,
		    rest);
	else if (one[0] != '\0' &&
		 pair_text(line, "was", two, VALUE_SIZE)[0] != '\0')
		rc = asprintf(&out,
		    "%.*s state=kept age=%s holder=(was" COLUMNS_SPACE "%s)%s",
		    n, line, one, two, rest);
	else if (one[0] != '\0')
		rc = asprintf(
		    &out, "%.*s state=kept age=%s%s", n, line, one, rest);
	else if (!pair_find(line, "holder", &p) &&
		 pair_text(line, "broker", one, VALUE_SIZE)[0] != '\0')
		rc = asprintf(&out, "%.*s holder=at" COLUMNS_SPACE "%s%s", n,
		    line, one, rest);
	else
		rc = asprintf(&out, "%s", line);
	if (rc < 0)
		abort();
	return out;
}
