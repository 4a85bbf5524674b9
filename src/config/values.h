/*
 * The types of settings: how to read a value of each from a node and write it
 * as YAML; and operations on values of any type.
 *
 * To add a type, write a row in values.c (or lists.c) and a line here.
 */
#ifndef LOCKBROKER_CONFIG_VALUES_H
#define LOCKBROKER_CONFIG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct config_faults;
struct config_field;
struct config_node;

/* Room for a number with its unit, and for an expectation. */
#define CONFIG_NUMBER_SIZE 32
#define CONFIG_EXPECTED_SIZE 256

/*
 * A type of settings.  Values live in slots of struct config: as a number of
 * `size` bytes, as a text (char *, owned), or as a list.  A slot of all zeroes
 * holds nothing and may be cleared or set.  Constant.
 */
struct config_type {
	bool is_list; /* or a mapping; uses the last four */
	bool is_mapping;
	bool unquoted;	/* a YAML word, such as true or 7: no quotes */
	bool is_secret; /* never shown */
	bool is_bare;	/* a size that may also be in bytes */
	size_t size;	/* of a number, also of a bool, an enum or a mapping;
			 * of a list that is reloadable */

	/* What it takes; < and > are the bounds.  NULL: one of the choices. */
	const char *expected;

	/* For a number: NULL, or the end of the sentence "'TEXT' ...". */
	const char *(*parse)(
	    const struct config_field *field, const char *text, int64_t *value);
	void (*format)(char buf[CONFIG_NUMBER_SIZE], int64_t value);

	/* For a text, as parse. */
	const char *(*check)(
	    const struct config_field *field, const char *text);

	/*
	 * Adds its faults itself, because items have places.  Returns false if
	 * any.
	 */
	bool (*parse_list)(const struct config_node *node, void *slot,
	    struct config_faults *faults);
	void (*dump)(const void *slot, FILE *out); /* what follows `key:` */
	bool (*same)(const void *a, const void *b);
	void (*fini)(void *slot);
};

extern const struct config_type config_type_BOOL;
extern const struct config_type config_type_NUMBER;   /* unsigned */
extern const struct config_type config_type_DURATION; /* int64_t, ms */
extern const struct config_type config_type_SIZE;     /* size_t, 64KB */
extern const struct config_type config_type_BYTES;    /* as SIZE; or 4096 */
extern const struct config_type config_type_CHOICE;   /* an enum */
extern const struct config_type config_type_STRING;   /* char * */
extern const struct config_type config_type_NAME;     /* letters . _ - */
extern const struct config_type config_type_WORD;     /* without spaces */
extern const struct config_type config_type_ADDRESS;  /* HOST:PORT, or "" */
extern const struct config_type config_type_SECRET;   /* any text */
extern const struct config_type config_type_LISTEN;   /* config_listen */
extern const struct config_type config_type_NODES;    /* config_nodes */
extern const struct config_type config_type_AUTH;     /* auth_settings */
extern const struct config_type config_type_CLASSES;  /* metrics_settings */

/* The characters of a broker's name. */
#define CONFIG_NAME_CHARACTERS       \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789._-"

/*
 * Reads the value of a setting into its slot, which must be empty.  Returns
 * false if it has faults, after it has added them.
 */
bool config_value_set(const struct config_field *field,
    const struct config_node *node, void *slot, struct config_faults *faults)
    __attribute__((warn_unused_result));

bool config_value_same(
    const struct config_field *field, const void *a, const void *b);

/*
 * Takes over a value: copies numbers and texts and frees what `to` held;
 * exchanges mappings and lists.
 */
void config_value_take(const struct config_field *field, void *to, void *from);
void config_value_clear(const struct config_field *field, void *slot);

/* Writes what follows `key:` in YAML, with the line end. */
void config_value_dump(
    const struct config_field *field, const void *slot, FILE *out);

/* Writes text in double quotes, escaped so that YAML reads it back. */
void config_value_write_quoted(const char *text, FILE *out);

#endif
