/*
 * Tokens of clients, as the values of keys have them: TOKEN or TOKEN|USER.
 *
 * A client's token has any bytes.  Those that could be mistaken in a key
 * (blanks, control characters, beyond ASCII, `|`, `%`) are written as %XX.  So
 * two tokens never have one text, and the scripts compare texts.
 *
 * The depth of a hold that is counted follows its token, as %xDEPTH: no byte of
 * a token is written so.  After that may come %yLATCH, of the last request that
 * has given back a level: if it comes again, the scripts recognize it.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/parts/token/state.h"

#define ESCAPED 3  /* %XX */
#define DEPTH "%x" /* and its number */
#define LATCH "%y"

static bool
is_plain(unsigned char c)
{
	return c > ' ' && c < 0x7f && c != '%' && c != '|';
}

/* Returns the end of the text that it has written, without a NUL. */
static char *
escape(char *to, const char *p, size_t n)
{
	static const char digits[] = "0123456789abcdef";
	size_t i;

	for (i = 0; i < n; i++) {
		if (is_plain((unsigned char)p[i])) {
			*to++ = p[i];
			continue;
		}
		*to++ = '%';
		*to++ = digits[(unsigned char)p[i] >> 4];
		*to++ = digits[(unsigned char)p[i] & 15];
	}
	return to;
}

static char *
text_of(
    const char *token, size_t token_len, const char *depth, const char *user)
{
	size_t user_len = user != NULL ? strlen(user) : 0;
	char *text =
	    xmalloc(ESCAPED * (token_len + user_len) + strlen(depth) + 2);
	char *end = stpcpy(escape(text, token, token_len), depth);

	if (user_len > 0) {
		*end++ = '|';
		end = escape(end, user, user_len);
	}
	*end = '\0';
	return text;
}

char *
holder_text(const char *token, size_t token_len, const char *user)
{
	return text_of(token, token_len, "", user);
}

char *
holder_counted(
    const char *token, size_t token_len, const char *user, const char *latch)
{
	char depth[sizeof(DEPTH "1" LATCH) + TOKEN_LATCH_BYTES] = DEPTH "1";

	if (latch[0] != '\0')
		snprintf(depth, sizeof(depth), "%s%.*s", DEPTH "1" LATCH,
		    TOKEN_LATCH_BYTES, latch);
	return text_of(token, token_len, depth, user);
}

/* The % of a token is followed by two digits, the % of a depth by an x. */
char *
holder_kept(const char *program, size_t program_len, const char *user)
{
	const char *prefix = program_len > 0 ? "%=" : "%";
	char *text = text_of(program, program_len, "", user);
	char *kept = xmalloc(strlen(prefix) + strlen(text) + 1);

	strcpy(stpcpy(kept, prefix), text);
	free(text);
	return kept;
}

bool
holder_is_kept(const char *text)
{
	return text[0] == '%' && strchr("=|", text[1]) != NULL &&
	       strcmp(text, "%|%") != 0;
}

static int
digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower(c) - 'a' + 10;
}

/* Returns where the depth begins after the token; NULL: it has none. */
static const char *
find_depth(const char *text)
{
	const char *p = strstr(text, DEPTH);

	return p != NULL && memchr(text, '|', (size_t)(p - text)) == NULL
		   ? p
		   : NULL;
}

uint64_t
holder_depth(const char *text)
{
	const char *p = find_depth(text);

	return p == NULL ? 0 : strtoull(p + strlen(DEPTH), NULL, 10);
}

/* Compares the parts before the depths, and then the users. */
bool
holder_same_counted(const char *a, const char *b)
{
	const char *x = find_depth(a), *y = find_depth(b);

	if (x == NULL || y == NULL || x - a != y - b ||
	    memcmp(a, b, (size_t)(x - a)) != 0)
		return false;
	return strcmp(strchrnul(x, '|'), strchrnul(y, '|')) == 0;
}

/* Also reads texts in a form that no broker writes, since keys may hold
 * anything. */
char *
holder_token(const char *text, size_t *len)
{
	char *token = xmalloc(strlen(text) + 1), *to = token;
	const char *depth = find_depth(text);

	for (; *text != '\0' && *text != '|' && text != depth; text++) {
		if (text[0] == '%' && isxdigit((unsigned char)text[1]) &&
		    isxdigit((unsigned char)text[2])) {
			*to++ = (char)(digit(text[1]) << 4 | digit(text[2]));
			text += 2;
		} else {
			*to++ = *text;
		}
	}
	*len = (size_t)(to - token);
	return token;
}
