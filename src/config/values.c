/*
 * The types of settings that are single values.  Owns nothing: values live in
 * struct config.  Lists are in lists.c.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include "config/values.h"

#include <assert.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/xmalloc.h"
#include "config/address.h"
#include "config/faults.h"
#include "config/fields.h"
#include "config/node.h"

/* A unit, and how much of the smallest it is; the largest first. */
struct unit {
	const char *name;
	int64_t factor;
};

static const struct unit size_units[] = {
	{ "GB", INT64_C(1) << 30 },
	{ "MB", INT64_C(1) << 20 },
	{ "KB", INT64_C(1) << 10 },
	{ "B", 1 },
	{ NULL, 0 },
};

static const struct unit duration_units[] = {
	{ "d", INT64_C(24) * 3600 * 1000 },
	{ "h", INT64_C(3600) * 1000 },
	{ "m", INT64_C(60) * 1000 },
	{ "s", 1000 },
	{ "ms", 1 },
	{ NULL, 0 },
};

#define AMOUNT_SIZE 32

/* In the largest unit that leaves no remainder; 0 needs none. */
static const char *
format_amount(char buf[AMOUNT_SIZE], const struct unit *units, int64_t value)
{
	if (value == 0)
		return strcpy(buf, "0");
	while (value % units->factor != 0)
		units++;
	snprintf(buf, AMOUNT_SIZE, "%" PRId64 "%s", value / units->factor,
	    units->name);
	return buf;
}

static bool
in_range(const struct config_field *field, uint64_t value)
{
	return value >= (uint64_t)field->min && value <= (uint64_t)field->max;
}

/* --- Booleans */

static const char *
bool_parse(const struct config_field *field, const char *text, void *slot)
{
	(void)field;
	if (strcmp(text, "true") != 0 && strcmp(text, "false") != 0)
		return "is neither true nor false";
	*(bool *)slot = strcmp(text, "true") == 0;
	return NULL;
}

static void
bool_expected(const struct config_field *field, char *buf, size_t size)
{
	(void)field;
	snprintf(buf, size, "true or false");
}

static void
bool_dump(const struct config_field *field, const void *slot, FILE *out)
{
	(void)field;
	fprintf(out, "%s\n", *(const bool *)slot ? "true" : "false");
}

static bool
bool_same(const void *a, const void *b)
{
	return *(const bool *)a == *(const bool *)b;
}

static void
bool_copy(void *to, const void *from)
{
	*(bool *)to = *(const bool *)from;
}

/* --- Numbers */

static const char *
number_parse(const struct config_field *field, const char *text, void *slot)
{
	uint64_t value;

	if (text[strspn(text, "0123456789")] != '\0' || text[0] == '\0')
		return "is not a whole number";
	if (text[0] == '0' && text[1] != '\0')
		return "begins with a zero";
	if (!parse_number(text, strlen(text), UINT32_MAX, &value) ||
	    !in_range(field, value))
		return "is out of range";
	*(unsigned *)slot = (unsigned)value;
	return NULL;
}

static void
number_expected(const struct config_field *field, char *buf, size_t size)
{
	snprintf(buf, size, "a number from %" PRId64 " to %" PRId64, field->min,
	    field->max);
}

static void
number_dump(const struct config_field *field, const void *slot, FILE *out)
{
	(void)field;
	fprintf(out, "%u\n", *(const unsigned *)slot);
}

static bool
number_same(const void *a, const void *b)
{
	return *(const unsigned *)a == *(const unsigned *)b;
}

static void
number_copy(void *to, const void *from)
{
	*(unsigned *)to = *(const unsigned *)from;
}

/* --- Durations */

static const char *
duration_parse(const struct config_field *field, const char *text, void *slot)
{
	int64_t ms;

	if (!parse_duration(text, strlen(text), &ms))
		return parse_duration_why(text, strlen(text));
	if (ms < field->min || ms > field->max)
		return "is out of range";
	*(int64_t *)slot = ms;
	return NULL;
}

static void
duration_expected(const struct config_field *field, char *buf, size_t size)
{
	char min[AMOUNT_SIZE];
	char max[AMOUNT_SIZE];

	snprintf(buf, size, "a duration such as 30s or 500ms, from %s to %s",
	    format_amount(min, duration_units, field->min),
	    format_amount(max, duration_units, field->max));
}

