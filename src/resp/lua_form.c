/*
 * The normal form consists of words: a script is read (lua_words.h), rewritten
 * by steps that each keep its meaning, and written with a space after each
 * word.
 *
 * A step may look at only a few words, because a form matters only if it equals
 * one in the table of scripts: if a step would change the meaning of an odd
 * script (a name that is declared again, a field of that name), the result is
 * not Lua, and so equals none of them.
 */
#include "config.h"

#include <string.h>

#include "base/parse.h"
#include "resp/lua_form.h"
#include "resp/lua_words.h"

static const char *const nested[] = { "elseif", "for", "while", "repeat",
	"until", "do", "function", NULL };

static bool
same(const struct lua_word *a, const struct lua_word *b)
{
	return a->kind == b->kind && a->text.n == b->text.n &&
	       memcmp(a->text.p, b->text.p, a->text.n) == 0;
}

/* Rewriting. */

/* Replaces `old` words by `n` words, which are not in the array. */
static bool
replace(struct words *w, unsigned at, unsigned old, const struct lua_word *with,
    unsigned n)
{
	if (w->n - old + n > WORDS_MAX)
		return false;
	memmove(&w->v[at + n], &w->v[at + old],
	    (w->n - at - old) * sizeof(w->v[0]));
	if (n > 0)
		memcpy(&w->v[at], with, n * sizeof(w->v[0]));
	w->n = w->n - old + n;
	return true;
}

static bool
begins_with_alias(const struct words *w)
{
	return words_is(w, 0, "local") && words_is_name(w, 1) &&
	       words_is(w, 2, "=") &&
	       (words_is(w, 3, "KEYS") || words_is(w, 3, "ARGV")) &&
	       words_is(w, 4, "[") && w->n > 5 && w->v[5].kind == LUA_NUMBER &&
	       words_is(w, 6, "]") && words_is_name(w, 7) &&
	       !word_is_one_of(&w->v[7], words_after_an_end);
}

/* `local key = KEYS[1]`. */
static bool
put_in_aliases(struct words *w)
{
	struct lua_word name, value[4];
	unsigned i;

	while (begins_with_alias(w)) {
		name = w->v[1];
		memcpy(value, &w->v[3], sizeof(value));
		(void)replace(w, 0, 7, NULL, 0);
		for (i = 0; i < w->n; i++) {
			if (!same(&w->v[i], &name))
				continue;
			if (!replace(w, i, 1, value, 4))
				return false;
			i += 3;
		}
	}
	return true;
}

static unsigned
count(const struct words *w, const struct lua_word *word)
{
	unsigned i, n = 0;

	for (i = 0; i < w->n; i++)
		n += same(&w->v[i], word);
	return n;
}

/* `local value = redis.call(...) if value == ...`. */
static void
put_in_local(struct words *w)
{
	unsigned close;

	if (!words_is(w, 0, "local") || !words_is_name(w, 1) ||
	    !words_is(w, 2, "=") || !words_is(w, 3, "redis") ||
	    !words_is(w, 4, ".") || !words_is(w, 5, "call") ||
	    !words_is(w, 6, "("))
		return;
	close = words_closing(w, 6);
	if (!words_is(w, close + 1, "if") || close + 2 >= w->n ||
	    !same(&w->v[close + 2], &w->v[1]) ||
	    !words_is(w, close + 3, "==") || count(w, &w->v[1]) != 2)
		return;
	/* `local value =` becomes `if`; `if value` is removed. */
	(void)replace(w, close + 1, 2, NULL, 0);
	w->v[2] = (struct lua_word){ LUA_NAME, { "if", 2 }, false };
	(void)replace(w, 0, 2, NULL, 0);
}

/* Returns the index of the word, from `i` on; n if it is missing. */
static unsigned
find(const struct words *w, unsigned i, const char *text)
{
	while (i < w->n && !words_is(w, i, text))
		i++;
	return i;
}

/* Is there exactly one `if`, without blocks in its branches? */
static bool
is_flat(const struct words *w)
{
	static const char *const once[] = { "if", "then", "end", NULL };
	unsigned i;

	for (i = 0; once[i] != NULL; i++) {
		unsigned at = find(w, 0, once[i]);

		if (at == w->n || find(w, at + 1, once[i]) != w->n)
			return false;
	}
	for (i = 0; i < w->n; i++)
		if (word_is_one_of(&w->v[i], nested))
			return false;
	return true;
}

/* `if ... then ... return X end return Y`: a branch without blocks that returns
 * must end with the return. */
static bool
put_in_else(struct words *w)
{
	static const struct lua_word words[] = {
		{ LUA_NAME, { "else", 4 }, false },
		{ LUA_NAME, { "return", 6 }, false },
		{ LUA_NAME, { "false", 5 }, false },
		{ LUA_NAME, { "end", 3 }, false },
	};
	unsigned end = find(w, 0, "end");

	if (find(w, 0, "else") != w->n ||
	    find(w, find(w, 0, "then"), "return") > end)
		return true;
	if (end + 1 == w->n)
		return replace(w, end, 1, words, 4);
	if (!words_is(w, end + 1, "return"))
		return true;
	return replace(w, end, 1, words, 1) &&
	       replace(w, w->n, 0, &words[3], 1);
}

/* `return` and `return nil` answer as `return false` does. */
static bool
put_in_false(struct words *w)
{
	static const struct lua_word no = { LUA_NAME, { "false", 5 }, false };
	unsigned i;

	for (i = find(w, 0, "return"); i < w->n; i = find(w, i + 1, "return")) {
		unsigned nil = words_is(w, i + 1, "nil");

		if (i + 1 + nil < w->n &&
		    !word_is_one_of(&w->v[i + 1 + nil], words_block_ends))
			continue;
		if (!replace(w, i + 1, nil, &no, 1))
			return false;
	}
	return true;
}

/* Writing. */

static bool
is_command(const struct words *w, unsigned i)
{
	return i >= 4 && w->v[i].kind == LUA_STRING &&
	       words_is(w, i - 1, "(") &&
	       (words_is(w, i - 2, "call") || words_is(w, i - 2, "pcall")) &&
	       words_is(w, i - 3, ".") && words_is(w, i - 4, "redis");
}

static void
write_command(struct buf *out, struct span name)
{
	static const char unlink[] = "UNLINK";
	size_t i;

	for (i = 0; i < name.n && i < sizeof(unlink); i++)
		if (parse_upper(name.p[i]) != unlink[i])
			break;
	if (i == name.n && i == sizeof(unlink) - 1)
		name = (struct span){ "DEL", 3 };
	for (i = 0; i < name.n; i++)
		buf_addc(out, parse_upper(name.p[i]));
}

static void
write_words(struct buf *out, const struct words *w)
{
	const char *quote;
	unsigned i;

	for (i = 0; i < w->n; i++) {
		quote = w->v[i].kind != LUA_STRING    ? ""
			: word_has(w->v[i].text, '"') ? "'"
						      : "\"";
		buf_adds(out, quote);
		if (is_command(w, i))
			write_command(out, w->v[i].text);
		else
			buf_add(out, w->v[i].text.p, w->v[i].text.n);
		buf_adds(out, quote);
		buf_addc(out, ' ');
	}
}

bool
lua_form(struct buf *out, struct span text)
{
	struct words w;

	if (!words_read(&w, text) || !put_in_aliases(&w))
		return false;
	put_in_local(&w);
	if (is_flat(&w) && (!put_in_else(&w) || !put_in_false(&w)))
		return false;
	write_words(out, &w);
	return true;
}
