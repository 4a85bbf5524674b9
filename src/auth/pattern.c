/*
 * A pattern is matched from the left in one pass, without copies: "%u" is
 * compared with the user's name in place.
 */
#include "config.h"

#include <string.h>

#include "auth/pattern.h"
#include "base/text.h"

const char *
pattern_why(const char *pattern)
{
	size_t n = strlen(pattern);
	const char *star = strchr(pattern, '*');

	if (n == 0)
		return "is empty";
	if (star != NULL && star[1] != '\0')
		return "has a '*' before its end";
	return text_name_why((struct span){ pattern, n }, NAME_MAX_BYTES);
}

/* Removes the first `n` bytes of the name if they equal those at `p`. */
static bool
take(struct span *name, const char *p, size_t n)
{
	if (name->n < n || memcmp(name->p, p, n) != 0)
		return false;
	name->p += n;
	name->n -= n;
	return true;
}

bool
pattern_matches(const char *pattern, struct span name, const char *user)
{
	const char *p = pattern;

	while (*p != '\0') {
		if (p[0] == '*' && p[1] == '\0')
			return true;
		if (p[0] == '%' && p[1] == 'u') {
			if (!take(&name, user, strlen(user)))
				return false;
			p += 2;
			continue;
		}
		if (!take(&name, p, 1))
			return false;
		p++;
	}
	return name.n == 0;
}
