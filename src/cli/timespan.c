/*
 * Durations as people write and read them on a command line.
 */
#include "config.h"

#include "cli/timespan.h"

#include "base/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The protocol's units (section 2), the longest match first. */
static const struct {
	const char *word;
	int64_t ms;
} units[] = {
	{ "ms", 1 },
	{ "s", 1000 },
	{ "m", 60 * 1000 },
	{ "h", 3600 * 1000 },
	{ "d", 24 * 3600 * 1000 },
	{ "", 1000 },
};

static bool
unit_find(const char *word, int64_t *ms)
{
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
		if (strcmp(units[i].word, word) == 0) {
			*ms = units[i].ms;
			return true;
		}
	}
	return false;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Nanounits: the digits behind the point, nine of them at most. */
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
	if (!unit_find(p, &unit) || whole > DURATION_MS_MAX / unit)
		return false;
	/* Divided first: a fraction of a day in nanounits would overflow. */
	part = (nano / 1000 * unit + nano % 1000 * unit / 1000 +
		   nano_one / 1000 - 1) /
	       (nano_one / 1000);
	*out_ms = whole * unit + part;
	return *out_ms <= DURATION_MS_MAX;
}

const char *
timespan_text(int64_t ms, char text[TIMESPAN_TEXT_MAX])
{
	const int64_t s = ms / 1000, m = s / 60, h = m / 60, d = h / 24;

	if (ms < 1000)
		snprintf(text, TIMESPAN_TEXT_MAX, "%" PRId64 "ms", ms);
	else if (s < 60)
		snprintf(text, TIMESPAN_TEXT_MAX, "%" PRId64 "s", s);
	else if (m < 60)
		snprintf(text, TIMESPAN_TEXT_MAX, "%" PRId64 "m%02" PRId64 "s",
		    m, s % 60);
	else if (h < 24)
		snprintf(text, TIMESPAN_TEXT_MAX, "%" PRId64 "h%02" PRId64 "m",
		    h, m % 60);
	else
		snprintf(text, TIMESPAN_TEXT_MAX, "%" PRId64 "d%02" PRId64 "h",
		    d, h % 24);
	return text;
}
