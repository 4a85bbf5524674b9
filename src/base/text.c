/*
 * Which bytes make a name, and which are fit for a line.  It owns nothing.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"

/*
 * Returns the length of a printable character; 0 for a control or malformed
 * one.
 */
static size_t
printable_char(const char *p, size_t n)
{
	unsigned char c = (unsigned char)p[0];
	size_t len;

	if (c >= ' ' && c < 0x7f)
		return 1;
	if (c < 0x80)
		return 0;
	len = parse_utf8_char(p, n);
	/* U+0080 to U+009F drive terminals just as U+0000 to U+001F do. */
	if (len == 2 && c == 0xc2 && (unsigned char)p[1] < 0xa0)
		return 0;
	return len;
}

void
text_clean(char *p, size_t n, char space)
{
	size_t i = 0, len;

	while (i < n) {
		len = printable_char(p + i, n - i);
		if (len == 0) {
			p[i++] = '?';
			continue;
		}
		if (p[i] == ' ')
			p[i] = space;
		i += len;
	}
}

void
text_add(struct buf *b, struct span text, size_t max)
{
	size_t n = text.n;
	char *p;

	if (n > max) {
		/* Don't cut within a character: 10xxxxxx continues one. */
		for (n = max; n > 0 && (text.p[n] & 0xc0) == 0x80; n--)
			;
	}
	p = buf_reserve(b, n);
	if (n > 0)
		memcpy(p, text.p, n);
	text_clean(p, n, ' ');
	buf_added(b, n);
	if (n < text.n)
		buf_adds(b, "...");
}

/* Checks the bytes; nearly all names are plain ASCII. */
static const char *
why_bytes(struct span name, bool is_name)
{
	size_t i = 0, len;
	char c;

	while (i < name.n) {
		c = name.p[i];
		if (c > ' ' && c < 0x7f && !(is_name && c == '=')) {
			i++;
			continue;
		}
		if (c == ' ')
			return "contains a space";
		if (c == '=')
			return "contains \"=\"";
		len = printable_char(name.p + i, name.n - i);
		if (len == 0 && parse_utf8_char(name.p + i, name.n - i) > 0)
			return "contains a control character";
		if (len == 0)
			return "is not valid UTF-8";
		i += len;
	}
	return NULL;
}

const char *
text_name_why(struct span name, size_t max)
{
	assert(max == NAME_MAX_BYTES || max == LABEL_MAX_BYTES);
	if (name.n == 0)
		return "is empty";
	if (name.n > max)
		return max == NAME_MAX_BYTES ? "is longer than 255 bytes"
					     : "is longer than 64 bytes";
	if (name.p[0] == '@')
		return "begins with \"@\"";
	if (name.p[0] == '!')
		return "begins with \"!\"";
	return why_bytes(name, true);
}

const char *
text_value_why(struct span value)
{
	if (value.n == 0)
		return "is empty";
	if (value.n > VALUE_MAX_BYTES)
		return "is longer than 512 bytes";
	return why_bytes(value, false);
}

/* This many digits, in lower case; `zero`: all of them may be 0. */
static bool
is_hex(const char *p, size_t n, bool zero)
{
	return strspn(p, "0123456789abcdef") >= n &&
	       (zero || strspn(p, "0") < n);
}

bool
text_is_trace(struct span text)
{
	char copy[TRACE_BYTES + 1];

	if (text.n != TRACE_BYTES)
		return false;
	memcpy(copy, text.p, TRACE_BYTES);
	copy[TRACE_BYTES] = '\0';
	return is_hex(copy, 2, true) && memcmp(copy, "ff", 2) != 0 &&
	       copy[2] == '-' && is_hex(copy + 3, 32, false) &&
	       copy[35] == '-' && is_hex(copy + 36, 16, false) &&
	       copy[52] == '-' && is_hex(copy + 53, 2, true);
}
