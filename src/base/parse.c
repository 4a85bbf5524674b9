/*
 * Numbers, durations and UTF-8.  Pure functions: they own nothing, allocate
 * nothing and ignore the locale.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"

struct unit {
	const char *word;
	size_t len;
	int64_t ms;
};

static const struct unit units[] = {
	{ "ms", 2, 1 },
	{ "s", 1, 1000 },
	{ "m", 1, 60 * 1000 },
	{ "h", 1, 3600 * 1000 },
	{ "d", 1, 24 * 3600 * 1000 },
};

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static size_t
count_digits(const char *s, size_t n)
{
	size_t i = 0;

	while (i < n && is_digit(s[i]))
		i++;
	return i;
}

bool
parse_number(const char *s, size_t n, uint64_t max, uint64_t *out)
{
	uint64_t sum = 0;
	size_t i;

	if (n == 0 || (s[0] == '0' && n > 1))
		return false;
	for (i = 0; i < n; i++) {
		uint64_t digit = (uint64_t)(s[i] - '0');

		if (!is_digit(s[i]))
			return false;
		if (sum > (UINT64_MAX - digit) / 10)
			return false;
		sum = sum * 10 + digit;
	}
	if (sum > max)
		return false;
	*out = sum;
	return true;
}

static const struct unit *
find_unit(const char *s, size_t n)
{
	size_t i;

	for (i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (units[i].len == n && memcmp(units[i].word, s, n) == 0)
			return &units[i];
	return NULL;
}

int64_t
parse_duration_unit(const char *s, size_t n)
{
	const struct unit *u = find_unit(s, n);

	return u == NULL ? 0 : u->ms;
}

bool
parse_duration(const char *s, size_t n, int64_t *out_ms)
{
	size_t digits = count_digits(s, n);
	const struct unit *u;
	uint64_t count;

	if (n == 1 && s[0] == '0') {
		*out_ms = 0;
		return true;
	}
	u = find_unit(s + digits, n - digits);
	if (u == NULL)
		return false;
	if (!parse_number(
		s, digits, (uint64_t)(DURATION_MS_MAX / u->ms), &count))
		return false;
	*out_ms = (int64_t)count * u->ms;
	return true;
}

const char *
parse_duration_why(const char *s, size_t n)
{
	size_t digits = count_digits(s, n);
	bool number = digits == 1 || (digits > 1 && s[0] != '0');

	if (number && digits == n)
		return "has no unit; write 30s, for example";
	if (number && find_unit(s + digits, n - digits))
		return "is longer than 365d";
	return "is not a duration such as 500ms, 30s, 5m, 2h or 1d";
}

void
parse_duration_text(char buf[DURATION_SIZE], int64_t ms)
{
	size_t i = sizeof(units) / sizeof(units[0]) - 1;

	while (ms % units[i].ms != 0)
		i--;
	snprintf(buf, DURATION_SIZE, "%" PRId64 "%s", ms / units[i].ms,
	    ms == 0 ? "" : units[i].word);
}

/*
 * Returns the length of the character at s, or 0 if it is malformed.  The
 * bounds of the second byte exclude overlong forms, surrogates and characters
 * above U+10FFFF (RFC 3629, section 4).
 */
static size_t
utf8_char(const unsigned char *s, size_t n)
{
	unsigned char low = 0x80, high = 0xbf;
	size_t len, i;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	len = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	if (n < len)
		return 0;
	if (s[0] == 0xe0)
		low = 0xa0;
	else if (s[0] == 0xed)
		high = 0x9f;
	else if (s[0] == 0xf0)
		low = 0x90;
	else if (s[0] == 0xf4)
		high = 0x8f;
	if (s[1] < low || s[1] > high)
		return 0;
	for (i = 2; i < len; i++)
		if (s[i] < 0x80 || s[i] > 0xbf)
			return 0;
	return len;
}

size_t
parse_utf8_char(const char *s, size_t n)
{
	return n > 0 ? utf8_char((const unsigned char *)s, n) : 0;
}

bool
parse_utf8(const char *s, size_t n)
{
	size_t i = 0, len;

	while (i < n) {
		len = utf8_char((const unsigned char *)s + i, n - i);
		if (len == 0)
			return false;
		i += len;
	}
	return true;
}
