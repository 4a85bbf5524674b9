/*
 * The normal form is made of words: a text is read into an array, rewritten by
 * steps that each keep its meaning, and written with a space behind each word.
 *
 * A step may look at few words only, because a form counts where it equals one
 * of the table of scripts: where a step would change the meaning of an odd text
 * (a name that is declared again, a field of that name), it makes a text that
 * is no Lua, and so is none of these.
 */
#include "config.h"

#include <string.h>

#include "base/parse.h"
#include "resp/lua_form.h"
#include "resp/lua_text.h"

#define WORDS_MAX 640

struct words {
	struct lua_word v[WORDS_MAX];
	unsigned n;
};

static const char *const operators[] = { "and", "or", "not", "then", "do", "in",
	"if", "elseif", "else", "while", "until", "repeat", "local", "function",
	"for", "return", NULL };
static const char *const after_an_end[] = { "and", "or", "not", "then", "do",
	"in", "nil", "true", "false", NULL };
static const char *const block_ends[] = { "end", "else", "elseif", NULL };
static const char *const nested[] = { "elseif", "for", "while", "repeat",
	"until", "do", "function", NULL };

static bool
equals(const struct lua_word *word, const char *text)
{
	return word->kind != LUA_STRING && word->text.n == strlen(text) &&
	       memcmp(word->text.p, text, word->text.n) == 0;
}

static bool
is_one_of(const struct lua_word *word, const char *const *texts)
{
	for (; *texts != NULL; texts++)
		if (equals(word, *texts))
			return true;
	return false;
}

static bool
is(const struct words *w, unsigned i, const char *text)
{
	return i < w->n && equals(&w->v[i], text);
}

static bool
is_name(const struct words *w, unsigned i)
{
	return i < w->n && w->v[i].kind == LUA_NAME;
}

static bool
same(const struct lua_word *a, const struct lua_word *b)
{
	return a->kind == b->kind && a->text.n == b->text.n &&
	       memcmp(a->text.p, b->text.p, a->text.n) == 0;
}

/* Reading. */

/* May an expression, and so a statement, end with this word? */
static bool
may_end(const struct lua_word *word)
{
	if (word->kind == LUA_SIGN)
		return equals(word, ")") || equals(word, "]") ||
		       equals(word, "}");
	return !is_one_of(word, operators);
}

static bool
has(struct span text, char c)
{
	return text.n > 0 && memchr(text.p, c, text.n) != NULL;
}

/* A string whose bytes are what is written, in quotes of either kind. */
static bool
is_plain(struct span text)
{
	return !has(text, '\\') && !(has(text, '"') && has(text, '\''));
}

/* Lua 5.1 refuses the arguments of a call that begin on another line. */
static bool
begins_a_line(const struct lua_word *last, const struct lua_word *word)
{
	const char *p;

	for (p = last->text.p + last->text.n; p < word->text.p; p++)
		if (*p == '\n' || *p == '\r')
			return true;
	return false;
}

/* May the semicolon between these be left out?  `next` is NULL at the end. */
static bool
semicolon_is_nothing(const struct lua_word *last, const struct lua_word *next)
{
	bool ends = next == NULL || is_one_of(next, block_ends);

	if (last == NULL || (equals(last, "return") ? !ends : !may_end(last)))
		return false;
	return ends ||
	       (next->kind == LUA_NAME && !is_one_of(next, after_an_end));
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
	if (last != NULL && equals(word, "(") && may_end(last) &&
	    begins_a_line(last, word))
		return false;
	w->v[w->n++] = *word;
	return true;
}

static bool
read_words(struct words *w, struct span text)
{
	struct lua_reader r = { text.p, text.p + text.n };
	bool semicolon = false, braces = false;
	struct lua_word word;

	w->n = 0;
	for (lua_next(&r, &word); word.kind != LUA_END; lua_next(&r, &word)) {
		braces |= equals(&word, "{");
		if (equals(&word, ";")) {
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

/* Rewriting. */

/* Puts `n` words in the place of `old` words.  They are not in the array. */
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
	return is(w, 0, "local") && is_name(w, 1) && is(w, 2, "=") &&
	       (is(w, 3, "KEYS") || is(w, 3, "ARGV")) && is(w, 4, "[") &&
	       w->n > 5 && w->v[5].kind == LUA_NUMBER && is(w, 6, "]") &&
	       is_name(w, 7) && !is_one_of(&w->v[7], after_an_end);
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

/* Returns where the parenthesis that opens at `i` closes; n if nowhere. */
static unsigned
closing(const struct words *w, unsigned i)
{
	unsigned depth = 0;

	for (; i < w->n; i++) {
		if (is(w, i, "("))
			depth++;
		else if (is(w, i, ")") && --depth == 0)
			return i;
	}
	return w->n;
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

	if (!is(w, 0, "local") || !is_name(w, 1) || !is(w, 2, "=") ||
	    !is(w, 3, "redis") || !is(w, 4, ".") || !is(w, 5, "call") ||
	    !is(w, 6, "("))
		return;
	close = closing(w, 6);
	if (!is(w, close + 1, "if") || close + 2 >= w->n ||
	    !same(&w->v[close + 2], &w->v[1]) || !is(w, close + 3, "==") ||
	    count(w, &w->v[1]) != 2)
		return;
	/* `local value =` becomes `if`; `if value` goes. */
	(void)replace(w, close + 1, 2, NULL, 0);
	w->v[2] = (struct lua_word){ LUA_NAME, { "if", 2 }, false };
	(void)replace(w, 0, 2, NULL, 0);
}

/* Returns where the word is, from `i` on; n if nowhere. */
static unsigned
find(const struct words *w, unsigned i, const char *text)
{
	while (i < w->n && !is(w, i, text))
		i++;
	return i;
}

/* Is there one `if`, of which no branch has blocks in it? */
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
		if (is_one_of(&w->v[i], nested))
			return false;
	return true;
}

/* `if ... then ... return X end return Y`: a branch without blocks that returns
 * ends with that. */
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
	if (!is(w, end + 1, "return"))
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
		unsigned nil = is(w, i + 1, "nil");

		if (i + 1 + nil < w->n &&
		    !is_one_of(&w->v[i + 1 + nil], block_ends))
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
	return i >= 4 && w->v[i].kind == LUA_STRING && is(w, i - 1, "(") &&
	       (is(w, i - 2, "call") || is(w, i - 2, "pcall")) &&
	       is(w, i - 3, ".") && is(w, i - 4, "redis");
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
		quote = w->v[i].kind != LUA_STRING ? ""
			: has(w->v[i].text, '"')   ? "'"
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

	if (!read_words(&w, text) || !put_in_aliases(&w))
		return false;
	put_in_local(&w);
	if (is_flat(&w) && (!put_in_else(&w) || !put_in_false(&w)))
		return false;
	write_words(out, &w);
	return true;
}
