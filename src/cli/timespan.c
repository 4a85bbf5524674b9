/* See timespan.h. */
#include "config.h"

#include <assert.h>
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "cli/timespan.h"

/* From this number of seconds on, tenths are left out. */
#define TENTHS_BELOW_S 20

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads nanounits: the digits after the point, at most nine. */
static const char *
fraction_read(const char *s, int64_t *nano)
{
	int64_t scale = INT64_C(100000000);

	*nano = 0;
	for (; is_digit(*s); s++) {
		*nano += (*s - '0') * scale;
		scale /= 10;
	}
	return s;
}

bool
timespan_parse(const char *s, int64_t *out_ms)
{
	const int64_t nano_one = INT64_C(1000000000);
	int64_t whole = 0, nano = 0, unit, part;
	const char *p;

	for (p = s; is_digit(*p); p++) {
		whole = whole * 10 + (*p - '0');
		if (whole > DURATION_MS_MAX)
			return false;
	}
	if (p == s && !(p[0] == '.' && is_digit(p[1])))
		return false;
	if (*p == '.')
		p = fraction_read(p + 1, &nano);
	unit = *p == '\0' ? 1000 : parse_duration_unit(p, strlen(p));
	if (unit == 0 || whole > DURATION_MS_MAX / unit)
		return false;
	/* Divide first: a fraction of a day in nanounits would overflow. */
	part = (nano / 1000 * unit + nano % 1000 * unit / 1000 +
		   nano_one / 1000 - 1) /
	       (nano_one / 1000);
	*out_ms = whole * unit + part;
	return *out_ms <= DURATION_MS_MAX;
}

/* The two units that a duration is shown in. */
enum span { SPAN_TENTHS, SPAN_S, SPAN_M, SPAN_H, SPAN_D };

/* Tenths of a second matter only if there are few seconds; a whole number of
 * seconds, as in settings, has none. */
static enum span
span_split(int64_t ms, int64_t *big, int64_t *small)
{
	const int64_t s = ms / 1000, m = s / 60, h = m / 60;

	*big = s;
	*small = ms / 100 % 10;
	if (s < TENTHS_BELOW_S && ms % 1000 != 0)
		return SPAN_TENTHS;
	if (m == 0)
		return SPAN_S;
	*big = m;
	*small = s % 60;
	if (h == 0)
		return SPAN_M;
	*big = h;
	*small = m % 60;
	if (h < 24)
		return SPAN_H;
	*big = h / 24;
	*small = h % 24;
	return SPAN_D;
}

const char *
timespan_text(int64_t ms, char text[TIMESPAN_TEXT_MAX])
{
	static const char *const words[][2] = {
		[SPAN_M] = { "min", "s" },
		[SPAN_H] = { "h", "min" },
		[SPAN_D] = { "d", "h" },
	};
	int64_t big, small;
	const enum span span = span_split(ms, &big, &small);

	if (span == SPAN_TENTHS)
		snprintf(text, TIMESPAN_TEXT_MAX, "%" PRId64 ".%" PRId64 " s",
		    big, small);
	else if (span == SPAN_S)
		snprintf(text, TIMESPAN_TEXT_MAX, "%" PRId64 " s", big);
	else if (small == 0)
		snprintf(text, TIMESPAN_TEXT_MAX, "%" PRId64 " %s", big,
		    words[span][0]);
	else
		snprintf(text, TIMESPAN_TEXT_MAX,
		    "%" PRId64 " %s %" PRId64 " %s", big, words[span][0], small,
		    words[span][1]);
	return text;
}

const char *
timespan_cell(int64_t ms, char text[TIMESPAN_TEXT_MAX])
{
	static const char words[][2] = {
		[SPAN_M] = { 'm', 's' },
		[SPAN_H] = { 'h', 'm' },
		[SPAN_D] = { 'd', 'h' },
	};
	int64_t big, small;
	const enum span span = span_split(ms, &big, &small);

	if (span == SPAN_TENTHS)
		snprintf(text, TIMESPAN_TEXT_MAX, "%" PRId64 ".%" PRId64 "s",
		    big, small);
	else if (span == SPAN_S)
		snprintf(text, TIMESPAN_TEXT_MAX, "%" PRId64 "s", big);
	else
		snprintf(text, TIMESPAN_TEXT_MAX,
		    "%" PRId64 "%c%02" PRId64 "%c", big, words[span][0], small,
		    words[span][1]);
	return text;
}

/*
 * Returns the length of "12635ms" at `s`, unless it is part of a longer word;
 * then 0.
 */
static size_t
span_at(const char *s, int64_t *ms)
{
	const size_t digits = strspn(s, "0123456789");

	if (digits == 0 || strncmp(s + digits, "ms", 2) != 0 ||
	    isalnum((unsigned char)s[digits + 2]) ||
	    !parse_duration(s, digits + 2, ms))
		return 0;
	return digits + 2;
}

void
timespans_in_text(const char *from, char *to, size_t size)
{
	char span[TIMESPAN_TEXT_MAX];
	size_t n, used = 0;
	bool joined = false;
	int64_t ms;

	assert(size > 0);
	while (*from != '\0' && used + 1 < size) {
		n = joined ? 0 : span_at(from, &ms);
		if (n > 0) {
			snprintf(to + used, size - used, "%s",
			    timespan_text(ms, span));
			used += strlen(to + used);
			from += n;
		} else {
			to[used++] = *from++;
		}
		joined = isalnum((unsigned char)from[-1]) || from[-1] == '=';
	}
	to[used] = '\0';
}
