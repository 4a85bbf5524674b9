/*
 * Turns libyaml's events into a tree.  It owns the tree while it is being
 * built; it knows no setting and opens no file.
 *
 *	text -> libyaml events -> builder.top -> tree
 *
 * It uses libyaml's events, because libyaml's document loader forgets anchors
 * and tags, and does not check the depth.  There is no recursion: `top` is the
 * innermost open list or mapping, and its parents lead back to the root.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/xmalloc.h"
#include "config/faults.h"
#include "config/node.h"

/*
 * The state of one parse, on the stack of config_node_parse().
 */
struct builder {
	struct config_faults *faults;
	struct config_node *root;
	struct config_node *top; /* innermost open list or mapping, or NULL */
	struct config_node *due; /* has its key, but no value yet */
	int depth;		 /* of top: 1 for the root */
	bool failed;		 /* stop: the rest cannot be parsed */
	bool ended;		 /* the end of the text was reached */
};

static struct config_mark
mark_of(yaml_mark_t mark)
{
	return (struct config_mark){ (int)mark.line + 1, (int)mark.column + 1 };
}

bool
config_node_is_empty(const struct config_node *node)
{
	return node->kind == CONFIG_NODE_SCALAR && !node->quoted &&
	       (node->text[0] == '\0' || node->null);
}

const struct config_node *
config_node_child(const struct config_node *node, const char *key)
{
	const struct config_node *n = node->first;

	while (n != NULL && (n->null || strcmp(n->key, key) != 0))
		n = n->next;
	return n;
}

const char *
config_node_kind_name(const struct config_node *node)
{
	static const char *const names[] = {
		[CONFIG_NODE_SCALAR] = "a single value",
		[CONFIG_NODE_LIST] = "a list",
		[CONFIG_NODE_MAPPING] = "a mapping",
	};

	return names[node->kind];
}

/*
 * Puts one key before the path in buf.  Keys come from the file, so a key that
 * does not fit into one line of a terminal is shown quoted.
 */
static void
path_prepend(char buf[CONFIG_PATH_SIZE], const char *key)
{
	char quoted[CONFIG_QUOTE_SIZE];
	char rest[CONFIG_PATH_SIZE];
	bool plain = key[0] != '\0' && strlen(key) <= 40;
	const char *p;

	for (p = key; *p != '\0'; p++)
		if ((unsigned char)*p <= ' ' || *p == 0x7f)
			plain = false;
	snprintf(rest, sizeof(rest), "%s", buf);
	snprintf(buf, CONFIG_PATH_SIZE, "%.190s%s%.64s",
	    plain ? key : config_quote(quoted, key), rest[0] == '\0' ? "" : ".",
	    rest);
}

const char *
config_node_path(const struct config_node *node, char buf[CONFIG_PATH_SIZE])
{
	buf[0] = '\0';
	for (; node != NULL; node = node->parent)
		if (node->key != NULL)
			path_prepend(buf, node->key);
	if (buf[0] == '\0')
		snprintf(buf, CONFIG_PATH_SIZE, "(top)");
	return buf;
}

struct config_node *
config_node_new(struct config_node **root, struct config_node *parent,
    struct config_faults *faults)
{
	struct config_node *node = xcalloc(1, sizeof(*node));

	node->faults = faults;
	node->parent = parent;
	if (*root == NULL) {
		*root = node;
		return node;
	}
	node->chain = (*root)->chain;
	(*root)->chain = node;
	if (parent->first == NULL)
		parent->first = node;
	else
		parent->last->next = node;
	parent->last = node;
	parent->count++;
	return node;
}

void
config_node_free(struct config_node *root)
{
	while (root != NULL) {
		struct config_node *node = root;

		root = node->chain;
		free(node->key);
		free(node->text);
		free(node);
	}
}

/* Adds a fault where there is no node yet, to the innermost open one. */
static void
fault_inside(struct builder *b, yaml_mark_t mark, const char *what)
{
	char path[CONFIG_PATH_SIZE];

	config_faults_at(b->faults, mark_of(mark),
	    config_node_path(b->top, path), "%s", what);
}

