/*
 * Strict parsers for the few values that requests and the configuration share
 * (lockbroker-protocol(7), "Names, numbers and durations").  They take
 * (pointer, length) and accept nothing around the value: no sign, no space, no
 * leading zero.
 */
#ifndef LOCKBROKER_BASE_PARSE_H
#define LOCKBROKER_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DURATION_MS_MAX (INT64_C(365) * 24 * 3600 * 1000)

/* Decimal.  Returns false if it is malformed or above max. */
bool parse_number(const char *s, size_t n, uint64_t max, uint64_t *out)
    __attribute__((warn_unused_result));

/* "500ms", "30s", "5m", "2h", "1d", "0"; at most 365d. */
bool parse_duration(const char *s, size_t n, int64_t *out_ms)
    __attribute__((warn_unused_result));

/* Returns the milliseconds of "ms", "s", "m", "h", "d"; 0 for others. */
int64_t parse_duration_unit(const char *s, size_t n);

/* Returns the end of the sentence "VALUE ..." for a malformed duration. */
const char *parse_duration_why(const char *s, size_t n);

/* Writes it in the largest unit without a remainder: it parses to the same. */
#define DURATION_SIZE 32
void parse_duration_text(char buf[DURATION_SIZE], int64_t ms);

/* Well-formed UTF-8 (RFC 3629: shortest form, no surrogates)? */
bool parse_utf8(const char *s, size_t n);

/* Returns the bytes of the character at s; 0 if it is malformed or n is 0. */
size_t parse_utf8_char(const char *s, size_t n);

/* Ignores the locale, which does not matter here. */
static inline char
parse_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

#endif
