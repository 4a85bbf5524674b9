/*
 * Lines of the broker as a table for people, or one JSON object each.
 */
#ifndef LOCKBROKER_CLI_TABLE_H
#define LOCKBROKER_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

/* Which field goes into a column; the first column is the line's bare word. */
struct table_column {
	const char *key;
	const char *title;
};

/* `bare` is the key of the bare word in JSON. */
struct table {
	const char *bare;
	const struct table_column *columns;
	size_t columns_n;
};

void table_print(
    const struct table *t, char *const *lines, size_t n, bool json);

#endif
