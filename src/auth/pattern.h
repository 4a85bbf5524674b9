/*
 * Patterns of names, as in auth.users: a literal name, or a beginning with '*'
 * after it, which stands for every name that begins so.  "%u" anywhere in a
 * pattern is the name of the user who asks.
 */
#ifndef LOCKBROKER_AUTH_PATTERN_H
#define LOCKBROKER_AUTH_PATTERN_H

#include <stdbool.h>

#include "base/span.h"

/*
 * Returns what is wrong with a pattern, as the end of a sentence, or NULL if it
 * is a good one.
 */
const char *pattern_why(const char *pattern);

/* Does the pattern stand for this name if this user asks? */
bool pattern_matches(const char *pattern, struct span name, const char *user);

#endif
