/*
 * The types of settings that are single values.  This file owns nothing: values
 * live in struct config.  Lists are in lists.c.
 *
 * A value is stored as a number (also a choice, and true or false) or as a
 * text; this alone decides how it is compared, copied and freed.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/parse.h"
#include "base/xmalloc.h"
#include "config/faults.h"
#include "config/fields.h"
#include "config/node.h"
#include "config/values.h"

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

static void
number_format(char buf[CONFIG_NUMBER_SIZE], int64_t value)
{
	snprintf(buf, CONFIG_NUMBER_SIZE, "%" PRId64, value);
}

/* Writes it in the largest unit without a remainder; 0 needs no unit. */
static void
size_format(char buf[CONFIG_NUMBER_SIZE], int64_t value)
{
	const struct size_unit *unit = size_units;

	while (value % unit->factor != 0)
		unit++;
	snprintf(buf, CONFIG_NUMBER_SIZE, "%" PRId64 "%s", value / unit->factor,
	    value == 0 ? "" : unit->name);
}

static const char *
in_range(const struct config_field *field, int64_t value)
{
	return value < field->min || value > field->max ? OUT_OF_RANGE : NULL;
}

static const char *
bool_parse(const struct config_field *field, const char *text, int64_t *value)
{
	(void)field;
	*value = strcmp(text, "true") == 0;
	return *value || strcmp(text, "false") == 0
		   ? NULL
		   : "is neither true nor false";
}

static const char *
number_parse(const struct config_field *field, const char *text, int64_t *value)
{
	uint64_t number;

	if (text[strspn(text, DIGITS)] != '\0' || text[0] == '\0')
		return "is not a whole number";
	if (text[0] == '0' && text[1] != '\0')
		return "begins with a zero";
	if (!parse_number(text, strlen(text), UINT32_MAX, &number))
		return OUT_OF_RANGE;
	*value = (int64_t)number;
	return in_range(field, *value);
}

static const char *
duration_parse(
    const struct config_field *field, const char *text, int64_t *value)
{
	if (!parse_duration(text, strlen(text), value))
		return parse_duration_why(text, strlen(text));
	return in_range(field, *value);
}

static const char *
size_parse(const struct config_field *field, const char *text, int64_t *value)
{
	size_t digits = strspn(text, DIGITS), i = 0;
	const char *unit = text + digits;
	uint64_t count;

	if (digits == 0)
		return "is not a size";
	if (text[0] == '0' && digits > 1)
		return "begins with a zero";
	if (unit[0] == '\0' && strcmp(text, "0") != 0 && !field->type->is_bare)
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
	return in_range(field, *value);
}

static const char *
choice_parse(const struct config_field *field, const char *text, int64_t *value)
{
	*value = 0;
	while (field->choices[*value] != NULL &&
	       strcmp(field->choices[*value], text) != 0)
		(*value)++;
	return field->choices[*value] == NULL ? "is unknown" : NULL;
}

/* An unsigned also stores the enum of a choice, because gcc makes it one. */
_Static_assert(sizeof(enum config_field_id) == sizeof(unsigned),
    "an enum must be as large as unsigned");

static int64_t
load(const struct config_type *type, const void *slot)
{
	int64_t large;
	unsigned small;

	if (type->size == sizeof(bool))
		return *(const bool *)slot;
	if (type->size == sizeof(large)) {
		memcpy(&large, slot, sizeof(large));
		return large;
	}
	memcpy(&small, slot, sizeof(small));
	return small;
}

static void
store(const struct config_type *type, void *slot, int64_t value)
{
	unsigned small = (unsigned)value;

	if (type->size == sizeof(bool))
		*(bool *)slot = value != 0;
	else if (type->size == sizeof(small))
		memcpy(slot, &small, sizeof(small));
	else
		memcpy(slot, &value, sizeof(value));
}

/* Text. */

/* Has it control characters of ASCII, or of Latin-1 (C2 80 to C2 9F)? */
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
secret_check(const struct config_field *field, const char *text)
{
	size_t n = strlen(text);

	if (n == 0 && field->min > 0)
		return "is empty";
	return in_range(field, (int64_t)n) != NULL ? "is too long" : NULL;
}

