/*
 * The type of metrics.classes: a list of classes, each with the patterns of
 * its names.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <stdlib.h>
#include <string.h>

#include "auth/pattern.h"
#include "base/limits.h"
#include "base/xmalloc.h"
#include "config/faults.h"
#include "config/node.h"
#include "config/values.h"

#define EXPECTED_CLASS "a mapping with name and names"
#define EXPECTED_NAME "up to 64 letters, digits and . _ -"
#define EXPECTED_PATTERN "a name, or the beginning of one with '*' behind it"
#define NAME_MAX_BYTES 64

static void
class_fini(struct metrics_class *class)
{
	size_t i;

	for (i = 0; i < class->n; i++)
		free(class->names[i]);
	free(class->names);
	free(class->name);
	memset(class, 0, sizeof(*class));
}

/* Names of no other class are in this one. */
static const char *
name_why(const char *text)
{
	if (text[0] == '\0')
		return "is empty";
	if (strlen(text) > NAME_MAX_BYTES)
		return "is too long";
	if (text[strspn(text, CONFIG_NAME_CHARACTERS)] != '\0')
		return "has other characters";
	return strcmp(text, "other") == 0 ? "is the class of all other names"
					  : NULL;
}

static bool
parse_name(struct metrics_class *class, const struct config_node *node,
    struct config_faults *faults)
{
	const char *why;

	if (!config_node_is(node, CONFIG_NODE_SCALAR, faults, EXPECTED_NAME))
		return false;
	why = name_why(node->text);
	if (why != NULL)
		return config_node_fault_value(
		    node, faults, why, EXPECTED_NAME);
	free(class->name);
	class->name = xstrdup(node->text);
	return true;
}

/* A pattern here can't have a user (%u), because nobody asks for the name. */
static const char *
names_why(const char *text)
{
	return strstr(text, "%u") != NULL ? "has a user in it"
					  : pattern_why(text);
}

static bool
parse_names(struct metrics_class *class, const struct config_node *node,
    struct config_faults *faults)
{
	const struct config_node *n;
	const char *why;
	bool ok = true;

	if (!config_node_is(node, CONFIG_NODE_LIST, faults, "a list of names"))
		return false;
	if (class->names != NULL)
		return false; /* given twice, which is a fault already */
	class->names = xcalloc(node->count + 1, sizeof(*class->names));
	for (n = node->first; n != NULL; n = n->next) {
		if (!config_node_is(
			n, CONFIG_NODE_SCALAR, faults, EXPECTED_PATTERN)) {
			ok = false;
			continue;
		}
		why = names_why(n->text);
		if (why != NULL)
			ok = config_node_fault_value(
			    n, faults, why, EXPECTED_PATTERN);
		class->names[class->n++] = xstrdup(n->text);
	}
	return ok;
}

static bool
parse_class(struct metrics_class *class, const struct config_node *item,
    struct config_faults *faults)
{
	const struct config_node *n;
	bool ok = true;

	for (n = item->first; n != NULL; n = n->next) {
		if (strcmp(n->key, "name") == 0) {
			ok = parse_name(class, n, faults) && ok;
		} else if (strcmp(n->key, "names") == 0) {
			ok = parse_names(class, n, faults) && ok;
		} else {
			if (!n->refused)
				config_node_fault_key(n, faults,
				    "unknown key, expected name or names");
			ok = false;
		}
	}
	return ok;
}

static bool
is_new(const struct metrics_settings *metrics, const char *name)
{
	size_t i;

	for (i = 0; i < metrics->n; i++)
		if (strcmp(metrics->v[i].name, name) == 0)
			return false;
	return true;
}

static bool
add_class(struct metrics_settings *metrics, const struct config_node *item,
    struct config_faults *faults)
{
	struct metrics_class class = { NULL, NULL, 0 };
	bool ok =
	    config_node_is(item, CONFIG_NODE_MAPPING, faults, EXPECTED_CLASS) &&
	    parse_class(&class, item, faults);

	if (ok && class.name == NULL)
		config_node_fault(
		    item, faults, "has no name, expected " EXPECTED_CLASS);
	else if (ok && class.n == 0)
		config_node_fault(
		    item, faults, "has no names, expected " EXPECTED_CLASS);
	else if (ok && !is_new(metrics, class.name))
		config_node_fault(item, faults,
		    "the class %s is given twice, expected it once",
		    class.name);
	else if (ok) {
		metrics->v[metrics->n++] = class;
		return true;
	}
	class_fini(&class);
	return false;
}

static void
classes_fini(void *slot)
{
	struct metrics_settings *metrics = slot;
	size_t i;

	for (i = 0; i < metrics->n; i++)
		class_fini(&metrics->v[i]);
	free(metrics->v);
	memset(metrics, 0, sizeof(*metrics));
}

static bool
classes_parse(
    const struct config_node *node, void *slot, struct config_faults *faults)
{
	struct metrics_settings *metrics = slot;
	const struct config_node *n;
	bool ok = true;

	if (node->count > METRICS_CLASSES_MAX) {
		config_node_fault(node, faults,
		    "has %zu classes, expected %d at most", node->count,
		    METRICS_CLASSES_MAX);
		return false;
	}
	metrics->v = xcalloc(node->count + 1, sizeof(*metrics->v));
	for (n = node->first; n != NULL; n = n->next)
		ok = add_class(metrics, n, faults) && ok;
	if (!ok)
		classes_fini(slot);
	return ok;
}

static void
classes_dump(const void *slot, FILE *out)
{
	const struct metrics_settings *metrics = slot;
	const struct metrics_class *class;
	size_t i, k;

	fputs(metrics->n == 0 ? " []\n" : "\n", out);
	for (i = 0; i < metrics->n; i++) {
		class = &metrics->v[i];
		fputs("    - name: ", out);
		config_value_write_quoted(class->name, out);
		fputs("\n      names: [", out);
		for (k = 0; k < class->n; k++) {
			fputs(k > 0 ? ", " : "", out);
			config_value_write_quoted(class->names[k], out);
		}
		fputs("]\n", out);
	}
}

static bool
class_same(const struct metrics_class *a, const struct metrics_class *b)
{
	size_t i;

	if (strcmp(a->name, b->name) != 0 || a->n != b->n)
		return false;
	for (i = 0; i < a->n; i++)
		if (strcmp(a->names[i], b->names[i]) != 0)
			return false;
	return true;
}

static bool
classes_same(const void *a, const void *b)
{
	const struct metrics_settings *one = a, *other = b;
	size_t i;

	if (one->n != other->n)
		return false;
	for (i = 0; i < one->n; i++)
		if (!class_same(&one->v[i], &other->v[i]))
			return false;
	return true;
}

const struct config_type config_type_CLASSES = {
	.is_list = true,
	.size = sizeof(struct metrics_settings),
	.expected = "a list of classes, each " EXPECTED_CLASS,
	.parse_list = classes_parse,
	.dump = classes_dump,
	.same = classes_same,
	.fini = classes_fini,
};
