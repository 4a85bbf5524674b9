/*
 * Operations on values of any type: reading one from a node, and comparing,
 * taking over, freeing and writing it.  This file owns nothing: values live in
 * struct config.
 *
 * Functions for lists and mappings call those for their parts, and so
 * themselves; the tables of types, which do not contain themselves, say how
 * deep.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/xmalloc.h"
#include "config/faults.h"
#include "config/fields.h"
#include "config/file.h"
#include "config/node.h"
#include "config/values.h"

/* In memory. */

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

struct config_list
config_value_list(const void *slot)
{
	struct config_list list;

	memcpy(&list, slot, sizeof(list));
	return list;
}

void *
config_value_item(
    const struct config_list *list, const struct config_field *item, size_t i)
{
	return (char *)list->v + i * item->type->size;
}

void
config_value_clear(const struct config_field *field, void *slot)
{
	const struct config_type *type = field->type;
	struct config_list list = { NULL, 0 };
	size_t i;

	if (type->kind == CONFIG_TEXT)
		config_file_free(*(char **)slot);
	if (type->kind == CONFIG_ADDRESS)
		address_fini(slot);
	if (type->kind == CONFIG_LIST)
		list = config_value_list(slot);
	for (i = 0; i < list.n; i++)
		config_value_clear(
		    type->item, config_value_item(&list, type->item, i));
	free(list.v);
	for (i = 0; i < type->nkeys; i++)
		config_value_clear(
		    &type->keys[i], (char *)slot + type->keys[i].offset);
	memset(slot, 0, type->size);
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
	if (field->type->kind >= CONFIG_LIST) {
		swap(to, from, field->type->size);
		return;
	}
	assert(field->type->kind != CONFIG_ADDRESS);
	config_value_clear(field, to);
	if (field->type->kind == CONFIG_NUMBER)
		memcpy(to, from, field->type->size);
	else
		*(char **)to = xstrdup(*(char *const *)from);
}

/* Writing. */

/*
 * Characters that JSON leaves alone, but YAML refuses or takes for the end of a
 * line.
 */
static const char *const not_yaml[][2] = {
	{ "\xe2\x80\xa8", "\\u2028" },
	{ "\xe2\x80\xa9", "\\u2029" },
	{ "\xef\xbb\xbf", "\\ufeff" },
	{ "\xef\xbf\xbe", "\\ufffe" },
	{ "\xef\xbf\xbf", "\\uffff" },
};

#define NOT_YAML (sizeof(not_yaml) / sizeof(not_yaml[0]))

/* Writes text in double quotes, escaped so that YAML reads it back. */
static void
write_quoted(const char *text, struct buf *out)
{
	const char *end = text + strlen(text);
	char escaped[JSON_ESCAPE_SIZE];
	size_t took, len, i;

	buf_addc(out, '"');
	for (; text < end; text += took) {
		took = json_escape(escaped, &len, text, (size_t)(end - text));
		for (i = 0; i < NOT_YAML; i++)
			if (took == 3 && memcmp(text, not_yaml[i][0], 3) == 0)
				break;
		if (i < NOT_YAML)
			buf_adds(out, not_yaml[i][1]);
		else
			buf_add(out, escaped, len);
	}
	buf_addc(out, '"');
}

static void
write_number(
    const struct config_field *field, const void *slot, struct buf *out)
{
	const struct config_type *type = field->type;
	char text[CONFIG_NUMBER_SIZE];

	if (type->is_bare) {
		buf_add_u64(out, (uint64_t)load(type, slot));
		return;
	}
	if (field->choices != NULL)
		snprintf(
		    text, sizeof(text), "%s", field->choices[load(type, slot)]);
	else
		type->format(text, load(type, slot));
	buf_addf(out, type->is_quoted ? "\"%s\"" : "%s", text);
}

void
config_value_write(
    const struct config_field *field, const void *slot, struct buf *out)
{
	const struct address *address = slot;
	char text[ADDRESS_SIZE];

	assert(field->type->kind < CONFIG_LIST);
	if (field->type->kind == CONFIG_NUMBER)
		write_number(field, slot, out);
	else if (field->type->kind == CONFIG_TEXT)
		write_quoted(*(char *const *)slot, out);
	else
		write_quoted(field->type->is_path
				 ? address->path
				 : address_format(address, text),
		    out);
}

