/*
 * As much of Redis' protocol as the driver needs.
 */
#ifndef LOCKBROKER_BENCH_RESP_H
#define LOCKBROKER_BENCH_RESP_H

#include <stddef.h>

#include "base/buf.h"

/* The bytes of the first whole reply of n, with all its elements; 0: none. */
size_t resp_frame(const char *text, size_t n);

/* A command: resp_begin(), then so many words. */
void resp_begin(struct buf *out, unsigned words);
void resp_word(struct buf *out, const char *text, size_t n);
void resp_str(struct buf *out, const char *text);

/* A command of plain words, separated by spaces in the text. */
void resp_words(struct buf *out, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Sends a command over a socket that blocks and puts the whole reply, with a
 * NUL behind it, into `reply`, which is cleared first.  Exits on an error of
 * Redis.  Clears `command`.
 */
void resp_call(int fd, struct buf *command, struct buf *reply);

#endif
