/* A Lua script as an array of words, which point into the script. */
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

/* Words that end a block, and words that end an expression. */
extern const char *const words_block_ends[];
extern const char *const words_after_an_end[];

/* Leaves out semicolons.  Returns false if the meaning of the text is not
 * certain: an escape, a long string, text that is not Lua, or too many
 * words. */
bool words_read(struct words *w, struct span text)
    __attribute__((warn_unused_result));

bool word_equals(const struct lua_word *word, const char *text); /* no string */
bool word_is_one_of(const struct lua_word *word, const char *const *texts);
bool word_has(struct span text, char c);

/* About the word with that index; false after the end. */
bool words_is(const struct words *w, unsigned i, const char *text);
bool words_is_name(const struct words *w, unsigned i);

/* Returns the index of the parenthesis that closes the one at `i`; or n. */
unsigned words_closing(const struct words *w, unsigned i);

#endif
