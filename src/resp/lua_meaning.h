/*
 * What a text in Lua does with the key of a lock, found out by going through it
 * once for each thing that the key may be: free, or held by the token that the
 * text compares it with, or by another one, each with an end or without.  Texts
 * that do and answer the same in each case have one meaning, however they are
 * written: names, order of a comparison, parentheses, early returns, `SETEX` or
 * `SET EX`.
 *
 * A text has a meaning only if all of it is sure: it uses KEYS[1], compares its
 * value with one other key or argument, and has no loops, functions, tables, and
 * no commands but those of lua_key.c.
 */
#ifndef LOCKBROKER_RESP_LUA_MEANING_H
#define LOCKBROKER_RESP_LUA_MEANING_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

/* Adds the meaning, such as "held DEL = 1; held for ever DEL = 1; another's = 0;
 * another's for ever = 0; free = 0; ARGV[1]", which is the token.  *computes: Lua
 * reads its number, and not Redis.  Returns false, and may have added a part, if the text
 * has none. */
bool lua_meaning(struct buf *out, struct span text, bool *computes)
    __attribute__((warn_unused_result));

#endif
