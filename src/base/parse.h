/*
 * Strict parsers for the few values that requests and the configuration share
 * (protocol, section 2).  They take (pointer, length) and accept nothing
 * around the value: no sign, no space, no leading zero.
 */
#ifndef LOCKBROKER_BASE_PARSE_H
#define LOCKBROKER_BASE_PARSE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DURATION_MS_MAX (INT64_C(365) * 24 * 3600 * 1000)

/* Decimal; false when malformed or above max. */
bool parse_number(const char *s, size_t n, uint64_t max, uint64_t *out)
    __attribute__((warn_unused_result));

/* "500ms", "30s", "5m", "2h", "1d", "0"; at most 365d. */
bool parse_duration(const char *s, size_t n, int64_t *out_ms)
    __attribute__((warn_unused_result));

/* The milliseconds of "ms", "s", "m", "h", "d"; 0 of anything else. */
int64_t parse_duration_unit(const char *s, size_t n);

/* The end of the sentence "VALUE ..." for a duration that did not parse. */
const char *parse_duration_why(const char *s, size_t n);

/* In the largest unit that leaves no remainder: it parses to the same. */
#define DURATION_SIZE 32
void parse_duration_text(char buf[DURATION_SIZE], int64_t ms);

/* Well-formed UTF-8 (RFC 3629: shortest form, no surrogates)? */
bool parse_utf8(const char *s, size_t n);

/* The bytes of the character at s; 0 where it is malformed, or n is 0. */
size_t parse_utf8_char(const char *s, size_t n);

/* The locale has no say in what is upper and lower case here. */
static inline char
parse_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

#endif
