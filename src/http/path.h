/*
 * The parts of a request's target (RFC 3986).
 */
#ifndef LOCKBROKER_HTTP_PATH_H
#define LOCKBROKER_HTTP_PATH_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/span.h"

/*
 * Appends the text with each %XX as the byte it stands for.  False: a '%' has
 * no two hexadecimal digits behind it, and nothing is appended.
 */
bool path_decode(struct buf *out, struct span text)
    __attribute__((warn_unused_result));

/* Appends a name as it stands in a path or a query: only what needs none of it
 * goes without %XX. */
void path_encode(struct buf *out, struct span text);

/*
 * The value of a key of a query, "a=1&b", still encoded.  False: it has none.
 * Of several, the first.  A key without '=' has the empty value.
 */
bool query_find(const char *query, const char *key, struct span *value)
    __attribute__((warn_unused_result));

/* As path_decode(), and each '+' is a space, as browsers send a form. */
bool query_decode(struct buf *out, struct span value)
    __attribute__((warn_unused_result));

/* Does an Accept ask for OpenMetrics rather than for the older text? */
bool accept_openmetrics(const char *accept);

#endif
