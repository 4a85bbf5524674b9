/*
 * What a Lua script does with the key of a lock, found by an abstract run for
 * each state of the key: free, held by the token that the script compares it
 * with, or held by another token; held with an end or without.  Scripts that do
 * and answer the same in each state have the same meaning, whatever their
 * names, order of a comparison, parentheses, early returns, `SETEX` or `SET
 * EX`.
 *
 * A script has a meaning only if all of it is certain: it uses KEYS[1],
 * compares its value with one other key or argument, and has no loops,
 * functions or tables, and only the commands of lua_key.c.
 */
#ifndef LOCKBROKER_RESP_LUA_MEANING_H
#define LOCKBROKER_RESP_LUA_MEANING_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/* Adds the meaning, such as "held DEL = 1; held for ever DEL = 1; another's =
 * 0; another's for ever = 0; free = 0; ARGV[1]", which is the token.
 * *computes: Lua reads its number, not Redis.  Returns false, and may have
 * added a part, if the script has no meaning. */
bool lua_meaning(struct buf *out, struct span text, bool *computes)
    __attribute__((warn_unused_result));

#endif
