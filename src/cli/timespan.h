/*
 * Durations as people write and read them on a command line.
 */
#ifndef LOCKBROKER_CLI_TIMESPAN_H
#define LOCKBROKER_CLI_TIMESPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define TIMESPAN_TEXT_MAX 32

/*
 * Reads "500ms", "30s", "5m", and, as with flock(1), seconds without a unit,
 * with or without a fraction: "2", "1.5". Rounds up to a whole millisecond, so
 * that a wait that is not 0 stays one. At most 365d.
 */
bool timespan_parse(const char *s, int64_t *out_ms)
    __attribute__((warn_unused_result));

/* "0.4 s", "12.6 s", "3 min 12 s", "2 h 5 min"; returns `text`. */
const char *timespan_text(int64_t ms, char text[TIMESPAN_TEXT_MAX]);

/* The same as one word, for tables: "0.4s", "12.6s", "3m12s", "2h05m". */
const char *timespan_cell(int64_t ms, char text[TIMESPAN_TEXT_MAX]);

/* Copies a text of the broker, with its milliseconds in a readable form. */
void timespans_in_text(const char *from, char *to, size_t size);

#endif
