/*
 * A YAML text as a tree of nodes that remember their places in the text.
 *
 * The parser supports only what a configuration needs: one document of
 * mappings, lists and scalars.  Anchors, aliases, tags, duplicate keys, further
 * documents and deep nesting are faults.  It does not know the meaning of a key
 * or a value.
 */
#ifndef LOCKBROKER_CONFIG_NODE_H
#define LOCKBROKER_CONFIG_NODE_H

#include <stdbool.h>
#include <stddef.h>

#include "config/faults.h"

/* Limits of the text: libyaml needs seconds for thousands of brackets. */
#define CONFIG_NODE_TEXT_MAX (64 * 1024) /* bytes */
#define CONFIG_NODE_DEPTH_MAX 8

/* Room for a dotted path as config_node_path() writes it. */
#define CONFIG_PATH_SIZE 256

enum config_node_kind {
	CONFIG_NODE_SCALAR,
	CONFIG_NODE_LIST,
	CONFIG_NODE_MAPPING
};

/*
 * One value, with its key.  The tree owns its nodes; config_node_free() of the
 * root frees all of them.
 */
struct config_node {
	enum config_node_kind kind;
	bool quoted;		   /* a scalar in quotes, or a block of text */
	bool null;		   /* `~` or `null`, not in quotes */
	bool refused;		   /* a fault was reported: check no further */
	struct config_mark at;	   /* columns are in characters */
	struct config_mark key_at; /* of the key */
	char *key;		   /* NULL in a list and at the root */
	char *text;   /* of a scalar, without NUL inside; else NULL */
	size_t count; /* of children */
	struct config_faults *faults; /* receives the faults of this node */
	struct config_node *parent;
	struct config_node *first; /* child */
	struct config_node *last;  /* child */
	struct config_node *next;  /* sibling */
	struct config_node *chain; /* links all nodes, from the root on */
};

/*
 * Parses a text.  Returns false if it could not parse all of it; the faults say
 * why.  After a fault that leaves the rest readable (a duplicate key) it
 * continues.  An empty text sets *root = NULL.  The caller frees *root in
 * either case.
 */
bool config_node_parse(struct config_node **root, const char *text,
    size_t length, struct config_faults *faults)
    __attribute__((warn_unused_result));

/* Makes the root if *root is NULL, otherwise the last child of `parent`. */
struct config_node *config_node_new(struct config_node **root,
    struct config_node *parent, struct config_faults *faults);

void config_node_free(struct config_node *root);

/* Returns the value of a key in a mapping; NULL if there is none, or null. */
const struct config_node *config_node_child(
    const struct config_node *node, const char *key);

/* Is the value missing: only `key:`, or null? */
bool config_node_is_empty(const struct config_node *node);

/*
 * Writes "locks.lease"; items of a list have the path of the list.  Returns
 * buf.
 */
const char *config_node_path(
    const struct config_node *node, char buf[CONFIG_PATH_SIZE]);

/* Adds a fault at the value, or at the key, of a node. */
#define config_node_fault(node, ...)                                  \
	config_faults_at((node)->faults, (node)->at,                  \
	    config_node_path((node), (char[CONFIG_PATH_SIZE]){ "" }), \
	    __VA_ARGS__)
#define config_node_fault_key(node, ...)                              \
	config_faults_at((node)->faults, (node)->key_at,              \
	    config_node_path((node), (char[CONFIG_PATH_SIZE]){ "" }), \
	    __VA_ARGS__)

/* Returns "a list", "a mapping" or "a single value", for messages. */
const char *config_node_kind_name(const struct config_node *node);

#endif
