/*
 * As much of the broker's protocol as the driver needs.
 */
#ifndef LOCKBROKER_BENCH_LINE_H
#define LOCKBROKER_BENCH_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "peer.h"

/* The bytes of the first whole line of n; 0: there is none. */
size_t line_frame(const char *text, size_t n);

/* Sends a request; the end of its line is added. */
void line_say(struct peer *p, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Is it the event that the broker's process is replaced? */
bool line_is_leaving(const char *text, size_t n);

/* Exits where this is anything but OK: an event, too. */
void line_expect_ok(const struct peer *p, const char *text, size_t n);

#endif
