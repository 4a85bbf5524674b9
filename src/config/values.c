/*
 * Operations on values of any type: read from a node, compare, take over, free
 * and write.  This file owns nothing: values are in struct config.
 *
 * Functions for lists and mappings call the functions for their parts, and so
 * themselves; the depth is limited by the tables of types, which do not contain
 * themselves.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/address.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/slips.h"
#include "base/small_file.h"
#include "base/xmalloc.h"
#include "config/faults.h"
#include "config/fields.h"
#include "config/node.h"

/* In memory. */

/* An unsigned also stores the enum of a choice, because gcc makes it one. */
_Static_assert(sizeof(enum config_field_id) == sizeof(unsigned),
    "an enum must be as large as unsigned");

static int64_t
load(const struct config_type *type, const void *slot)
{
	if (type->size == sizeof(bool))
		return *(const bool *)slot;
	if (type->size == sizeof(unsigned))
		return *(const unsigned *)slot;
	return *(const int64_t *)slot;
}

static void
store(const struct config_type *type, void *slot, int64_t value)
{
	if (type->size == sizeof(bool))
		*(bool *)slot = value != 0;
	else if (type->size == sizeof(unsigned))
		*(unsigned *)slot = (unsigned)value;
	else
		*(int64_t *)slot = value;
}

static struct config_list
list_in(const void *slot)
{
	struct config_list list;

	memcpy(&list, slot, sizeof(list));
	return list;
}

/* Returns the address of an item. */
static void *
item_at(
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
		small_file_wipe(*(char **)slot);
	if (type->kind == CONFIG_ADDRESS)
		address_fini(slot);
	if (type->kind == CONFIG_LIST)
		list = list_in(slot);
	for (i = 0; i < list.n; i++)
		config_value_clear(type->item, item_at(&list, type->item, i));
	free(list.v);
	for (i = 0; i < type->nkeys; i++)
		config_value_clear(
		    &type->keys[i], (char *)slot + type->keys[i].offset);
	memset(slot, 0, type->size);
}

void
config_value_take(const struct config_field *field, void *to, void *from)
{
	size_t size = field->type->size;
	void *held;

	assert(field->type->kind != CONFIG_ADDRESS);
	if (field->type->kind >= CONFIG_LIST) {
		/* A mapping contains no pointer into itself. */
		held = xmalloc(size);
		memcpy(held, to, size);
		memcpy(to, from, size);
		memcpy(from, held, size);
		free(held);
		return;
	}
	config_value_clear(field, to);
	if (field->type->kind == CONFIG_NUMBER)
		memcpy(to, from, size);
	else
		*(char **)to = xstrdup(*(char *const *)from);
}

/* Writing. */

/*
 * Characters that JSON leaves alone, but YAML refuses or takes for a line end.
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
	int64_t value = load(type, slot);
	char text[CONFIG_NUMBER_SIZE];

	if (type->is_bare)
		config_type_NUMBER.format(text, value);
	else if (field->choices == NULL)
		type->format(text, value);
	buf_addf(out, type->is_quoted ? "\"%s\"" : "%s",
	    field->choices != NULL ? field->choices[value] : text);
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

/* Writes an item after "- ", which replaces its indentation. */
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

