/*
 * Lines of the broker as a table for people, or one JSON object each.
 */
#include "config.h"

#include "cli/table.h"

#include "base/parse.h"
#include "cli/json.h"
#include "cli/message.h"
#include "cli/timespan.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define COLUMNS_MAX 8
#define CELL_MAX 320

/* The bare word of a line: a name, or what kind of line it is. */
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

/* What goes into a cell; "-" where the line has nothing for it. */
static const char *
cell_text(const char *line, const struct table_column *column, bool first,
    char text[CELL_MAX])
{
	char span[TIMESPAN_TEXT_MAX];
	struct pair p = { NULL, 0, "-", 1 };
	int64_t ms;

	if (first)
		p = bare_of(line);
	else if (!pair_find(line, column->key, &p))
		p = (struct pair){ NULL, 0, "-", 1 };
	if (!first && p.value_len > 2 &&
	    memcmp(p.value + p.value_len - 2, "ms", 2) == 0 &&
	    parse_duration(p.value, p.value_len, &ms))
		snprintf(text, CELL_MAX, "%s", timespan_cell(ms, span));
	else
		snprintf(text, CELL_MAX, "%.*s", (int)p.value_len, p.value);
	return text;
}

/* Characters, not bytes. */
static size_t
text_width(const char *s)
{
	size_t n = 0;

	for (; *s != '\0'; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

static void
cell_print(const char *text, size_t width, bool last)
{
	size_t n;

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

void
table_print(const struct table *t, char *const *lines, size_t n, bool json)
{
	size_t width[COLUMNS_MAX], i, c, w;
	char text[CELL_MAX];

	assert(t->columns_n <= COLUMNS_MAX);
	if (json) {
		lines_json(t, lines, n);
		return;
	}
	if (n == 0)
		return;
	for (c = 0; c < t->columns_n; c++) {
		width[c] = strlen(t->columns[c].title);
		for (i = 0; i < n; i++) {
			w = text_width(
			    cell_text(lines[i], &t->columns[c], c == 0, text));
			width[c] = w > width[c] ? w : width[c];
		}
	}
	for (c = 0; c < t->columns_n; c++)
		cell_print(
		    t->columns[c].title, width[c], c + 1 == t->columns_n);
	for (i = 0; i < n; i++) {
		for (c = 0; c < t->columns_n; c++)
			cell_print(
			    cell_text(lines[i], &t->columns[c], c == 0, text),
			    width[c], c + 1 == t->columns_n);
	}
}
