/*
 * A text in Lua as an array of words, which point into the text.
 */
#ifndef LOCKBROKER_RESP_LUA_WORDS_H
#define LOCKBROKER_RESP_LUA_WORDS_H

#include <stdbool.h>

#include "base/span.h"
#include "resp/lua_text.h"

#define WORDS_MAX 640

struct words {
	struct lua_word v[WORDS_MAX];
	unsigned n;
};

/* Words that end a block, and those before which an expression is over. */
extern const char *const words_block_ends[];
extern const char *const words_after_an_end[];

/* Leaves out semicolons.  Returns false if what the text says is not sure: an
 * escape, a long string, what is no Lua, or too many words. */
bool words_read(struct words *w, struct span text)
    __attribute__((warn_unused_result));

bool word_equals(const struct lua_word *word, const char *text); /* no string */
bool word_is_one_of(const struct lua_word *word, const char *const *texts);
bool word_has(struct span text, char c);

/* Of the word with that number; false behind the end. */
bool words_is(const struct words *w, unsigned i, const char *text);
bool words_is_name(const struct words *w, unsigned i);

/* Returns where the parenthesis that opens at `i` closes; n if nowhere. */
unsigned words_closing(const struct words *w, unsigned i);

#endif