static void
write_keys(const struct config_type *type, const char *value, int indent,
    bool reveal, struct buf *out)
{
	size_t i;

	for (i = 0; i < type->nkeys; i++) {
		const struct config_field *key = &type->keys[i];

		if ((key->type->is_hidden && !reveal) ||
		    (type->has != NULL && !type->has(value, key)))
			continue;
		config_value_dump(
		    key, value + key->offset, indent, reveal, out);
	}
}

/* Writes an item after "- ", which stands in place of its indentation. */
static void
write_item(const struct config_field *item, const void *value, int indent,
    bool reveal, struct buf *out)
{
	size_t start = buf_len(out);

	if (item->type->kind == CONFIG_MAPPING) {
		write_keys(item->type, value, indent + 2, reveal, out);
		memcpy(buf_data(out) + start + indent, "- ", 2);
		return;
	}
	buf_addf(out, "%*s- ", indent, "");
	config_value_write(item, value, out);
	buf_addc(out, '\n');
}

static void
write_list(const struct config_type *type, const void *slot, int indent,
    bool reveal, struct buf *out)
{
	const struct config_list list = config_value_list(slot);
	bool is_inline = type->is_inline || list.n == 0;
	size_t i;

	buf_adds(out, is_inline ? " [" : "\n");
	for (i = 0; i < list.n; i++) {
		const void *value = config_value_item(&list, type->item, i);

		if (!is_inline) {
			write_item(type->item, value, indent, reveal, out);
			continue;
		}
		buf_adds(out, i > 0 ? ", " : "");
		config_value_write(type->item, value, out);
	}
	buf_adds(out, is_inline ? "]\n" : "");
}

static bool
is_absent(const struct config_type *type, const void *slot)
{
	if (type->absent == NULL)
		return false;
	return type->kind == CONFIG_TEXT ? (*(char *const *)slot)[0] == '\0'
					 : !*(const bool *)slot;
}

void
config_value_dump(const struct config_field *field, const void *slot,
    int indent, bool reveal, struct buf *out)
{
	const struct config_type *type = field->type;
	const char *leaf = config_field_leaf(field);
	bool absent = is_absent(type, slot);

	if (absent && type->absent[0] == '\0')
		return;
	if (type->is_secret && !reveal && (*(char *const *)slot)[0] != '\0') {
		buf_addf(out,
		    "%*s# %s: \"********\" is set and not shown here; put it "
		    "in again\n",
		    indent, "", leaf);
		return;
	}
	buf_addf(out, "%*s%s:", indent, "", leaf);
	if (type->kind == CONFIG_LIST) {
		write_list(type, slot, indent + 2, reveal, out);
	} else if (type->kind < CONFIG_LIST) {
		buf_addc(out, ' ');
		config_value_write(field, slot, out);
		buf_addc(out, '\n');
	} else if (absent) {
		buf_addf(out, " # %s\n", type->absent);
	} else {
		buf_addc(out, '\n');
		write_keys(type, slot, indent + 2, reveal, out);
	}
}

/* Two values are the same if they are written the same, secrets and all. */
bool
config_value_same(
    const struct config_field *field, const void *a, const void *b)
{
	struct buf x, y;
	bool same;

	buf_init_secret(&x);
	buf_init_secret(&y);
	config_value_dump(field, a, 0, true, &x);
	config_value_dump(field, b, 0, true, &y);
	same = buf_len(&x) == buf_len(&y) &&
	       memcmp(buf_data(&x), buf_data(&y), buf_len(&x)) == 0;
	buf_fini(&x);
	buf_fini(&y);
	return same;
}

/* Reading from a node. */

/* "debug, info or error" */
static void
list_choices(const char *const *choices, struct buf *out)
{
	size_t i;

	for (i = 0; choices[i] != NULL; i++) {
		if (i > 0)
			buf_adds(out, choices[i + 1] == NULL ? " or " : ", ");
		buf_adds(out, choices[i]);
	}
}

/* Writes what the value should be, with the bounds in place of < and >. */
static void
write_expected(
    const struct config_field *field, const char *expected, struct buf *out)
{
	const struct config_type *type = field->type;
	char number[CONFIG_NUMBER_SIZE];
	const char *p;

	if (expected == NULL)
		list_choices(field->choices, out);
	for (p = expected; p != NULL && *p != '\0'; p++) {
		if (*p != '<' && *p != '>') {
			buf_addc(out, *p);
			continue;
		}
		(type->format == NULL ? config_type_NUMBER.format
				      : type->format)(
		    number, *p == '<' ? field->min : field->max);
		buf_adds(out, number);
	}
}

