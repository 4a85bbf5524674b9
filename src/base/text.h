/*
 * Makes bytes from outside fit to be part of a line.
 */
#ifndef LOCKBROKER_BASE_TEXT_H
#define LOCKBROKER_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"

#define NAME_MAX_BYTES 255
#define LABEL_MAX_BYTES 64
#define VALUE_MAX_BYTES 512
#define TRACE_BYTES 55

/*
 * Replaces each byte of a control character (C0, DEL, C1) and of malformed
 * UTF-8 by '?', and each space by `space`, in place.
 */
void text_clean(char *p, size_t n, char space);

/*
 * Appends the text cleaned, and cut to about `max` bytes with "..." after it.
 */
void text_add(struct buf *b, struct span text, size_t max);

/*
 * Returns what is wrong with a name as the end of a sentence, such as "contains
 * a space"; NULL if the name is valid.  `max` is NAME_MAX_BYTES or
 * LABEL_MAX_BYTES.
 */
const char *text_name_why(struct span name, size_t max);

/* The same for value=, which may have any first character, and '='. */
const char *text_value_why(struct span value);

/* Is it a `traceparent` (W3C Trace Context)? */
bool text_is_trace(struct span text);

#endif