static void
duration_dump(const struct config_field *field, const void *slot, FILE *out)
{
	char text[AMOUNT_SIZE];

	(void)field;
	fprintf(out, "%s\n",
	    format_amount(text, duration_units, *(const int64_t *)slot));
}

static bool
duration_same(const void *a, const void *b)
{
	return *(const int64_t *)a == *(const int64_t *)b;
}

static void
duration_copy(void *to, const void *from)
{
	*(int64_t *)to = *(const int64_t *)from;
}

/* --- Sizes */

static const struct unit *
find_unit(const struct unit *units, const char *name)
{
	while (units->name != NULL && strcmp(units->name, name) != 0)
		units++;
	return units->name == NULL ? NULL : units;
}

static const char *
size_parse(const struct config_field *field, const char *text, void *slot)
{
	size_t digits = strspn(text, "0123456789");
	const struct unit *unit = find_unit(size_units, text + digits);
	uint64_t value;

	if (digits == 0)
		return "is not a size";
	if (text[0] == '0' && digits > 1)
		return "begins with a zero";
	if (text[digits] == '\0' &&
	    (strcmp(text, "0") == 0 || field->type == &config_type_BYTES))
		unit = find_unit(size_units, "B");
	else if (text[digits] == '\0')
		return "has no unit (B, KB, MB or GB)";
	if (unit == NULL)
		return "has an unknown unit (there are B, KB, MB and GB)";
	if (!parse_number(
		text, digits, (uint64_t)(INT64_MAX / unit->factor), &value) ||
	    !in_range(field, value * (uint64_t)unit->factor))
		return "is out of range";
	*(size_t *)slot = (size_t)(value * (uint64_t)unit->factor);
	return NULL;
}

static void
size_expected(const struct config_field *field, char *buf, size_t size)
{
	char min[AMOUNT_SIZE];
	char max[AMOUNT_SIZE];

	snprintf(buf, size, "a size such as 64KB or 1MB, from %s to %s",
	    format_amount(min, size_units, field->min),
	    format_amount(max, size_units, field->max));
}

static void
bytes_expected(const struct config_field *field, char *buf, size_t size)
{
	char min[AMOUNT_SIZE];
	char max[AMOUNT_SIZE];

	snprintf(buf, size,
	    "a number of bytes or a size such as 4KB, from %s to %s",
	    format_amount(min, size_units, field->min),
	    format_amount(max, size_units, field->max));
}

static void
size_dump(const struct config_field *field, const void *slot, FILE *out)
{
	char text[AMOUNT_SIZE];

	(void)field;
	fprintf(out, "%s\n",
	    format_amount(text, size_units, (int64_t) * (const size_t *)slot));
}

static void
bytes_dump(const struct config_field *field, const void *slot, FILE *out)
{
	(void)field;
	fprintf(out, "%zu\n", *(const size_t *)slot);
}

static bool
size_same(const void *a, const void *b)
{
	return *(const size_t *)a == *(const size_t *)b;
}

static void
size_copy(void *to, const void *from)
{
	*(size_t *)to = *(const size_t *)from;
}

/* --- Choices: the enums of struct config, which gcc makes unsigned int */

_Static_assert(sizeof(enum config_field_id) == sizeof(unsigned),
    "an enum must be as large as unsigned");

static const char *
choice_parse(const struct config_field *field, const char *text, void *slot)
{
	for (unsigned i = 0; field->choices[i] != NULL; i++) {
		if (strcmp(field->choices[i], text) != 0)
			continue;
		*(unsigned *)slot = i;
		return NULL;
	}
	return "is unknown";
}

static void
choice_expected(const struct config_field *field, char *buf, size_t size)
{
	size_t used = 0;

	for (size_t i = 0; field->choices[i] != NULL; i++) {
		const char *before = i == 0			     ? ""
				     : field->choices[i + 1] == NULL ? " or "
								     : ", ";
		int n = snprintf(
		    buf + used, size - used, "%s%s", before, field->choices[i]);

		assert(n > 0 && (size_t)n < size - used);
		used += (size_t)n;
	}
}

static void
choice_dump(const struct config_field *field, const void *slot, FILE *out)
{
	fprintf(out, "%s\n", field->choices[*(const unsigned *)slot]);
}

