/*
 * The types of settings that are single values: how each is read, checked and
 * written.  This file owns nothing and looks at no node.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/address.h"
#include "base/limits.h"
#include "base/parse.h"
#include "config/fields.h"

#define DIGITS "0123456789"
#define OUT_OF_RANGE "is out of range"

/* Numbers. */

static const struct size_unit {
	const char *name;
	int64_t factor;
} size_units[] = {
	{ "GB", INT64_C(1) << 30 },
	{ "MB", INT64_C(1) << 20 },
	{ "KB", INT64_C(1) << 10 },
	{ "B", 1 },
};

#define SIZE_UNITS (sizeof(size_units) / sizeof(size_units[0]))

static const char *
bool_parse(const char *text, int64_t *value)
{
	*value = strcmp(text, "true") == 0;
	return *value || strcmp(text, "false") == 0 ? NULL
						    : "is not true or false";
}

static void
bool_format(char buf[CONFIG_NUMBER_SIZE], int64_t value)
{
	strcpy(buf, value != 0 ? "true" : "false");
}

static const char *
number_parse(const char *text, int64_t *value)
{
	uint64_t number;

	if (text[strspn(text, DIGITS)] != '\0' || text[0] == '\0')
		return "is not a whole number";
	if (text[0] == '0' && text[1] != '\0')
		return "begins with a zero";
	if (!parse_number(text, strlen(text), UINT32_MAX, &number))
		return OUT_OF_RANGE;
	*value = (int64_t)number;
	return NULL;
}

static void
number_format(char buf[CONFIG_NUMBER_SIZE], int64_t value)
{
	snprintf(buf, CONFIG_NUMBER_SIZE, "%" PRId64, value);
}

static const char *
duration_parse(const char *text, int64_t *value)
{
	if (parse_duration(text, strlen(text), value))
		return NULL;
	/* The expected value in the message mentions the units. */
	return text[0] != '\0' && text[strspn(text, DIGITS)] == '\0'
		   ? "has no unit"
		   : parse_duration_why(text, strlen(text));
}

static const char *
warm_parse(const char *text, int64_t *value)
{
	if (strcmp(text, "auto") != 0)
		return duration_parse(text, value);
	*value = WARM_AUTO;
	return NULL;
}

static void
warm_format(char buf[CONFIG_NUMBER_SIZE], int64_t value)
{
	if (value == WARM_AUTO)
		snprintf(buf, CONFIG_NUMBER_SIZE, "auto");
	else
		parse_duration_text(buf, value);
}

/* A number of bytes: with a unit; without one if the type is bare. */
static const char *
any_size_parse(const char *text, bool bare, int64_t *value)
{
	size_t digits = strspn(text, DIGITS), i = 0;
	const char *unit = text + digits;
	uint64_t count;

	if (digits == 0)
		return "is not a size";
	if (text[0] == '0' && digits > 1)
		return "begins with a zero";
	if (unit[0] == '\0' && strcmp(text, "0") != 0 && !bare)
		return "has no unit (B, KB, MB or GB)";
	if (unit[0] == '\0')
		unit = "B";
	while (i < SIZE_UNITS && strcmp(size_units[i].name, unit) != 0)
		i++;
	if (i == SIZE_UNITS)
		return "has an unknown unit (there are B, KB, MB and GB)";
	if (!parse_number(text, digits,
		(uint64_t)(INT64_MAX / size_units[i].factor), &count))
		return OUT_OF_RANGE;
	*value = (int64_t)count * size_units[i].factor;
	return NULL;
}

static const char *
size_parse(const char *text, int64_t *value)
{
	return any_size_parse(text, false, value);
}

static const char *
bytes_parse(const char *text, int64_t *value)
{
	return any_size_parse(text, true, value);
}

/* Writes the size in the largest unit without a remainder; 0 needs no unit. */
static void
size_format(char buf[CONFIG_NUMBER_SIZE], int64_t value)
{
	const struct size_unit *unit = size_units;

	while (value % unit->factor != 0)
		unit++;
	snprintf(buf, CONFIG_NUMBER_SIZE, "%" PRId64 "%s", value / unit->factor,
	    value == 0 ? "" : unit->name);
}

/* Text. */

/* Has the text control characters of ASCII, or of Latin-1 (C2 80 to C2 9F)? */
static const char *
string_check(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	for (; *p != '\0'; p++)
		if (*p < ' ' || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
			return "has a control character in it";
	return NULL;
}

static const char *
word_check(const char *text)
{
	return strchr(text, ' ') != NULL ? "has a space in it"
					 : string_check(text);
}

static const char *
name_check(const char *text)
{
	return text[strspn(text, CONFIG_NAME_CHARACTERS)] == '\0'
		   ? NULL
		   : "has a character that is not allowed";
}

static const char *
address_check(const char *text)
{
	struct address address = { 0 };
	const char *why = NULL;

	if (text[0] != '\0')
		why = address_parse_tcp(&address, text, ADDRESS_PORT_GIVEN);
	address_fini(&address);
	return why;
}

static const char *
url_check(const char *text)
{
	if (text[0] != '\0' && strncmp(text, "http://", 7) != 0 &&
	    strncmp(text, "https://", 8) != 0)
		return "does not begin with http:// or https://";
	return word_check(text);
}

/* The rows. */

#define ROW(id, ...) const struct config_type config_type_##id = { __VA_ARGS__ }

ROW(BOOL, CONFIG_NUMBER_OF(bool, bool_parse, bool_format), .is_unquoted = true,
    .expected = "true or false");
ROW(FLAG, CONFIG_NUMBER_OF(bool, bool_parse, bool_format),
    .expected = "true or false");
ROW(NUMBER, CONFIG_NUMBER_OF(unsigned, number_parse, number_format),
    .is_unquoted = true, .expected = "a number from < to >");
ROW(DURATION, CONFIG_NUMBER_OF(int64_t, duration_parse, parse_duration_text),
    .expected = "a duration such as 30s or 500ms, from < to >");
ROW(WARM, CONFIG_NUMBER_OF(int64_t, warm_parse, warm_format),
    .expected = "auto, or a duration such as 200ms, at most >");
ROW(SIZE, CONFIG_NUMBER_OF(size_t, size_parse, size_format),
    .expected = "a size such as 64KB or 1MB, from < to >");
ROW(BYTES, CONFIG_NUMBER_OF(size_t, bytes_parse, size_format), .is_bare = true,
    .expected = "a number of bytes or a size such as 4KB, from < to >");
ROW(CHOICE, CONFIG_CHOICE_OF("is unknown"));
ROW(STRING, CONFIG_TEXT_OF(string_check), .expected = "text of < to > bytes");
ROW(NAME, CONFIG_TEXT_OF(name_check),
    .expected = "at most > letters, digits, '.', '_' and '-'");
ROW(WORD, CONFIG_TEXT_OF(word_check),
    .expected = "at most > bytes of text without spaces");
ROW(ADDRESS, CONFIG_TEXT_OF(address_check),
    .expected = "HOST:PORT or [V6]:PORT");
ROW(URL, CONFIG_TEXT_OF(url_check),
    .expected = "a URL such as http://HOST:5627/");
ROW(SECRET, CONFIG_TEXT_OF(NULL), .is_secret = true,
    .expected = "text of < to > bytes");
