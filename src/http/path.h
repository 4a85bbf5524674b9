/*
 * The parts of a request's target (RFC 3986).
 */
#ifndef LOCKBROKER_HTTP_PATH_H
#define LOCKBROKER_HTTP_PATH_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/*
 * Appends the text with each %XX replaced by its byte.  If a '%' has no two
 * hexadecimal digits after it, returns false and appends nothing.
 */
bool path_decode(struct buf *out, struct span text)
    __attribute__((warn_unused_result));

/*
 * Finds the value of a key in a query, "a=1&b", still encoded; the first if
 * there are several.  A key without '=' has the empty value.  Returns false if
 * the key is missing.
 */
bool query_find(const char *query, const char *key, struct span *value)
    __attribute__((warn_unused_result));

/* As path_decode(), but each '+' is a space, as in a form from a browser. */
bool query_decode(struct buf *out, struct span value)
    __attribute__((warn_unused_result));

/* Does an Accept header prefer OpenMetrics to the older format? */
bool accept_openmetrics(const char *accept);

#endif
