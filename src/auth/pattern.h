/*
 * Patterns of names, as in auth.users: a literal name, or a prefix followed by
 * '*', which matches every name with this prefix.  "%u" anywhere in a pattern
 * is the name of the client's user.
 */
#ifndef LOCKBROKER_AUTH_PATTERN_H
#define LOCKBROKER_AUTH_PATTERN_H

#include <stdbool.h>

#include "base/span.h"

/*
 * Returns what is wrong with a pattern, as the end of a sentence; NULL if it is
 * valid.
 */
const char *pattern_why(const char *pattern);

/* Does the pattern match this name for this user? */
bool pattern_matches(const char *pattern, struct span name, const char *user);

#endif
