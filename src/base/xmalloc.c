/*
 * Allocation that aborts where malloc would return NULL.  It owns nothing.
 *
 * It allocates one byte for a size of zero, so that NULL always means failure.
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

void *
xmalloc(size_t size)
{
	void *p = malloc(size > 0 ? size : 1);

	if (p == NULL)
		abort();
	return p;
}

void *
xcalloc(size_t n, size_t size)
{
	/* calloc itself checks the product for overflow. */
	void *p = n > 0 && size > 0 ? calloc(n, size) : calloc(1, 1);

	if (p == NULL)
		abort();
	return p;
}

void *
xrealloc(void *p, size_t size)
{
	void *q = realloc(p, size > 0 ? size : 1);

	if (q == NULL)
		abort();
	return q;
}

char *
xstrdup(const char *s)
{
	return xstrndup(s, strlen(s));
}

char *
xstrndup(const char *s, size_t n)
{
	size_t len = strnlen(s, n);
	char *copy = xmalloc(len + 1);

	memcpy(copy, s, len);
	copy[len] = '\0';
	return copy;
}

char *
xformat(const char *fmt, ...)
{
	va_list ap;
	char *s;
	int n;

	va_start(ap, fmt);
	n = vasprintf(&s, fmt, ap);
	va_end(ap);
	if (n < 0)
		abort();
	return s;
}
