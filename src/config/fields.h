/*
 * The table of the settings, as data: the rows of fields.def.
 *
 * It knows where each setting lives in struct config and what its type can do;
 * values.c handles the values of a type.
 */
#ifndef LOCKBROKER_CONFIG_FIELDS_H
#define LOCKBROKER_CONFIG_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/values.h"

struct config;
struct config_node;

enum config_field_id {
#define FIELD(id, ...) CONFIG_FIELD_##id,
#include "config/fields.def"
#undef FIELD
	CONFIG_FIELDS
};

/* One row of fields.def; constant. */
struct config_field {
	const char *path; /* "locks.lease" */
	const struct config_type *type;
	size_t offset; /* of the value in struct config */
	int64_t min;
	int64_t max;
	const char *const *choices; /* up to NULL; the index is the value */
	const char *def;	    /* as YAML; parsed like any value */
	bool reloadable;
	const char *help;
};

extern const struct config_field config_fields[CONFIG_FIELDS];

/* Returns the place of the value in a config. */
void *config_field_slot(
    const struct config_field *field, struct config *config);
const void *config_field_slot_const(
    const struct config_field *field, const struct config *config);

/* Returns the last part of a path: "lease". */
const char *config_field_leaf(const struct config_field *field);

/*
 * Finds a setting by its section, "" at the top, and its leaf; at the top also
 * a section by its name, as its first row.  Returns NULL if there is none.
 */
const struct config_field *config_field_find(
    const char *section, const char *name);

/* Room for the path of a setting. */
#define CONFIG_SUGGEST_SIZE 64

/*
 * Suggests the path that an unknown key probably means: a similar one in the
 * same section, or the same key in another.  Returns buf, or NULL if no path is
 * near.
 */
const char *config_field_suggest(
    const char *section, const char *leaf, char buf[CONFIG_SUGGEST_SIZE]);

/* Writes all keys of a section ("" for the top): "level, to or format". */
const char *config_field_list(const char *section, char *buf, size_t size);

#endif