/* The same for a fault after which nothing can be parsed. */
static void
fail(struct builder *b, yaml_mark_t mark, const char *what)
{
	fault_inside(b, mark, what);
	b->failed = true;
}

/*
 * Returns what makes an event invalid anywhere, or NULL.  All members of the
 * union that come here begin with an anchor, followed by a tag, except an
 * alias.
 */
static const char *
not_plain(const yaml_event_t *event)
{
	if (event->type == YAML_ALIAS_EVENT)
		return "is an alias (*), expected a plain value: anchors and "
		       "aliases are refused";
	if (event->data.scalar.anchor != NULL)
		return "has an anchor (&), expected a plain value: anchors and "
		       "aliases are refused";
	/* The tag `!`, which libyaml hides: a plain scalar that is not plain */
	if (event->data.scalar.tag != NULL ||
	    (event->type == YAML_SCALAR_EVENT &&
		event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
		!event->data.scalar.plain_implicit))
		return "has a tag (!), expected a plain value: tags are "
		       "refused";
	return NULL;
}

static void
take_key(struct builder *b, const yaml_event_t *event)
{
	const char *fault = not_plain(event);

	if (event->type != YAML_SCALAR_EVENT) {
		fail(b, event->start_mark,
		    "a list, mapping or alias as a key, expected the name of a "
		    "setting");
		return;
	}
	b->due = config_node_new(&b->root, b->top, b->faults);
	b->due->key = xstrdup((const char *)event->data.scalar.value);
	b->due->key_at = mark_of(event->start_mark);
	if (strlen(b->due->key) != event->data.scalar.length)
		fail(b, event->start_mark,
		    "a key with a NUL character, expected the name "
		    "of a setting");
	else if (fault != NULL)
		fault_inside(b, event->start_mark, fault);
}

/* Two equal keys: libyaml accepts them, and the last would silently win. */
static void
check_duplicate(const struct builder *b, const struct config_node *node)
{
	const struct config_node *other = b->top->first;

	while (strcmp(other->key, node->key) != 0)
		other = other->next;
	if (other != node)
		config_node_fault_key(node, "given twice: first set on line %d",
		    other->key_at.line);
}

