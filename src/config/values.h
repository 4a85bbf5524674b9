/*
 * The types of settings: how a value of each is read from a node, written as
 * YAML, compared, copied and freed.
 *
 * To add a type: a row in values.c (or lists.c), a line here.
 */
#ifndef LOCKBROKER_CONFIG_VALUES_H
#define LOCKBROKER_CONFIG_VALUES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct config_faults;
struct config_field;
struct config_node;

/*
 * What a type can do with a value, which lives in a slot of struct config.  A
 * slot of all zeroes holds nothing and may be freed or set.  Constant.
 */
struct config_type {
	bool is_list;	/* else a single value */
	bool unquoted;	/* a word of YAML, such as true or 7: no quotes */
	bool is_secret; /* never shown */

	/*
	 * Sets an empty slot.  A single value returns NULL, or the end of the
	 * sentence "'TEXT' ..."; then the slot stays empty.
	 */
	const char *(*parse)(
	    const struct config_field *field, const char *text, void *slot);

	/* The same for a list, which adds faults itself: false if any. */
	bool (*parse_list)(const struct config_field *field,
	    const struct config_node *node, void *slot,
	    struct config_faults *faults);

	/* What parse takes: "a duration such as 30s, from 1s to 1d". */
	void (*expected)(
	    const struct config_field *field, char *buf, size_t size);

	/* Writes what follows `key:`, with the line end. */
	void (*dump)(
	    const struct config_field *field, const void *slot, FILE *out);

	bool (*same)(const void *a, const void *b);
	void (*copy)(void *to, const void *from); /* to holds nothing */
	void (*fini)(void *slot);		  /* NULL: nothing to free */
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

#define CONFIG_EXPECTED_SIZE 256

/*
 * Reads the value of a setting into its slot, which must be empty.  False
 * when it has faults, which are added.
 */
bool config_value_set(const struct config_field *field,
    const struct config_node *node, void *slot, struct config_faults *faults)
    __attribute__((warn_unused_result));

/* Writes text in double quotes, escaped so that YAML reads it back. */
void config_value_write_quoted(const char *text, FILE *out);

#endif
