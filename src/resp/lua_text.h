/*
 * The words of a script in Lua 5.1.  The broker runs no script: it compares
 * them (resp/scripts.h).
 */
#ifndef LOCKBROKER_RESP_LUA_TEXT_H
#define LOCKBROKER_RESP_LUA_TEXT_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/span.h"

enum lua_kind {
	LUA_END,
	LUA_NAME, /* and keywords */
	LUA_NUMBER,
	LUA_STRING, /* in quotes; the text is without them */
	LUA_LONG,   /* a string in long brackets, with them */
	LUA_SIGN,
	LUA_WRONG /* not Lua; the rest of the text */
};

struct lua_word {
	enum lua_kind kind;
	struct span text; /* in the text that is read */
	bool on_new_line;
};

struct lua_reader {
	const char *p, *end;
};

/* Reads the next word, and skips comments before it. */
void lua_next(struct lua_reader *r, struct lua_word *word);

/* Adds the script in a form for people: on one line, without comments, strings
 * and long numbers, which may be secrets. */
void lua_outline(struct buf *out, struct span text);

#endif
