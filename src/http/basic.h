/*
 * Who asks, as HTTP Basic says it (RFC 7617).
 */
#ifndef LOCKBROKER_HTTP_BASIC_H
#define LOCKBROKER_HTTP_BASIC_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/*
 * Takes the value of an Authorization header apart.  The parts are in mem,
 * which the caller wipes: there is a password in it.  False: it is no such
 * value, or is malformed.
 */
bool basic_parse(const char *header, struct buf *mem, struct span *user,
    struct span *password) __attribute__((warn_unused_result));

#endif
