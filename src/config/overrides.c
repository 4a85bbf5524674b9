/*
 * Puts settings of the command line into the tree of the file, in place of
 * those of the file, so that one loader reads, checks and refuses both.
 *
 * Their place in messages is line 0, and the column is the number of the
 * option: see config_faults_at().
 */
#include <config.h> /* not "config.h": this directory has one of its own */

#include <stdlib.h>
#include <string.h>

#include "base/span.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "config/fields.h"
#include "config/overrides.h"

/* The state of one call, on the stack of config_options_apply(). */
struct work {
	struct config_node *root;
	struct config_faults *faults;
	struct config_mark at;	    /* of the current option */
	struct config_node *listen; /* made by options; NULL: none yet */
};

static struct config_node *
make(struct work *w, struct config_node *parent, struct span key,
    enum config_node_kind kind)
{
	struct config_node *node = config_node_new(&w->root, parent, w->faults);

	node->kind = kind;
	node->at = node->key_at = w->at;
	node->key = key.p != NULL ? xstrndup(key.p, key.n) : NULL;
	return node;
}

/* A value as if it stood in quotes, where quotes are allowed. */
static void
make_text(struct work *w, struct config_node *parent, struct span key,
    struct span value, bool quoted)
{
	struct config_node *node = make(w, parent, key, CONFIG_NODE_SCALAR);

	node->text = xstrndup(value.p, value.n);
	node->quoted = quoted;
}

static struct config_node *
find(const struct config_node *parent, struct span key)
{
	struct config_node *n = parent->first;

	while (n != NULL && !span_is(key, n->key))
		n = n->next;
	return n;
}

/* Takes a key out of its mapping; the tree still owns it. */
static void
drop(struct config_node *parent, struct span key)
{
	struct config_node *gone = find(parent, key), *n, *last = NULL;

	if (gone == NULL)
		return;
	for (n = parent->first; n != NULL; n = n->next) {
		if (n == gone && last == NULL)
			parent->first = n->next;
		else if (n == gone)
			last->next = n->next;
		else
			last = n;
	}
	parent->last = last;
	parent->count--;
}

/* The mapping of a section; the file may have another kind of node there. */
static struct config_node *
section_of(struct work *w, struct span name)
{
	struct config_node *node = find(w->root, name);

	if (node != NULL && config_node_is_empty(node))
		node->kind = CONFIG_NODE_MAPPING; /* `locks:` */
	return node != NULL ? node
			    : make(w, w->root, name, CONFIG_NODE_MAPPING);
}

static void
make_list(struct work *w, struct config_node *parent, struct span key,
    struct span value)
{
	static const struct span none = { NULL, 0 };
	struct config_node *list = make(w, parent, key, CONFIG_NODE_LIST);
	const char *p = value.p, *end = p + value.n, *comma;

	for (; p < end; p = comma + 1) {
		comma = memchr(p, ',', (size_t)(end - p));
		if (comma == NULL)
			comma = end;
		make_text(w, list, none,
		    (struct span){ p, (size_t)(comma - p) }, true);
	}
}

/*
 * An address is one more listener; a key that belongs to an address applies to
 * the listener before it.
 */
static void
listen_at(
    struct work *w, struct span section, struct span key, struct span value)
{
	static const struct span none = { NULL, 0 };
	struct config_node *item;

	if (w->listen == NULL) {
		drop(w->root, section);
		w->listen = make(w, w->root, section, CONFIG_NODE_LIST);
	}
	item = w->listen->last;
	if (item == NULL || span_is(key, "tcp") || span_is(key, "tls") ||
	    span_is(key, "unix") || span_is(key, "http"))
		item = make(w, w->listen, none, CONFIG_NODE_MAPPING);
	make_text(w, item, key, value,
	    !span_is(value, "true") && !span_is(value, "false"));
}

static void
set(struct work *w, struct span section, struct span key, struct span value)
{
	struct config_node *node = section_of(w, section);
	char *name = xstrndup(section.p, section.n);
	char *leaf = xstrndup(key.p, key.n);
	const struct config_field *field = config_field_find(name, leaf);

	if (node->kind == CONFIG_NODE_MAPPING) {
		drop(node, key);
		if (field != NULL && field->type->kind == CONFIG_LIST)
			make_list(w, node, key, value);
		else
			make_text(w, node, key, value,
			    field == NULL || !field->type->is_unquoted);
	}
	free(name);
	free(leaf);
}

static void
take(struct work *w, const char *option)
{
	const char *equals = strchr(option, '=');
	size_t n = equals != NULL ? (size_t)(equals - option) : 0;
	const char *dot = memchr(option, '.', n);
	struct span section, key, value;

	if (n == 0) {
		config_faults_at(w->faults, w->at, option,
		    "has no value, expected section.key=value");
		return;
	}
	value = (struct span){ equals + 1, strlen(equals + 1) };
	if (dot == NULL) {
		key = (struct span){ option, n };
		if (span_is(key, "listen")) {
			config_faults_at(w->faults, w->at, option,
			    "is a list, expected listen.tcp=HOST:PORT,"
			    " listen.tls, listen.unix or listen.http");
			return;
		}
		drop(w->root, key);
		make_text(w, w->root, key, value, true);
		return;
	}
	section = (struct span){ option, (size_t)(dot - option) };
	key = (struct span){ dot + 1, (size_t)(equals - dot - 1) };
	if (span_is(section, "listen"))
		listen_at(w, section, key, value);
	else
		set(w, section, key, value);
}

void
config_options_apply(struct config_node **root,
    const struct config_options *options, struct config_faults *faults)
{
	static const struct span none = { NULL, 0 };
	struct work w = { .root = *root, .faults = faults };
	size_t i;

	if (options == NULL || options->n == 0)
		return;
	if (w.root == NULL)
		*root = make(&w, NULL, none, CONFIG_NODE_MAPPING);
	if (config_node_is_empty(w.root))
		w.root->kind = CONFIG_NODE_MAPPING; /* only comments */
	if (w.root->kind != CONFIG_NODE_MAPPING)
		return; /* the loader refuses the file */
	for (i = 0; i < options->n; i++) {
		w.at.column = (int)i + 1;
		take(&w, options->v[i]);
	}
}
