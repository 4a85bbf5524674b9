/*
 * The name and password of HTTP Basic (RFC 7617).
 */
#ifndef LOCKBROKER_HTTP_BASIC_H
#define LOCKBROKER_HTTP_BASIC_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/*
 * Parses the value of an Authorization header.  The parts are in mem, which the
 * caller must wipe, because it holds a password.  Returns false if the value is
 * malformed or of another scheme.
 */
bool basic_parse(const char *header, struct buf *mem, struct span *user,
    struct span *password) __attribute__((warn_unused_result));

#endif