/* The words of YAML's core schema; an empty value has a meaning of its own. */
static bool
is_null(const char *text)
{
	static const char *const words[] = { "~", "null", "Null", "NULL" };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

static void
set_text(struct config_node *node, const yaml_event_t *event)
{
	if (event->type != YAML_SCALAR_EVENT) {
		node->text = xstrdup("");
		node->refused = true;
		return;
	}
	node->text = xstrdup((const char *)event->data.scalar.value);
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	node->null = !node->quoted && is_null(node->text);
	node->refused = strlen(node->text) != event->data.scalar.length;
	if (node->refused)
		config_node_fault(
		    node, "contains a NUL character, expected text without");
}

/* Later nodes go under this one unless it is a text. */
static void
take_value(struct builder *b, const yaml_event_t *event)
{
	struct config_node *node =
	    b->due != NULL ? b->due
			   : config_node_new(&b->root, b->top, b->faults);
	const char *fault = not_plain(event);

	b->due = NULL;
	node->at = mark_of(event->start_mark);
	if (node->key != NULL)
		check_duplicate(b, node);
	if (fault != NULL)
		config_node_fault(node, "%s", fault);
	if (event->type == YAML_SCALAR_EVENT ||
	    event->type == YAML_ALIAS_EVENT) {
		set_text(node, event); /* kind: a scalar */
		return;
	}
	node->kind = event->type == YAML_SEQUENCE_START_EVENT
			 ? CONFIG_NODE_LIST
			 : CONFIG_NODE_MAPPING;
	b->top = node;
	if (++b->depth > CONFIG_NODE_DEPTH_MAX)
		fail(b, event->start_mark,
		    "nested too deeply, expected at most 8 levels");
}

static void
take(struct builder *b, const yaml_event_t *event)
{
	switch (event->type) {
	case YAML_STREAM_END_EVENT:
		b->ended = true;
		break;
	case YAML_DOCUMENT_START_EVENT:
		b->ended = b->root != NULL;
		if (b->ended)
			fault_inside(b, event->start_mark,
			    "a second document begins here, expected only "
			    "one");
		break;
	case YAML_SEQUENCE_END_EVENT:
	case YAML_MAPPING_END_EVENT:
		b->top = b->top->parent;
		b->depth--;
		break;
	case YAML_ALIAS_EVENT:
	case YAML_SCALAR_EVENT:
	case YAML_SEQUENCE_START_EVENT:
	case YAML_MAPPING_START_EVENT:
		if (b->top != NULL && b->top->kind == CONFIG_NODE_MAPPING &&
		    b->due == NULL)
			take_key(b, event);
		else
			take_value(b, event);
		break;
	default:
		break;
	}
}

/* libyaml reports no line for the bytes of a bad character: count them. */
static void
fault_reader(
    const yaml_parser_t *parser, const char *text, struct config_faults *faults)
{
	struct config_mark at = { 1, 1 };
	size_t i;

	for (i = 0; i < parser->problem_offset; i++)
		at = text[i] == '\n'
			 ? (struct config_mark){ at.line + 1, 1 }
			 : (struct config_mark){ at.line, at.column + 1 };
	config_faults_at(
	    faults, at, "syntax", "%s, expected UTF-8 text", parser->problem);
}

/* Returns whether there is a tab at a place, with only spaces before it. */
static bool
is_tab_indent(const char *text, size_t length, yaml_mark_t at)
{
	const char *end = text + length;
	size_t line, column;

	for (line = 0; text != NULL && line < at.line; line++) {
		text = memchr(text, '\n', (size_t)(end - text));
		if (text != NULL)
			text++;
	}
	for (column = 0; text != NULL && text < end && column < at.column;
	     column++)
		text = *text == ' ' ? text + 1 : NULL;
	return text != NULL && text < end && *text == '\t';
}

static void
fault_syntax(const yaml_parser_t *parser, const char *text, size_t length,
    struct config_faults *faults)
{
	const char *context = parser->context;
	char begins[64] = "";

	if (parser->error == YAML_READER_ERROR) {
		fault_reader(parser, text, faults);
		return;
	}
	if (is_tab_indent(text, length, parser->problem_mark)) {
		config_faults_at(faults, mark_of(parser->problem_mark),
		    "syntax", "a tab indents the line, expected spaces");
		return;
	}
	if (context != NULL &&
	    parser->context_mark.line < parser->problem_mark.line)
		snprintf(begins, sizeof(begins), ", which begins in line %zu",
		    parser->context_mark.line + 1);
	config_faults_at(faults, mark_of(parser->problem_mark), "syntax",
	    "%s%s%s%s, expected valid YAML",
	    parser->problem == NULL ? "not understood" : parser->problem,
	    context == NULL ? "" : " ", context == NULL ? "" : context, begins);
}

bool
config_node_parse(struct config_node **root, const char *text, size_t length,
    struct config_faults *faults)
{
	struct builder b = { .faults = faults };
	yaml_parser_t parser;
	yaml_event_t event;

	*root = NULL;
	if (length > CONFIG_NODE_TEXT_MAX) {
		config_faults_add(faults,
		    "larger than %d KB, the maximum for a configuration",
		    CONFIG_NODE_TEXT_MAX / 1024);
		return false;
	}
	if (!yaml_parser_initialize(&parser))
		abort(); /* out of memory, as in xmalloc() */
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
	    &parser, (const unsigned char *)text, length);
	while (!b.failed && !b.ended) {
		if (!yaml_parser_parse(&parser, &event)) {
			fault_syntax(&parser, text, length, faults);
			b.failed = true;
			break;
		}
		take(&b, &event);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	*root = b.root;
	return !b.failed;
}
