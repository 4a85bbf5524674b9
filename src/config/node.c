/*
 * Turns libyaml's events into a tree.  Owns the tree while it grows; knows no
 * setting, opens no file.
 *
 *	text -> libyaml events -> handlers[] -> builder.top -> tree
 *
 * The event interface is used, not libyaml's document loader: that one
 * expands nothing but checks nothing either, and is slow on hostile input.
 * There is no recursion: `top` is the innermost open list or mapping, and
 * its parents lead back to the root.
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include "config/node.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/xmalloc.h"
#include "config/faults.h"

/*
 * The state of one parse, on the stack of config_node_parse().
 */
struct builder {
	struct config_faults *faults;
	struct config_node *root;
	struct config_node *top; /* innermost open list or mapping, or NULL */
	int depth;		 /* of top: the root has 1 */
	size_t count;		 /* nodes so far */
	int documents;
	char *key; /* read, its value still to come; owned */
	int key_line;
	int key_column;
	bool key_refused;
	bool failed; /* the rest can't be understood: stop */
	bool ended;  /* the end of the text was seen */
};

typedef void handler(struct builder *b, const yaml_event_t *event);

static int
line_of(yaml_mark_t mark)
{
	return (int)mark.line + 1;
}

static int
column_of(yaml_mark_t mark)
{
	return (int)mark.column + 1;
}

