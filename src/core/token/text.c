/*
 * Tokens of clients, as the values of keys have them: TOKEN or TOKEN|USER.
 *
 * A client's token has any bytes.  Those that could be mistaken in a key
 * (blanks, control characters, beyond ASCII, `|`, `%`) are written as %XX.  So
 * two tokens never have one text, and the scripts compare texts.
 */
#include "config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "core/token/state.h"

#define ESCAPED 3 /* %XX */

static bool
is_plain(unsigned char c)
{
	return c > ' ' && c < 0x7f && c != '%' && c != '|';
}

/* Returns the end of what it has written, without a NUL. */
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

char *
client_text(const char *token, size_t token_len, const char *user)
{
	size_t user_len = user != NULL ? strlen(user) : 0;
	char *text = xmalloc(ESCAPED * (token_len + user_len) + 2);
	char *end = escape(text, token, token_len);

	if (user_len > 0) {
		*end++ = '|';
		end = escape(end, user, user_len);
	}
	*end = '\0';
	return text;
}

char *
client_kept(const char *user)
{
	char *text = client_text("x", 1, user);

	text[0] = '%'; /* a token has two digits behind it */
	return text;
}

static int
digit(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : tolower(c) - 'a' + 10;
}

/* Also reads texts that no broker has written so, since keys may hold
 * anything. */
char *
client_token(const char *text, size_t *len)
{
	char *token = xmalloc(strlen(text) + 1), *to = token;

	for (; *text != '\0' && *text != '|'; text++) {
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
