/*
 * Lines of the broker as a table for people, or one JSON object each.
 */
#ifndef LOCKBROKER_CLI_COLUMNS_H
#define LOCKBROKER_CLI_COLUMNS_H

#include <stdbool.h>
#include <stddef.h>

/* In a value made for people: printed as a space. */
#define COLUMNS_SPACE "\x1f"

/* How a column differs from an ordinary one. */
enum table_how {
	TABLE_ALWAYS,
	TABLE_IF_ANY, /* left out if no line has the field */
	TABLE_MARK,   /* the same; shows only whether a line has it */
	TABLE_NOT_0,  /* a time of 0 means none */
};

/* The field of a column. The bare word has its key from the table. */
struct table_column {
	const char *key;
	const char *title;
	enum table_how how;
};

#define TABLE_COLUMNS(columns) (columns), sizeof(columns) / sizeof((columns)[0])

/* `bare` is the key of the bare word, also in JSON. */
struct table {
	const char *bare;
	const struct table_column *columns;
	size_t columns_n;
	size_t width; /* width for shortened bare words; 0: no limit */
	char *(*row)(const char *line); /* makes one for people; or NULL */
};

void columns_print(
    const struct table *t, char *const *lines, size_t n, bool json);

/*
 * Returns a line of NAMES for people: it marks reserved names, says how many
 * permits are out, and where to find a holder, in fields before its other
 * fields: if a key occurs twice, the first counts. The caller frees it.
 */
char *name_line(const char *line);

#endif