/* Adds "SUBJECT WHY, expected EXPECTED".  Returns false. */
static bool
fault(const struct config_field *field, const struct config_node *node,
    const char *subject, const char *why, const char *expected,
    struct config_faults *faults)
{
	struct buf text;

	buf_init(&text);
	write_expected(field, expected, &text);
	buf_addc(&text, '\0');
	config_node_fault(
	    node, faults, "%s %s, expected %s", subject, why, buf_data(&text));
	buf_fini(&text);
	return false;
}

static const char *
parse_choice(const struct config_field *field, const char *text, int64_t *value)
{
	for (*value = 0; field->choices[*value] != NULL; (*value)++)
		if (strcmp(field->choices[*value], text) == 0)
			return NULL;
	return field->type->unknown;
}

static const char *
set_number(const struct config_field *field, const char *text, void *slot)
{
	const struct config_type *type = field->type;
	int64_t value = 0;
	const char *why = field->choices != NULL
			      ? parse_choice(field, text, &value)
			      : type->parse(text, &value);

	if (why != NULL)
		return why;
	if (field->max > 0 && (value < field->min || value > field->max))
		return "is out of range";
	store(type, slot, value);
	return NULL;
}

static const char *
set_text(const struct config_field *field, const char *text, void *slot)
{
	const struct config_type *type = field->type;
	const char *why = type->check == NULL ? NULL : type->check(text);
	int64_t n = (int64_t)strlen(text);

	*(char **)slot = xstrdup(text);
	if (why != NULL || field->max == 0)
		return why;
	if (n == 0 && field->min > 0)
		return "is empty";
	return n > field->max ? "is too long" : NULL;
}

static bool
set_scalar(const struct config_field *field, const struct config_node *node,
    void *slot, struct config_faults *faults)
{
	const struct config_type *type = field->type;
	char quoted[CONFIG_QUOTE_SIZE];
	const char *why;

	if (type->is_unquoted && node->quoted)
		why = "is in quotes";
	else if (type->kind == CONFIG_NUMBER)
		why = set_number(field, node->text, slot);
	else if (type->kind == CONFIG_ADDRESS)
		why = type->parse_address(slot, node->text);
	else
		why = set_text(field, node->text, slot);
	if (why == NULL)
		return true;
	if (type->is_secret && type->expected == NULL) {
		config_node_fault(node, faults, "%s", why);
		return false;
	}
	return fault(field, node,
	    type->is_secret ? "the value" : config_quote(quoted, node->text),
	    why, type->expected, faults);
}

static bool
is_same(const struct config_type *type, const void *a, const void *b)
{
	const struct address *address = a;
	const char *const *text = a, *const *other = b;

	if (type->kind == CONFIG_MAPPING)
		type = type->keys[0].type;
	/* Port 0 is a new one each time; an address with a fault has it. */
	if (type->kind == CONFIG_ADDRESS)
		return (address->path != NULL || address->port != 0) &&
		       address_same(a, b);
	return *text != NULL && *other != NULL && strcmp(*text, *other) == 0;
}

static void
fault_twice(const struct config_type *type, const struct config_node *node,
    const void *item, struct config_faults *faults)
{
	char quoted[CONFIG_QUOTE_SIZE];

	if (node->kind != CONFIG_NODE_MAPPING)
		config_node_fault(node, faults,
		    "%s is given twice, expected each %s once",
		    config_quote(quoted, node->text), type->noun);
	else if (type->item->type->keys[0].type->kind == CONFIG_TEXT)
		config_node_fault(node, faults,
		    "the %s %s is given twice, expected it once", type->noun,
		    *(char *const *)item);
	else
		config_node_fault(node, faults,
		    "the same %s is given twice, expected it once", type->noun);
}

/* Checks that no item is there twice. */
static bool
check_twice(const struct config_type *type, const struct config_list *list,
    const struct config_node *node, struct config_faults *faults)
{
	bool ok = true;
	size_t i, k;

	for (i = 0; i < list->n; i++, node = node->next) {
		void *item = config_value_item(list, type->item, i);

		for (k = 0; k < i; k++)
			if (is_same(type->item->type, item,
				config_value_item(list, type->item, k)))
				break;
		if (k == i)
			continue;
		fault_twice(type, node, item, faults);
		ok = false;
	}
	return ok;
}

