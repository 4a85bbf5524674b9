/* Bytes owned by others. */
#ifndef LOCKBROKER_BASE_SPAN_H
#define LOCKBROKER_BASE_SPAN_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/*
 * Points into a line or a literal, and is valid as long as they are.  Never
 * freed.
 */
struct span {
	const char *p;
	size_t n;
};

static inline struct span
span_of(const char *text)
{
	return (struct span){ text, strlen(text) };
}

static inline bool
span_same(struct span a, struct span b)
{
	return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool
span_is(struct span s, const char *text)
{
	return span_same(s, span_of(text));
}

static inline bool
span_begins(struct span s, const char *with)
{
	size_t n = strlen(with);

	return s.n >= n && memcmp(s.p, with, n) == 0;
}

#endif
