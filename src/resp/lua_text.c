/*
 * The words of a script in Lua 5.1 (its manual, 2.1), read as Lua reads them: a
 * comment sign in a string begins no comment, and a block comment ends where
 * its brackets close.
 */
#include "config.h"

#include <string.h>

#include "resp/lua_text.h"

#define NUMBER_SHOWN_MAX 3 /* digits */

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool
is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool
is_line_end(char c)
{
	return c == '\n' || c == '\r';
}

static bool
is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r');
}

static size_t
left(const struct lua_reader *r)
{
	return (size_t)(r->end - r->p);
}

/* Skips `[[...]]`, `[=[...]=]`.  Returns false and moves nothing if none begins
 * here; one without an end takes the whole rest, and sets *open. */
static bool
skip_long(struct lua_reader *r, bool *open)
{
	const char *p = r->p, *q;
	size_t level;

	*open = false;
	if (left(r) < 2 || *p != '[')
		return false;
	for (p++; p < r->end && *p == '='; p++)
		continue;
	level = (size_t)(p - r->p) - 1;
	if (p == r->end || *p != '[')
		return false;
	for (p++; p < r->end; p++) {
		if (*p != ']')
			continue;
		for (q = p + 1; q < r->end && *q == '='; q++)
			continue;
		if ((size_t)(q - p) - 1 == level && q < r->end && *q == ']') {
			r->p = q + 1;
			return true;
		}
	}
	r->p = r->end;
	*open = true;
	return true;
}

/* Skips the text between words.  Returns false if a comment has no end. */
static bool
skip_space(struct lua_reader *r, bool *on_new_line)
{
	bool open;

	*on_new_line = false;
	for (;;) {
		if (left(r) > 0 && is_space(*r->p)) {
			*on_new_line |= is_line_end(*r->p);
			r->p++;
		} else if (left(r) >= 2 && r->p[0] == '-' && r->p[1] == '-') {
			r->p += 2;
			if (skip_long(r, &open)) {
				if (open)
					return false;
				continue;
			}
			while (left(r) > 0 && !is_line_end(*r->p))
				r->p++;
		} else {
			return true;
		}
	}
}

/* The byte after a backslash is skipped, so that it cannot end a string. */
static void
take_string(struct lua_reader *r, struct lua_word *word)
{
	char quote = *r->p++;
	const char *begin = r->p;

	for (; left(r) > 0 && *r->p != quote; r->p++) {
		if (is_line_end(*r->p))
			break;
		if (*r->p == '\\' && left(r) > 1)
			r->p++;
	}
	if (left(r) == 0 || *r->p != quote) {
		word->kind = LUA_WRONG;
		return;
	}
	word->kind = LUA_STRING;
	word->text = (struct span){ begin, (size_t)(r->p - begin) };
	r->p++;
}

static void
take_number(struct lua_reader *r, struct lua_word *word)
{
	char last = '0';

	word->kind = LUA_NUMBER;
	while (left(r) > 0 &&
	       (is_digit(*r->p) || is_letter(*r->p) || *r->p == '.' ||
		   ((*r->p == '-' || *r->p == '+') &&
		       (last == 'e' || last == 'E'))))
		last = *r->p++;
}

static void
take_sign(struct lua_reader *r, struct lua_word *word)
{
	static const char *const signs[] = { "...", "..",
		"==", "~=", "<=", ">=" };
	static const char single[] = "+-*/%^#<>=(){}[];:,.";
	unsigned i;

	word->kind = LUA_SIGN;
	for (i = 0; i < sizeof(signs) / sizeof(signs[0]); i++) {
		if (left(r) < strlen(signs[i]) ||
		    memcmp(r->p, signs[i], strlen(signs[i])) != 0)
			continue;
		r->p += strlen(signs[i]);
		return;
	}
	if (*r->p == '\0' || strchr(single, *r->p) == NULL)
		word->kind = LUA_WRONG;
	else
		r->p++;
}

static void
take(struct lua_reader *r, struct lua_word *word)
{
	const char *begin = r->p;
	bool open;

	if (is_letter(*r->p)) {
		word->kind = LUA_NAME;
		while (left(r) > 0 && (is_letter(*r->p) || is_digit(*r->p)))
			r->p++;
	} else if (is_digit(*r->p) ||
		   (*r->p == '.' && left(r) > 1 && is_digit(r->p[1]))) {
		take_number(r, word);
	} else if (*r->p == '"' || *r->p == '\'') {
		take_string(r, word);
		return;
	} else if (skip_long(r, &open)) {
		word->kind = open ? LUA_WRONG : LUA_LONG;
	} else {
		take_sign(r, word);
	}
	word->text = (struct span){ begin, (size_t)(r->p - begin) };
}

void
lua_next(struct lua_reader *r, struct lua_word *word)
{
	const char *begin = r->p;

	word->kind = LUA_END;
	word->text = (struct span){ r->end, 0 };
	if (!skip_space(r, &word->on_new_line))
		word->kind = LUA_WRONG;
	else if (left(r) > 0)
		take(r, word);
	if (word->kind != LUA_WRONG)
		return;
	word->text = (struct span){ begin, (size_t)(r->end - begin) };
	r->p = r->end;
}

static bool
is_word(enum lua_kind kind)
{
	return kind == LUA_NAME || kind == LUA_NUMBER;
}

void
lua_outline(struct buf *out, struct span text)
{
	struct lua_reader r = { text.p, text.p + text.n };
	enum lua_kind last = LUA_END;
	struct lua_word word;

	for (lua_next(&r, &word); word.kind != LUA_END; lua_next(&r, &word)) {
		if (is_word(last) && is_word(word.kind))
			buf_addc(out, ' ');
		last = word.kind;
		if (word.kind == LUA_NAME || word.kind == LUA_SIGN ||
		    (word.kind == LUA_NUMBER &&
			word.text.n <= NUMBER_SHOWN_MAX))
			buf_add(out, word.text.p, word.text.n);
		else
			buf_adds(
			    out, word.kind == LUA_NUMBER ? "..." : "\"...\"");
	}
}