/* Writes a list of texts in one line. */
static void
write_list(const struct config_type *type, const void *slot, int indent,
    bool reveal, struct buf *out)
{
	const struct config_list list = list_in(slot);
	bool is_inline = list.n == 0 || type->item->type->kind == CONFIG_TEXT;
	size_t i;

	buf_adds(out, is_inline ? " [" : "\n");
	for (i = 0; i < list.n; i++) {
		const void *value = item_at(&list, type->item, i);

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

/* Writes the expected value, with the bounds in place of < and >. */
static void
write_expected(
    const struct config_field *field, const char *expected, struct buf *out)
{
	void (*format)(char *, int64_t) = field->type->format;
	char number[CONFIG_NUMBER_SIZE];
	const char *p;

	if (format == NULL)
		format = config_type_NUMBER.format;
	for (; (p = strpbrk(expected, "<>")) != NULL; expected = p + 1) {
		buf_add(out, expected, (size_t)(p - expected));
		format(number, *p == '<' ? field->min : field->max);
		buf_adds(out, number);
	}
	buf_adds(out, expected);
}

/* Adds a suggestion if a value is near one of the choices. */
static void
suggest_choice(
    const char *const *choices, const struct config_node *node, struct buf *out)
{
	struct slips_nearest nearest;

	if (node->kind != CONFIG_NODE_SCALAR)
		return;
	slips_begin(&nearest, node->text);
	for (; *choices != NULL; choices++)
		(void)slips_offer(&nearest, *choices);
	if (nearest.found != NULL)
		buf_addf(out, "; did you mean %s?", nearest.found);
}

/* Adds "SUBJECT WHY, expected EXPECTED".  Returns false. */
static bool
fault(const struct config_field *field, const struct config_node *node,
    const char *subject, const char *why, const char *expected)
{
	struct buf text;

	buf_init(&text);
	if (expected == NULL) {
		list_choices(field->choices, &text);
		suggest_choice(field->choices, node, &text);
	} else {
		write_expected(field, expected, &text);
	}
	buf_addc(&text, '\0');
	config_node_fault(
	    node, "%s %s, expected %s", subject, why, buf_data(&text));
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
    void *slot)
{
	const struct config_type *type = field->type;
	char quoted[CONFIG_QUOTE_SIZE], shown[ADDRESS_SIZE];
	const char *why, *text;

	if (node->null || (type->is_unquoted && config_node_is_empty(node)))
		return fault(field, node, "has", "no value", type->expected);
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
		config_node_fault(node, "%s", why);
		return false;
	}
	text = node->text;
	if (type->kind == CONFIG_ADDRESS)
		text = address_shown(text, shown);
	return fault(field, node,
	    type->is_secret ? "the value" : config_quote(quoted, text), why,
	    type->expected);
}

static bool
is_same(const struct config_type *type, const void *a, const void *b)
{
	const struct address *address = a;
	const char *const *text = a, *const *other = b;

	if (type->kind == CONFIG_MAPPING)
		type = type->keys[0].type;
	/* Port 0 is a new one each time; an address with a fault has port 0. */
	if (type->kind == CONFIG_ADDRESS)
		return (address->path != NULL || address->port != 0) &&
		       address_same(a, b);
	return *text != NULL && *other != NULL && strcmp(*text, *other) == 0;
}

static void
fault_twice(const struct config_type *type, const struct config_node *node,
    const void *item)
{
	char quoted[CONFIG_QUOTE_SIZE];

	if (node->kind != CONFIG_NODE_MAPPING)
		config_node_fault(node,
		    "%s is given twice, expected each %s once",
		    config_quote(quoted, node->text), type->noun);
	else if (type->item->type->keys[0].type->kind == CONFIG_TEXT)
		config_node_fault(node,
		    "the %s %s is given twice, expected once", type->noun,
		    *(char *const *)item);
	else
		config_node_fault(node,
		    "the same %s is given twice, expected once", type->noun);
}

/* Checks that no item occurs twice. */
static bool
check_twice(const struct config_type *type, const struct config_list *list,
    const struct config_node *node)
{
	bool ok = true;
	size_t i, k;

	for (i = 0; i < list->n; i++, node = node->next) {
		void *item = item_at(list, type->item, i);

		for (k = 0; k < i; k++)
			if (is_same(type->item->type, item,
				item_at(list, type->item, k)))
				break;
		if (k == i)
			continue;
		fault_twice(type, node, item);
		ok = false;
	}
	return ok;
}

static bool
set_list(const struct config_field *field, const struct config_node *node,
    void *slot)
{
	const struct config_field *item = field->type->item;
	struct config_list list = { NULL, node->count };
	const struct config_node *n;
	bool ok = true;
	size_t i;

	if (field->max > 0 && node->count > (size_t)field->max) {
		config_node_fault(node, "has %zu %s, expected %d at most",
		    node->count, config_field_leaf(field), (int)field->max);
		return false;
	}
	list.v = xcalloc(node->count + 1, item->type->size);
	memcpy(slot, &list, sizeof(list));
	for (i = 0, n = node->first; n != NULL; i++, n = n->next)
		ok = config_value_set(item, n, item_at(&list, item, i)) && ok;
	if (field->type->noun != NULL)
		ok = check_twice(field->type, &list, node->first) && ok;
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

/* Checks that the required keys are given. */
static bool
check_required(const struct config_type *type, const struct config_node *node)
{
	const struct config_node *n;
	size_t i;

	for (i = 0; i < type->required; i++) {
		n = config_node_child(node, type->keys[i].path);
		if (n != NULL && (n->kind != CONFIG_NODE_LIST || n->count > 0))
			continue;
		config_node_fault(node, "has no %s, expected %s",
		    type->keys[i].path, type->expected);
		return false;
	}
	return true;
}

static void
fault_unknown(const struct config_type *type, const struct config_node *node)
{
	char path[CONFIG_PATH_SIZE];
	struct slips_nearest nearest;
	size_t i;

	slips_begin(&nearest, node->key);
	for (i = 0; i < type->nkeys; i++)
		if (!type->keys[i].type->is_hidden)
			(void)slips_offer(&nearest, type->keys[i].path);
	if (nearest.found != NULL)
		config_node_fault_key(node, "unknown key, did you mean %s.%s?",
		    config_node_path(node->parent, path), nearest.found);
	else
		config_node_fault_key(
		    node, "unknown key, expected %s", type->known);
}

static bool
set_mapping(const struct config_field *field, const struct config_node *node,
    void *slot)
{
	const struct config_type *type = field->type;
	const struct config_field *key;
	const struct config_node *n;
	char *value = slot;
	bool ok = true;
	size_t i;

	if (type->absent != NULL)
		*(bool *)slot = true;
	/* Texts that are not given become "". */
	for (i = 0; i < type->nkeys; i++)
		if (type->keys[i].type->kind == CONFIG_TEXT)
			*(char **)(value + type->keys[i].offset) = xstrdup("");
	for (n = node->first; n != NULL; n = n->next) {
		key = find_key(type, n->key);
		if (key == NULL)
			fault_unknown(type, n);
		else if (n->null)
			continue;
		ok = key != NULL &&
		     config_value_set(key, n, value + key->offset) && ok;
	}
	return ok && check_required(type, node);
}

bool
config_value_set(const struct config_field *field,
    const struct config_node *node, void *slot)
{
	static const struct {
		enum config_node_kind node;
		bool (*set)(const struct config_field *field,
		    const struct config_node *node, void *slot);
	} kinds[] = {
		[CONFIG_NUMBER] = { CONFIG_NODE_SCALAR, set_scalar },
		[CONFIG_TEXT] = { CONFIG_NODE_SCALAR, set_scalar },
		[CONFIG_ADDRESS] = { CONFIG_NODE_SCALAR, set_scalar },
		[CONFIG_LIST] = { CONFIG_NODE_LIST, set_list },
		[CONFIG_MAPPING] = { CONFIG_NODE_MAPPING, set_mapping },
	};
	const struct config_type *type = field->type;
	bool ok;

	config_value_clear(field, slot);
	if (node->refused)
		return false;
	if (node->kind != kinds[type->kind].node &&
	    !(type->may_be_empty && config_node_is_empty(node)))
		return fault(field, node, "is", config_node_kind_name(node),
		    type->shape == NULL ? type->expected : type->shape);
	ok = kinds[type->kind].set(field, node, slot);
	return type->finish == NULL ? ok : type->finish(slot, node, ok);
}