static bool
set_list(const struct config_field *field, const struct config_node *node,
    void *slot, struct config_faults *faults)
{
	const struct config_field *item = field->type->item;
	struct config_list list = { NULL, node->count };
	const struct config_node *n;
	bool ok = true;
	size_t i;

	if (field->max > 0 && node->count > (size_t)field->max) {
		config_node_fault(node, faults,
		    "has %zu %s, expected %d at most", node->count,
		    config_field_leaf(field), (int)field->max);
		return false;
	}
	list.v = xcalloc(node->count + 1, item->type->size);
	memcpy(slot, &list, sizeof(list));
	for (i = 0, n = node->first; n != NULL; i++, n = n->next)
		ok = config_value_set(
			 item, n, config_value_item(&list, item, i), faults) &&
		     ok;
	if (field->type->noun != NULL)
		ok = check_twice(field->type, &list, node->first, faults) && ok;
	return ok;
}

/* Returns the row of a key; NULL if there is none. */
static const struct config_field *
find_key(const struct config_type *type, const char *name)
{
	size_t i;

	for (i = 0; i < type->nkeys; i++)
		if (!type->keys[i].type->is_hidden &&
		    strcmp(type->keys[i].path, name) == 0)
			return &type->keys[i];
	return NULL;
}

/* Texts that are not given are "". */
static void
set_no_texts(const struct config_type *type, char *value)
{
	size_t i;

	for (i = 0; i < type->nkeys; i++)
		if (type->keys[i].type->kind == CONFIG_TEXT)
			*(char **)(value + type->keys[i].offset) = xstrdup("");
}

/* Checks that the keys are there without which the others mean nothing. */
static bool
check_required(const struct config_type *type, const struct config_node *node,
    struct config_faults *faults)
{
	const struct config_node *n;
	size_t i;

	for (i = 0; i < type->required; i++) {
		n = config_node_child(node, type->keys[i].path);
		if (n != NULL && (n->kind != CONFIG_NODE_LIST || n->count > 0))
			continue;
		config_node_fault(node, faults, "has no %s, expected %s",
		    type->keys[i].path, type->expected);
		return false;
	}
	return true;
}

static bool
set_mapping(const struct config_field *field, const struct config_node *node,
    char *value, struct config_faults *faults)
{
	const struct config_type *type = field->type;
	const struct config_field *key;
	const struct config_node *n;
	bool ok = true;

	if (type->absent != NULL)
		*(bool *)value = true;
	set_no_texts(type, value);
	for (n = node->first; n != NULL; n = n->next) {
		key = find_key(type, n->key);
		if (key == NULL)
			config_node_fault_key(
			    n, faults, "unknown key, expected %s", type->known);
		ok = key != NULL &&
		     config_value_set(key, n, value + key->offset, faults) &&
		     ok;
	}
	return ok && check_required(type, node, faults);
}

bool
config_value_set(const struct config_field *field,
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	static const enum config_node_kind kinds[] = {
		[CONFIG_NUMBER] = CONFIG_NODE_SCALAR,
		[CONFIG_TEXT] = CONFIG_NODE_SCALAR,
		[CONFIG_ADDRESS] = CONFIG_NODE_SCALAR,
		[CONFIG_LIST] = CONFIG_NODE_LIST,
		[CONFIG_MAPPING] = CONFIG_NODE_MAPPING,
	};
	const struct config_type *type = field->type;
	const char *shape = type->shape == NULL ? type->expected : type->shape;
	bool ok;

	config_value_clear(field, slot);
	if (node->refused)
		return false;
	if (node->kind != kinds[type->kind] &&
	    !(type->may_be_empty && config_node_is_empty(node)))
		return fault(field, node, "is", config_node_kind_name(node),
		    shape, faults);
	if (type->is_unquoted && config_node_is_empty(node))
		return fault(field, node, "has", "no value", shape, faults);
	if (type->kind == CONFIG_LIST)
		ok = set_list(field, node, slot, faults);
	else if (type->kind == CONFIG_MAPPING)
		ok = set_mapping(field, node, slot, faults);
	else
		ok = set_scalar(field, node, slot, faults);
	return type->finish == NULL
		   ? ok
		   : type->finish(type, slot, node, ok, faults);
}
