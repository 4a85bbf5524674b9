/*
 * The normal form of a Lua script: scripts with the same form do the same.  It
 * ignores
 *
 * - layout, comments, semicolons and the kind of quotes;
 * - the case of the name of a command, and `unlink` for `del`;
 * - `local name = KEYS[n]` and `ARGV[n]` at the start, and one `local` whose
 *   only use is the first word of the condition that follows;
 * - `end return X` for `else return X end`, and `nil`, or nothing, for `false`.
 *
 * Names, numbers and other strings are compared as written.
 */
#ifndef LOCKBROKER_RESP_LUA_FORM_H
#define LOCKBROKER_RESP_LUA_FORM_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/* Adds the form of the script.  Returns false, and may have added a part, if
 * the script contains something of which the form is not certain: an escape, a
 * long string, text that is not Lua, or too many words. */
bool lua_form(struct buf *out, struct span text)
    __attribute__((warn_unused_result));

#endif