bool
config_node_is_empty(const struct config_node *node)
{
	return node->kind == CONFIG_NODE_SCALAR && !node->quoted &&
	       node->text[0] == '\0';
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
 * Puts one key before the path in buf.  Keys come from the file: what could
 * not stand in one line of a terminal is shown quoted.
 */
static void
path_prepend(char buf[CONFIG_PATH_SIZE], const char *key)
{
	char quoted[CONFIG_QUOTE_SIZE];
	char rest[CONFIG_PATH_SIZE];
	bool plain = key[0] != '\0' && strlen(key) <= 40;

	for (const char *p = key; *p != '\0'; p++)
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

static void __attribute__((format(printf, 5, 0)))
fault_at(const struct config_node *node, struct config_faults *faults, int line,
    int column, const char *fmt, va_list args)
{
	char path[CONFIG_PATH_SIZE];
	char text[512];

	vsnprintf(text, sizeof(text), fmt, args);
	config_faults_at(
	    faults, line, column, config_node_path(node, path), "%s", text);
}

void
config_node_fault(const struct config_node *node, struct config_faults *faults,
    const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fault_at(node, faults, node->line, node->column, fmt, args);
	va_end(args);
}

void
config_node_fault_key(const struct config_node *node,
    struct config_faults *faults, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	fault_at(node, faults, node->key_line, node->key_column, fmt, args);
	va_end(args);
}

/* Frees leaves first, climbing by the parents: no recursion. */
void
config_node_free(struct config_node *root)
{
	struct config_node *node = root;

	while (node != NULL) {
		struct config_node *child = node->first;
		struct config_node *parent = node->parent;

		if (child != NULL) {
			node->first = child->next;
			node = child;
			continue;
		}
		free(node->key);
		free(node->text);
		free(node);
		node = parent;
	}
}

/* A fault where no node stands, after which nothing can be understood. */
static void
fail(struct builder *b, yaml_mark_t mark, const char *what)
{
	char path[CONFIG_PATH_SIZE];

	config_faults_at(b->faults, line_of(mark), column_of(mark),
	    config_node_path(b->top, path), "%s", what);
	b->failed = true;
}

static bool
wants_key(const struct builder *b)
{
	return b->top != NULL && b->top->kind == CONFIG_NODE_MAPPING &&
	       b->key == NULL;
}

static void
set_key(struct builder *b, const char *text, yaml_mark_t mark)
{
	assert(b->key == NULL);
	b->key = xstrdup(text);
	b->key_line = line_of(mark);
	b->key_column = column_of(mark);
	b->key_refused = false;
}

/* Two equal keys: libyaml accepts them, and the last would win silently. */
static void
check_duplicate(struct builder *b, const struct config_node *node)
{
	const struct config_node *other = b->top->first;

	while (other != node && strcmp(other->key, node->key) != 0)
		other = other->next;
	if (other == node)
		return;
	config_node_fault_key(node, b->faults,
	    "given twice, expected once: it stands in line %d already",
	    other->key_line);
}

/* Makes a node under top; a mapping's takes the key that was read. */
static struct config_node *
append(struct builder *b, enum config_node_kind kind, yaml_mark_t mark)
{
	struct config_node *node = xcalloc(1, sizeof(*node));

	node->kind = kind;
	node->line = line_of(mark);
	node->column = column_of(mark);
	node->parent = b->top;
	b->count++;
	if (b->top == NULL) {
		assert(b->root == NULL);
		b->root = node;
		return node;
	}
	if (b->top->first == NULL)
		b->top->first = node;
	else
		b->top->last->next = node;
	b->top->last = node;
	b->top->count++;
	if (b->top->kind != CONFIG_NODE_MAPPING)
		return node;
	node->key = b->key;
	node->key_line = b->key_line;
	node->key_column = b->key_column;
	node->refused = b->key_refused;
	b->key = NULL;
	if (!node->refused)
		check_duplicate(b, node);
	return node;
}

static bool
has_room(struct builder *b, yaml_mark_t mark)
{
	char text[80];

	if (b->count < CONFIG_NODE_COUNT_MAX)
		return true;
	snprintf(text, sizeof(text), "too many values, expected at most %d",
	    CONFIG_NODE_COUNT_MAX);
	fail(b, mark, text);
	return false;
}

/* Anchors and tags are refused wherever they stand, but hide nothing. */
static void
check_plain_yaml(
    struct builder *b, const struct config_node *node, bool anchor, bool tag)
{
	if (anchor)
		config_node_fault(node, b->faults,
		    "has an anchor (&), expected a plain value: anchors and "
		    "aliases are refused");
	if (tag)
		config_node_fault(node, b->faults,
		    "has a tag (!), expected a plain value: tags are refused");
}

static void
on_nothing(struct builder *b, const yaml_event_t *event)
{
	(void)b;
	(void)event;
}

static void
on_stream_end(struct builder *b, const yaml_event_t *event)
{
	(void)event;
	b->ended = true;
}

/* What a second document says is not looked at; the first one still is. */
static void
on_document(struct builder *b, const yaml_event_t *event)
{
	if (b->documents++ == 0)
		return;
	fail(b, event->start_mark,
	    "a second document begins here, expected only one");
	b->failed = false;
	b->ended = true;
}

/* The key just read is no plain one: what stands under it is not looked at. */
static void
refuse_key(struct builder *b, const char *what)
{
	char path[CONFIG_PATH_SIZE];
	char quoted[CONFIG_QUOTE_SIZE];

	b->key_refused = true;
	config_faults_at(b->faults, b->key_line, b->key_column,
	    config_node_path(b->top, path),
	    "the key %s %s, expected a plain key: anchors, aliases and tags "
	    "are refused",
	    config_quote(quoted, b->key), what);
}

static void
on_key(struct builder *b, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;

	if (strlen(text) != event->data.scalar.length) {
		fail(b, event->start_mark,
		    "a key with a NUL character in it, expected the name of a "
		    "setting");
		return;
	}
	set_key(b, text, event->start_mark);
	if (event->data.scalar.anchor != NULL || event->data.scalar.tag != NULL)
		refuse_key(b, "has an anchor (&) or a tag (!)");
}

static void
on_scalar(struct builder *b, const yaml_event_t *event)
{
	const char *text = (const char *)event->data.scalar.value;
	bool plain = event->data.scalar.style == YAML_PLAIN_SCALAR_STYLE;
	struct config_node *node;

	if (wants_key(b)) {
		on_key(b, event);
		return;
	}
	if (!has_room(b, event->start_mark))
		return;
	node = append(b, CONFIG_NODE_SCALAR, event->start_mark);
	node->text = xstrdup(text);
	node->quoted = !plain;
	/* The tag `!` alone shows only as a plain scalar that isn't one. */
	check_plain_yaml(b, node, event->data.scalar.anchor != NULL,
	    event->data.scalar.tag != NULL ||
		(plain && !event->data.scalar.plain_implicit));
	if (strlen(text) == event->data.scalar.length)
		return;
	config_node_fault(node, b->faults,
	    "has a NUL character in it, expected text without");
	node->refused = true;
}

static void
on_alias(struct builder *b, const yaml_event_t *event)
{
	const char *name = (const char *)event->data.alias.anchor;
	struct config_node *node;

	if (wants_key(b)) {
		set_key(b, name, event->start_mark);
		refuse_key(b, "is an alias (*)");
		return;
	}
	if (!has_room(b, event->start_mark))
		return;
	node = append(b, CONFIG_NODE_SCALAR, event->start_mark);
	node->text = xstrdup("");
	node->refused = true;
	config_node_fault(node, b->faults,
	    "is an alias (*), expected a plain value: anchors and aliases are "
	    "refused");
}

static void
open_container(struct builder *b, const yaml_event_t *event,
    enum config_node_kind kind, bool anchor, bool tag)
{
	char text[80];

	if (wants_key(b)) {
		fail(b, event->start_mark,
		    "a list or mapping as a key, expected the name of a "
		    "setting");
		return;
	}
	if (b->depth == CONFIG_NODE_DEPTH_MAX) {
		snprintf(text, sizeof(text),
		    "nested too deeply, expected at most %d levels",
		    CONFIG_NODE_DEPTH_MAX);
		fail(b, event->start_mark, text);
		return;
	}
	if (!has_room(b, event->start_mark))
		return;
	b->top = append(b, kind, event->start_mark);
	b->depth++;
	check_plain_yaml(b, b->top, anchor, tag);
}

static void
on_list(struct builder *b, const yaml_event_t *event)
{
	open_container(b, event, CONFIG_NODE_LIST,
	    event->data.sequence_start.anchor != NULL,
	    event->data.sequence_start.tag != NULL);
}

static void
on_mapping(struct builder *b, const yaml_event_t *event)
{
	open_container(b, event, CONFIG_NODE_MAPPING,
	    event->data.mapping_start.anchor != NULL,
	    event->data.mapping_start.tag != NULL);
}

static void
on_close(struct builder *b, const yaml_event_t *event)
{
	(void)event;
	assert(b->top != NULL && b->key == NULL);
	b->top = b->top->parent;
	b->depth--;
}

static handler *const handlers[] = {
	[YAML_NO_EVENT] = on_nothing,
	[YAML_STREAM_START_EVENT] = on_nothing,
	[YAML_STREAM_END_EVENT] = on_stream_end,
	[YAML_DOCUMENT_START_EVENT] = on_document,
	[YAML_DOCUMENT_END_EVENT] = on_nothing,
	[YAML_ALIAS_EVENT] = on_alias,
	[YAML_SCALAR_EVENT] = on_scalar,
	[YAML_SEQUENCE_START_EVENT] = on_list,
	[YAML_SEQUENCE_END_EVENT] = on_close,
	[YAML_MAPPING_START_EVENT] = on_mapping,
	[YAML_MAPPING_END_EVENT] = on_close,
};

/* libyaml gives the bytes of a bad character no line: count them. */
static void
fault_reader(struct builder *b, const yaml_parser_t *parser, const char *text,
    size_t length)
{
	size_t end =
	    parser->problem_offset < length ? parser->problem_offset : length;
	int line = 1;
	int column = 1;

	for (size_t i = 0; i < end; i++) {
		column++;
		if (text[i] == '\n') {
			line++;
			column = 1;
		}
	}
	config_faults_at(b->faults, line, column, "syntax",
	    "%s, expected UTF-8 text", parser->problem);
}

static void
fault_syntax(struct builder *b, const yaml_parser_t *parser, const char *text,
    size_t length)
{
	const char *context = parser->context;

	b->failed = true;
	if (parser->error == YAML_READER_ERROR) {
		fault_reader(b, parser, text, length);
		return;
	}
	config_faults_at(b->faults, line_of(parser->problem_mark),
	    column_of(parser->problem_mark), "syntax",
	    "%s%s%s, expected valid YAML",
	    parser->problem == NULL ? "not understood" : parser->problem,
	    context == NULL ? "" : " ", context == NULL ? "" : context);
}

static void
build(struct builder *b, yaml_parser_t *parser, const char *text, size_t length)
{
	yaml_event_t event;

	while (!b->failed && !b->ended) {
		if (!yaml_parser_parse(parser, &event)) {
			fault_syntax(b, parser, text, length);
			return;
		}
		assert(event.type < sizeof(handlers) / sizeof(handlers[0]));
		handlers[event.type](b, &event);
		yaml_event_delete(&event);
	}
}

bool
config_node_parse(struct config_node **root, const char *text, size_t length,
    struct config_faults *faults)
{
	struct builder b = { .faults = faults };
	yaml_parser_t parser;

	*root = NULL;
	if (length > CONFIG_NODE_TEXT_MAX) {
		config_faults_add(faults,
		    "larger than %d KB, which is the "
		    "most a configuration may have",
		    CONFIG_NODE_TEXT_MAX / 1024);
		return false;
	}
	if (!yaml_parser_initialize(&parser))
		abort(); /* out of memory, as in xmalloc() */
	yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(
	    &parser, (const unsigned char *)text, length);
	build(&b, &parser, text, length);
	yaml_parser_delete(&parser);
	free(b.key);
	*root = b.root;
	return !b.failed;
}