/* --- Text */

/* Those of ASCII, and those of Latin-1, which are C2 80 to C2 9F. */
static bool
has_control(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;

	for (; *p != '\0'; p++)
		if (*p < ' ' || *p == 0x7f || (*p == 0xc2 && p[1] < 0xa0))
			return true;
	return false;
}

static const char *
secret_parse(const struct config_field *field, const char *text, void *slot)
{
	size_t n = strlen(text);

	if (n == 0 && field->min > 0)
		return "is empty";
	if (!in_range(field, n))
		return "is too long";
	*(char **)slot = xstrdup(text);
	return NULL;
}

static const char *
string_parse(const struct config_field *field, const char *text, void *slot)
{
	if (has_control(text))
		return "has a control character in it";
	return secret_parse(field, text, slot);
}

static const char *
word_parse(const struct config_field *field, const char *text, void *slot)
{
	if (strchr(text, ' ') != NULL)
		return "has a space in it";
	return string_parse(field, text, slot);
}

static const char *
address_parse(const struct config_field *field, const char *text, void *slot)
{
	struct config_address address;
	const char *why;

	(void)field;
	if (text[0] != '\0') {
		why = config_address_parse_tcp(&address, text, 1);
		if (why != NULL)
			return why;
		config_address_fini(&address);
	}
	*(char **)slot = xstrdup(text);
	return NULL;
}

static void
address_expected(const struct config_field *field, char *buf, size_t size)
{
	(void)field;
	snprintf(buf, size, "HOST:PORT or [V6]:PORT");
}

static const char *
name_parse(const struct config_field *field, const char *text, void *slot)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
				      "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";

	if (text[strspn(text, allowed)] != '\0')
		return "has a character that is not allowed";
	return string_parse(field, text, slot);
}

static void
string_expected(const struct config_field *field, char *buf, size_t size)
{
	snprintf(buf, size, "text of %" PRId64 " to %" PRId64 " bytes",
	    field->min, field->max);
}

static void
word_expected(const struct config_field *field, char *buf, size_t size)
{
	snprintf(buf, size, "at most %" PRId64 " bytes of text without spaces",
	    field->max);
}

static void
name_expected(const struct config_field *field, char *buf, size_t size)
{
	snprintf(buf, size,
	    "at most %" PRId64 " letters, digits, '.', '_' and "
	    "'-'",
	    field->max);
}

/* Decodes one character and moves *p behind it; a stray byte is Latin-1. */
static uint32_t
next_character(const unsigned char **p)
{
	const unsigned char *s = *p;
	int more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
	uint32_t c = more == 0 ? s[0] : s[0] & (0x3fu >> more);

	*p = s + 1;
	for (int i = 1; i <= more; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return s[0];
		c = c << 6 | (s[i] & 0x3f);
	}
	*p = s + 1 + more;
	return c;
}

/*
 * What YAML would refuse to read as it is, or would take for the end of a
 * line: U+0085, U+2028 and U+2029 are line breaks to it.
 */
static bool
needs_escape(uint32_t c)
{
	return c < ' ' || (c >= 0x7f && c < 0xa0) || c == 0x2028 ||
	       c == 0x2029 || c == 0xfeff || c == 0xfffe || c == 0xffff;
}

void
config_value_write_quoted(const char *text, FILE *out)
{
	const unsigned char *p = (const unsigned char *)text;

	fputc('"', out);
	while (*p != '\0') {
		const unsigned char *start = p;
		uint32_t c = next_character(&p);

		if (c == '"' || c == '\\')
			fprintf(out, "\\%c", (char)c);
		else if (needs_escape(c) || (c >= 0x80 && p == start + 1))
			fprintf(out, "\\u%04x", (unsigned)c);
		else
			fwrite(start, 1, (size_t)(p - start), out);
	}
	fputc('"', out);
}

static void
string_dump(const struct config_field *field, const void *slot, FILE *out)
{
	(void)field;
	config_value_write_quoted(*(char *const *)slot, out);
	fputc('\n', out);
}

static bool
string_same(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b) == 0;
}

static void
string_copy(void *to, const void *from)
{
	*(char **)to = xstrdup(*(char *const *)from);
}