static const char *
string_check(const struct config_field *field, const char *text)
{
	return has_control(text) ? "has a control character in it"
				 : secret_check(field, text);
}

static const char *
word_check(const struct config_field *field, const char *text)
{
	return strchr(text, ' ') != NULL ? "has a space in it"
					 : string_check(field, text);
}

static const char *
name_check(const struct config_field *field, const char *text)
{
	return text[strspn(text, CONFIG_NAME_CHARACTERS)] != '\0'
		   ? "has a character that is not allowed"
		   : string_check(field, text);
}

static const char *
address_check(const struct config_field *field, const char *text)
{
	struct address address = { 0 };
	const char *why = NULL;

	(void)field;
	if (text[0] != '\0')
		why = address_parse_tcp(&address, text, ADDRESS_PORT_GIVEN);
	address_fini(&address);
	return why;
}

/* Decodes one character and moves *p past it; a stray byte is Latin-1. */
static uint32_t
next_character(const unsigned char **p)
{
	const unsigned char *s = *p;
	int more = s[0] >= 0xf0 ? 3 : s[0] >= 0xe0 ? 2 : s[0] >= 0xc0 ? 1 : 0;
	uint32_t c = more == 0 ? s[0] : s[0] & (0x3fu >> more);
	int i;

	*p = s + 1;
	for (i = 1; i <= more; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return s[0];
		c = c << 6 | (s[i] & 0x3f);
	}
	*p = s + 1 + more;
	return c;
}

/*
 * Characters that YAML would refuse, or take for the end of a line: U+0085,
 * U+2028 and U+2029 are line breaks to it.
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

/* The rows. */

const struct config_type config_type_BOOL = {
	.unquoted = true,
	.size = sizeof(bool),
	.parse = bool_parse,
	.expected = "true or false",
};

const struct config_type config_type_NUMBER = {
	.unquoted = true,
	.size = sizeof(unsigned),
	.parse = number_parse,
	.format = number_format,
	.expected = "a number from < to >",
};

const struct config_type config_type_DURATION = {
	.size = sizeof(int64_t),
	.parse = duration_parse,
	.format = parse_duration_text,
	.expected = "a duration such as 30s or 500ms, from < to >",
};

const struct config_type config_type_SIZE = {
	.size = sizeof(size_t),
	.parse = size_parse,
	.format = size_format,
	.expected = "a size such as 64KB or 1MB, from < to >",
};

const struct config_type config_type_BYTES = {
	.is_bare = true,
	.size = sizeof(size_t),
	.parse = size_parse,
	.format = size_format,
	.expected = "a number of bytes or a size such as 4KB, from < to >",
};

const struct config_type config_type_CHOICE = {
	.size = sizeof(unsigned),
	.parse = choice_parse,
};

const struct config_type config_type_STRING = {
	.check = string_check,
	.expected = "text of < to > bytes",
};

const struct config_type config_type_NAME = {
	.check = name_check,
	.expected = "at most > letters, digits, '.', '_' and '-'",
};

const struct config_type config_type_WORD = {
	.check = word_check,
	.expected = "at most > bytes of text without spaces",
};

const struct config_type config_type_ADDRESS = {
	.check = address_check,
	.expected = "HOST:PORT or [V6]:PORT",
};

const struct config_type config_type_SECRET = {
	.is_secret = true,
	.check = secret_check,
	.expected = "text of < to > bytes",
};

/* Operations on values of any type. */

bool
config_value_same(
    const struct config_field *field, const void *a, const void *b)
{
	const struct config_type *type = field->type;

	if (type->is_list)
		return type->same(a, b);
	if (type->size > 0)
		return memcmp(a, b, type->size) == 0;
	return strcmp(*(char *const *)a, *(char *const *)b) == 0;
}

void
config_value_clear(const struct config_field *field, void *slot)
{
	char **text = slot;

	if (field->type->is_list)
		field->type->fini(slot);
	if (field->type->is_list || field->type->size > 0 || *text == NULL)
		return;
	explicit_bzero(*text, strlen(*text));
	free(*text);
	*text = NULL;
}

/* Bytes may be swapped because nothing in a mapping points into it. */
static void
swap(unsigned char *a, unsigned char *b, size_t n)
{
	for (; n > 0; n--, a++, b++) {
		unsigned char byte = *a;

		*a = *b;
		*b = byte;
	}
}

