/*
 * Makes text safe and readable in HTML: whatever names clients choose, they
 * stay text and show what they are.
 */
#ifndef LOCKBROKER_HTTP_HTML_H
#define LOCKBROKER_HTTP_HTML_H

#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/span.h"

/*
 * Appends the text escaped, fit for between tags and for quoted attributes.  A
 * character that can't be seen, or changes the direction of those around it, is
 * written as \u202e, and a byte outside UTF-8 as \xff.
 */
void html_text(struct buf *out, struct span text);
void html_string(struct buf *out, const char *text);

/*
 * Writes a duration for people: 840 ms, 2.6 s, 1 min 5 s, 15 min, 5 h 12 min, 3
 * d 4 h.
 */
void html_duration(struct buf *out, int64_t ms);

/* Writes 1234567 as 1 234 567, with narrow spaces. */
void html_number(struct buf *out, uint64_t n);

#endif