static void
string_fini(void *slot)
{
	free(*(char **)slot);
	*(char **)slot = NULL;
}

/* Only an empty one can be shown; config_dump() comments out the others. */
static void
secret_dump(const struct config_field *field, const void *slot, FILE *out)
{
	assert(**(char *const *)slot == '\0');
	string_dump(field, slot, out);
}

static void
secret_fini(void *slot)
{
	char *text = *(char **)slot;

	if (text != NULL)
		explicit_bzero(text, strlen(text));
	string_fini(slot);
}

/* --- The rows */

const struct config_type config_type_BOOL = {
	.unquoted = true,
	.parse = bool_parse,
	.expected = bool_expected,
	.dump = bool_dump,
	.same = bool_same,
	.copy = bool_copy,
};

const struct config_type config_type_NUMBER = {
	.unquoted = true,
	.parse = number_parse,
	.expected = number_expected,
	.dump = number_dump,
	.same = number_same,
	.copy = number_copy,
};

const struct config_type config_type_DURATION = {
	.parse = duration_parse,
	.expected = duration_expected,
	.dump = duration_dump,
	.same = duration_same,
	.copy = duration_copy,
};

const struct config_type config_type_SIZE = {
	.parse = size_parse,
	.expected = size_expected,
	.dump = size_dump,
	.same = size_same,
	.copy = size_copy,
};

const struct config_type config_type_BYTES = {
	.parse = size_parse,
	.expected = bytes_expected,
	.dump = bytes_dump,
	.same = size_same,
	.copy = size_copy,
};

const struct config_type config_type_CHOICE = {
	.parse = choice_parse,
	.expected = choice_expected,
	.dump = choice_dump,
	.same = number_same,
	.copy = number_copy,
};

const struct config_type config_type_STRING = {
	.parse = string_parse,
	.expected = string_expected,
	.dump = string_dump,
	.same = string_same,
	.copy = string_copy,
	.fini = string_fini,
};

const struct config_type config_type_NAME = {
	.parse = name_parse,
	.expected = name_expected,
	.dump = string_dump,
	.same = string_same,
	.copy = string_copy,
	.fini = string_fini,
};

const struct config_type config_type_WORD = {
	.parse = word_parse,
	.expected = word_expected,
	.dump = string_dump,
	.same = string_same,
	.copy = string_copy,
	.fini = string_fini,
};

const struct config_type config_type_ADDRESS = {
	.parse = address_parse,
	.expected = address_expected,
	.dump = string_dump,
	.same = string_same,
	.copy = string_copy,
	.fini = string_fini,
};

const struct config_type config_type_SECRET = {
	.is_secret = true,
	.parse = secret_parse,
	.expected = string_expected,
	.dump = secret_dump,
	.same = string_same,
	.copy = string_copy,
	.fini = secret_fini,
};

/* --- From a node */

static bool
set_scalar(const struct config_field *field, const struct config_node *node,
    void *slot, struct config_faults *faults)
{
	const struct config_type *type = field->type;
	char expected[CONFIG_EXPECTED_SIZE];
	char quoted[CONFIG_QUOTE_SIZE];
	const char *why;

	type->expected(field, expected, sizeof(expected));
	if (type->unquoted && config_node_is_empty(node)) {
		config_node_fault(
		    node, faults, "has no value, expected %s", expected);
		return false;
	}
	if (type->unquoted && node->quoted)
		why = "is in quotes";
	else
		why = type->parse(field, node->text, slot);
	if (why == NULL)
		return true;
	config_node_fault(node, faults, "%s %s, expected %s",
	    type->is_secret ? "the value" : config_quote(quoted, node->text),
	    why, expected);
	return false;
}

bool
config_value_set(const struct config_field *field,
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	enum config_node_kind kind =
	    field->type->is_list ? CONFIG_NODE_LIST : CONFIG_NODE_SCALAR;
	char expected[CONFIG_EXPECTED_SIZE];

	if (node->refused)
		return false;
	if (node->kind == kind && field->type->is_list)
		return field->type->parse_list(field, node, slot, faults);
	if (node->kind == kind)
		return set_scalar(field, node, slot, faults);
	field->type->expected(field, expected, sizeof(expected));
	config_node_fault(node, faults, "is %s, expected %s",
	    config_node_kind_name(node), expected);
	return false;
}
