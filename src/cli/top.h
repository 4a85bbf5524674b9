/*
 * `lockbroker top`: the busiest names of a broker, once a second.
 */
#ifndef LOCKBROKER_CLI_TOP_H
#define LOCKBROKER_CLI_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A name in an answer: what to show, and its sort key. */
struct top_line {
	char *name;
	char *text;
	uint64_t handovers;
	uint64_t rate_tenths; /* handoffs in ten seconds */
	uint64_t waiters;
	size_t place; /* position in the broker's own order */
};

/*
 * The last answer to NAMES, and the lines to show. The owner begins with zeros
 * and calls top_lines_fini().
 */
struct top_lines {
	bool all; /* the broker has listed all of its names */
	struct top_line *v;
	size_t n;
	uint64_t held;
	uint64_t waiters;
};

/*
 * Takes the next answer: `n` lines of a NAMES request with this `limit`,
 * `elapsed_ms` after the one before; 0: it is the first.
 */
void top_lines_take(struct top_lines *t, char *const *lines, size_t n,
    size_t limit, int64_t elapsed_ms);
void top_lines_fini(struct top_lines *t);

/* Returns a value from the lines of STATS; 0 if it is missing. */
uint64_t top_stat(char *const *lines, size_t n, const char *name);

#endif