void
config_value_take(const struct config_field *field, void *to, void *from)
{
	assert(!field->type->is_list || field->type->size > 0);
	if (field->type->is_list) {
		swap(to, from, field->type->size);
		return;
	}
	config_value_clear(field, to);
	if (field->type->size > 0)
		memcpy(to, from, field->type->size);
	else
		*(char **)to = xstrdup(*(char *const *)from);
}

void
config_value_dump(const struct config_field *field, const void *slot, FILE *out)
{
	const struct config_type *type = field->type;
	char text[CONFIG_NUMBER_SIZE];

	if (type->is_list) {
		type->dump(slot, out);
		return;
	}
	if (type->size == 0) {
		/* config_dump() comments out a secret, which it can't show. */
		assert(!type->is_secret || **(char *const *)slot == '\0');
		config_value_write_quoted(*(char *const *)slot, out);
	} else if (type == &config_type_BOOL) {
		fputs(load(type, slot) != 0 ? "true" : "false", out);
	} else if (type == &config_type_CHOICE) {
		fputs(field->choices[load(type, slot)], out);
	} else if (type->is_bare) {
		fprintf(out, "%" PRId64, load(type, slot));
	} else {
		type->format(text, load(type, slot));
		fputs(text, out);
	}
	fputc('\n', out);
}

/* Reading from a node. */

/* "debug, info or error" */
static void
list_choices(const char *const *choices, FILE *out)
{
	size_t i;

	for (i = 0; choices[i] != NULL; i++) {
		if (i > 0)
			fputs(choices[i + 1] == NULL ? " or " : ", ", out);
		fputs(choices[i], out);
	}
}

/* Writes what the value should be, with the bounds in place of < and >. */
static void
expected(const struct config_field *field, char text[CONFIG_EXPECTED_SIZE])
{
	const struct config_type *type = field->type;
	FILE *out = fmemopen(text, CONFIG_EXPECTED_SIZE, "w");
	char number[CONFIG_NUMBER_SIZE];
	const char *p;

	if (out == NULL)
		abort();
	if (type->expected == NULL)
		list_choices(field->choices, out);
	for (p = type->expected; p != NULL && *p != '\0'; p++) {
		if (*p != '<' && *p != '>') {
			fputc(*p, out);
			continue;
		}
		(type->format == NULL ? number_format : type->format)(
		    number, *p == '<' ? field->min : field->max);
		fputs(number, out);
	}
	fclose(out);
}

static const char *
set_scalar(const struct config_field *field, const struct config_node *node,
    void *slot)
{
	const struct config_type *type = field->type;
	const char *why;
	int64_t value;

	if (type->unquoted && node->quoted)
		return "is in quotes";
	if (type->size > 0)
		why = type->parse(field, node->text, &value);
	else
		why = type->check(field, node->text);
	if (why != NULL)
		return why;
	if (type->size > 0)
		store(type, slot, value);
	else
		*(char **)slot = xstrdup(node->text);
	return NULL;
}

static bool
fault(const struct config_field *field, const struct config_node *node,
    const char *subject, const char *why, struct config_faults *faults)
{
	char text[CONFIG_EXPECTED_SIZE];

	expected(field, text);
	config_node_fault(
	    node, faults, "%s %s, expected %s", subject, why, text);
	return false;
}

static enum config_node_kind
kind_of(const struct config_type *type)
{
	if (type->is_mapping)
		return CONFIG_NODE_MAPPING;
	return type->is_list ? CONFIG_NODE_LIST : CONFIG_NODE_SCALAR;
}

bool
config_value_set(const struct config_field *field,
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	const struct config_type *type = field->type;
	char quoted[CONFIG_QUOTE_SIZE];
	const char *why;

	if (node->refused)
		return false;
	if (node->kind != kind_of(type))
		return fault(
		    field, node, "is", config_node_kind_name(node), faults);
	if (type->is_list)
		return type->parse_list(node, slot, faults);
	if (type->unquoted && config_node_is_empty(node))
		return fault(field, node, "has", "no value", faults);
	why = set_scalar(field, node, slot);
	if (why == NULL)
		return true;
	return fault(field, node,
	    type->is_secret ? "the value" : config_quote(quoted, node->text),
	    why, faults);
}
