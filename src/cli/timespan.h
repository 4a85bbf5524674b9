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
 * "500ms", "30s", "5m", and, as flock(1) takes them, seconds without a unit,
 * with or without a fraction: "2", "1.5". A part of a millisecond counts as a
 * whole one, so that a wait that is not 0 stays one. At most 365d.
 */
bool timespan_parse(const char *s, int64_t *out_ms)
    __attribute__((warn_unused_result));

/* "350ms", "12s", "3m12s", "2h05m", "3d04h"; returns `text`. */
const char *timespan_text(int64_t ms, char text[TIMESPAN_TEXT_MAX]);

#endif
