/* See path.h. */
#include "config.h"

#include <string.h>
#include <strings.h>

#include "http/path.h"

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

static bool
decode(struct buf *out, struct span text, bool plus)
{
	char *to = buf_reserve(out, text.n + 1);
	size_t i, n = 0;

	for (i = 0; i < text.n; i++) {
		char c = text.p[i];

		if (c == '%') {
			if (i + 2 >= text.n || hex(text.p[i + 1]) < 0 ||
			    hex(text.p[i + 2]) < 0)
				return false;
			c = (char)(hex(text.p[i + 1]) * 16 +
				   hex(text.p[i + 2]));
			i += 2;
		} else if (plus && c == '+') {
			c = ' ';
		}
		to[n++] = c;
	}
	buf_added(out, n);
	return true;
}

bool
path_decode(struct buf *out, struct span text)
{
	return decode(out, text, false);
}

bool
query_decode(struct buf *out, struct span value)
{
	return decode(out, value, true);
}

bool
query_find(const char *query, const char *key, struct span *value)
{
	size_t n = strlen(key), all, name;

	for (; query != NULL && *query != '\0'; query += all) {
		query += *query == '&';
		all = strcspn(query, "&");
		name = strcspn(query, "=&");
		if (name != n || memcmp(query, key, n) != 0)
			continue;
		value->p = query + name + (name < all);
		value->n = all - name - (name < all);
		return true;
	}
	return false;
}

/* Is `type` the part of a list item before its parameters? */
static bool
is_type(const char *item, const char *type)
{
	size_t n = strlen(type);

	return strncasecmp(item, type, n) == 0 &&
	       strchr(" ;,", item[n]) != NULL; /* the end counts, too */
}

/*
 * Returns thousandths of the q= of an item that ends before `end`; 1000 if
 * none.
 */
static int
quality(const char *item, const char *end)
{
	const char *q = item;
	int value = 0, unit = 1000;

	while ((q = memchr(q, ';', (size_t)(end - q))) != NULL) {
		q++;
		while (q < end && *q == ' ')
			q++;
		if (q + 1 < end && (*q == 'q' || *q == 'Q') && q[1] == '=')
			break;
	}
	if (q == NULL)
		return 1000;
	for (q += 2; q < end && unit > 0; q++) {
		if (*q >= '0' && *q <= '9') {
			value += (*q - '0') * unit;
			unit /= 10;
		} else if (*q != '.') {
			break;
		}
	}
	return value;
}

bool
accept_openmetrics(const char *accept)
{
	int open = 0, text = 0, q;
	const char *end;

	while (accept != NULL && *accept != '\0') {
		accept += strspn(accept, " ,\t");
		end = accept + strcspn(accept, ",");
		q = quality(accept, end);
		if (is_type(accept, "application/openmetrics-text"))
			open = q > open ? q : open;
		else if (is_type(accept, "text/plain"))
			text = q > text ? q : text;
		accept = end;
	}
	return open > 0 && open >= text;
}
