/*
 * Requests and replies of the broker, a line each.  Owns nothing.
 */
#include "config.h"

#include "line.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LINE_SIZE 256

size_t
line_frame(const char *text, size_t n)
{
	const char *end = memchr(text, '\n', n);

	return end == NULL ? 0 : (size_t)(end - text) + 1;
}

void
line_say(struct peer *p, const char *fmt, ...)
{
	char line[LINE_SIZE];
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(line, sizeof(line) - 2, fmt, ap);
	va_end(ap);
	if (n < 0 || (size_t)n >= sizeof(line) - 2)
		fail("client %u: too long a request", p->id);
	memcpy(line + n, "\r\n", 2);
	peer_send(p, line, (size_t)n + 2);
}

bool
line_is_leaving(const char *text, size_t n)
{
	static const char word[] = "!LEAVING ";

	return n >= sizeof(word) && memcmp(text, word, sizeof(word) - 1) == 0;
}

void
line_expect_ok(const struct peer *p, const char *text, size_t n)
{
	if (n < 3 || memcmp(text, "OK", 2) != 0)
		fail("client %u got: %.*s", p->id, (int)n, text);
}
