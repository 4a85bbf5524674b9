/*
 * Reads a script into an array of words, without the semicolons that mean
 * nothing.
 */
#include "config.h"

#include <string.h>

#include "resp/lua_words.h"

static const char *const operators[] = { "and", "or", "not", "then", "do", "in",
	"if", "elseif", "else", "while", "until", "repeat", "local", "function",
	"for", "return", NULL };
const char *const words_after_an_end[] = { "and", "or", "not", "then", "do",
	"in", "nil", "true", "false", NULL };
const char *const words_block_ends[] = { "end", "else", "elseif", NULL };

bool
word_equals(const struct lua_word *word, const char *text)
{
	return word->kind != LUA_STRING && word->text.n == strlen(text) &&
	       memcmp(word->text.p, text, word->text.n) == 0;
}

bool
word_is_one_of(const struct lua_word *word, const char *const *texts)
{
	for (; *texts != NULL; texts++)
		if (word_equals(word, *texts))
			return true;
	return false;
}

bool
words_is(const struct words *w, unsigned i, const char *text)
{
	return i < w->n && word_equals(&w->v[i], text);
}

bool
words_is_name(const struct words *w, unsigned i)
{
	return i < w->n && w->v[i].kind == LUA_NAME;
}

/* Can an expression, and so a statement, end with this word? */
static bool
may_end(const struct lua_word *word)
{
	if (word->kind == LUA_SIGN)
		return word_equals(word, ")") || word_equals(word, "]") ||
		       word_equals(word, "}");
	return !word_is_one_of(word, operators);
}

bool
word_has(struct span text, char c)
{
	return text.n > 0 && memchr(text.p, c, text.n) != NULL;
}

/* A string that contains exactly the bytes written, in quotes of any kind. */
static bool
is_plain(struct span text)
{
	return !word_has(text, '\\') &&
	       !(word_has(text, '"') && word_has(text, '\''));
}

/* Lua 5.1 refuses a call whose arguments begin on another line. */
static bool
begins_a_line(const struct lua_word *last, const struct lua_word *word)
{
	const char *p;

	for (p = last->text.p + last->text.n; p < word->text.p; p++)
		if (*p == '\n' || *p == '\r')
			return true;
	return false;
}

/* Can the semicolon between these be left out?  `next` is NULL at the end. */
static bool
semicolon_is_nothing(const struct lua_word *last, const struct lua_word *next)
{
	bool ends = next == NULL || word_is_one_of(next, words_block_ends);

	if (last == NULL ||
	    (word_equals(last, "return") ? !ends : !may_end(last)))
		return false;
	return ends || (next->kind == LUA_NAME &&
			   !word_is_one_of(next, words_after_an_end));
}

static bool
add(struct words *w, const struct lua_word *word, bool semicolon)
{
	const struct lua_word *last = w->n > 0 ? &w->v[w->n - 1] : NULL;

	if (word->kind == LUA_WRONG || word->kind == LUA_LONG ||
	    (word->kind == LUA_STRING && !is_plain(word->text)) ||
	    w->n == WORDS_MAX)
		return false;
	if (semicolon && !semicolon_is_nothing(last, word))
		return false;
	if (last != NULL && word_equals(word, "(") && may_end(last) &&
	    begins_a_line(last, word))
		return false;
	w->v[w->n++] = *word;
	return true;
}

bool
words_read(struct words *w, struct span text)
{
	struct lua_reader r = { text.p, text.p + text.n };
	bool semicolon = false, braces = false;
	struct lua_word word;

	w->n = 0;
	for (lua_next(&r, &word); word.kind != LUA_END; lua_next(&r, &word)) {
		braces |= word_equals(&word, "{");
		if (word_equals(&word, ";")) {
			if (semicolon || braces)
				return false;
			semicolon = true;
		} else {
			if (!add(w, &word, semicolon))
				return false;
			semicolon = false;
		}
	}
	return !semicolon ||
	       semicolon_is_nothing(w->n > 0 ? &w->v[w->n - 1] : NULL, NULL);
}

/* Returns the index of the parenthesis that closes the one at `i`; or n. */
unsigned
words_closing(const struct words *w, unsigned i)
{
	unsigned depth = 0;

	for (; i < w->n; i++) {
		if (words_is(w, i, "("))
			depth++;
		else if (words_is(w, i, ")") && --depth == 0)
			return i;
	}
	return w->n;
}
