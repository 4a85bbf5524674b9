/*
 * See html.h.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "http/html.h"

static const char *
entity(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	default:
		return NULL;
	}
}

static uint32_t
code_point(const unsigned char *s, size_t n)
{
	uint32_t c = n == 1 ? s[0] : s[0] & (0x7fu >> n);
	size_t i;

	for (i = 1; i < n; i++)
		c = c << 6 | (s[i] & 0x3fu);
	return c;
}

/*
 * Controls, characters without width, and those that turn the direction of
 * text.
 */
static int
is_invisible(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || c == 0xad || c == 0x61c ||
	       c == 0x180e || (c >= 0x200b && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2060 && c <= 0x206f) ||
	       c == 0xfeff || (c >= 0xfff9 && c <= 0xfffb) ||
	       (c >= 0xe0000 && c <= 0xe0fff);
}

void
html_text(struct buf *out, struct span text)
{
	const unsigned char *s = (const unsigned char *)text.p;
	const char *as;
	size_t i, n;

	for (i = 0; i < text.n; i += n) {
		n = parse_utf8_char(text.p + i, text.n - i);
		as = n == 1 ? entity(text.p[i]) : NULL;
		if (as != NULL) {
			buf_adds(out, as);
		} else if (n == 0) {
			buf_addf(out, "\\x%02x", s[i]);
			n = 1;
		} else if (is_invisible(code_point(s + i, n))) {
			buf_addf(out, "\\u%04" PRIx32, code_point(s + i, n));
		} else {
			buf_add(out, text.p + i, n);
		}
	}
}

void
html_string(struct buf *out, const char *text)
{
	html_text(out, (struct span){ text, strlen(text) });
}

#define SECOND INT64_C(1000)
#define MINUTE (60 * SECOND)
#define HOUR (60 * MINUTE)
#define DAY (24 * HOUR)

void
html_duration(struct buf *out, int64_t ms)
{
	if (ms < 0)
		ms = 0;
	if (ms < SECOND)
		buf_addf(out, "%" PRId64 "\302\240ms", ms);
	else if (ms < 10 * SECOND)
		buf_addf(out, "%" PRId64 ".%" PRId64 "\302\240s", ms / SECOND,
		    ms % SECOND / 100);
	else if (ms < MINUTE)
		buf_addf(out, "%" PRId64 "\302\240s", ms / SECOND);
	else if (ms < 10 * MINUTE)
		buf_addf(out, "%" PRId64 "\302\240min %" PRId64 "\302\240s",
		    ms / MINUTE, ms % MINUTE / SECOND);
	else if (ms < HOUR)
		buf_addf(out, "%" PRId64 "\302\240min", ms / MINUTE);
	else if (ms < 2 * DAY)
		buf_addf(out, "%" PRId64 "\302\240h %" PRId64 "\302\240min",
		    ms / HOUR, ms % HOUR / MINUTE);
	else
		buf_addf(out, "%" PRId64 "\302\240d %" PRId64 "\302\240h",
		    ms / DAY, ms % DAY / HOUR);
}

void
html_number(struct buf *out, uint64_t n)
{
	char digits[24];
	int i, len = snprintf(digits, sizeof(digits), "%" PRIu64, n);

	for (i = 0; i < len; i++) {
		if (i > 0 && (len - i) % 3 == 0)
			buf_adds(out, "\342\200\257");
		buf_addc(out, digits[i]);
	}
}
