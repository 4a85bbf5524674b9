/*
 * The settings as data: their types, the table of fields.def, and operations on
 * values of any type.
 *
 * A value is a number, a text, an address, a list of values, or a mapping of
 * named values, whose rows look like those of fields.def.  To add a type, write
 * a row in types.c (or endpoints.c, or auth.c) and a line here.
 */
#ifndef LOCKBROKER_CONFIG_FIELDS_H
#define LOCKBROKER_CONFIG_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct address;
struct buf;
struct config;
struct config_field;
struct config_node;

/* Room for a number with its unit. */
#define CONFIG_NUMBER_SIZE 32

enum config_kind {
	CONFIG_NUMBER,	/* of `size` bytes; also a bool or an enum */
	CONFIG_TEXT,	/* char *, owned */
	CONFIG_ADDRESS, /* struct address */
	CONFIG_LIST,	/* as struct config_list */
	CONFIG_MAPPING	/* a struct of `size` bytes */
};

/* The layout of every list: pointers to objects are all alike. */
struct config_list {
	void *v; /* owned */
	size_t n;
};

/*
 * A type of settings.  Values live in slots of struct config.  A slot of all
 * zeroes holds nothing and may be cleared or set.  Constant.
 */
struct config_type {
	enum config_kind kind;
	size_t size;	   /* of a value in memory */
	bool is_unquoted;  /* a YAML word, such as true or 7: no quotes */
	bool is_quoted;	   /* a number that is written in quotes */
	bool is_bare;	   /* a size that may also be in bytes */
	bool is_secret;	   /* never shown */
	bool is_hidden;	   /* a secret from elsewhere: no key of the file */
	bool is_path;	   /* an address that is written as a path */
	bool may_be_empty; /* in a mapping: `key:` alone means an empty value */

	/*
	 * The expected value, for messages; < and > stand for the bounds.
	 * NULL: one of the choices, or the message of the fault is enough.
	 * `shape` is the expectation for a value of another kind; NULL: the
	 * same.
	 */
	const char *expected;
	const char *shape;

	/*
	 * For a number, a text (NULL: any text is valid) and an address: each
	 * returns NULL, or the end of the sentence "'TEXT' ...".  Bounds, of
	 * texts in bytes, are checked afterwards; choices are checked instead.
	 */
	const char *(*parse)(const char *text, int64_t *value);
	void (*format)(char buf[CONFIG_NUMBER_SIZE], int64_t value);
	const char *unknown; /* the end of the sentence for a choice */
	const char *(*check)(const char *text);
	const char *(*parse_address)(struct address *out, const char *text);

	/*
	 * The items of a list; the row has no path.  With a noun, such as
	 * "user", no item may occur twice: an item, or the first key of one, is
	 * the address or the text that identifies it.
	 */
	const struct config_field *item;
	const char *noun;

	/*
	 * For a text that may be "", and for an optional mapping, whose first
	 * member, a bool, says whether it is given: written in place of a
	 * missing one, if not "".
	 */
	const char *absent;

	/* For a mapping; the first `required` keys are required. */
	const struct config_field *keys;
	size_t nkeys;
	size_t required;
	const char *known; /* the text for an unknown key: what is expected */

	/* Has this value this key?  NULL: every value has all of them. */
	bool (*has)(const void *value, const struct config_field *key);

	/*
	 * For a list or a mapping: checks the whole and adds its faults; !ok:
	 * some of its parts have faults already.  Returns ok, or false.
	 */
	bool (*finish)(void *value, const struct config_node *node, bool ok);
};

#define CONFIG_NUMBER_OF(type, parser, formatter)                       \
	.kind = CONFIG_NUMBER, .size = sizeof(type), .parse = (parser), \
	.format = (formatter)
#define CONFIG_CHOICE_OF(otherwise) \
	CONFIG_NUMBER_OF(unsigned, NULL, NULL), .unknown = (otherwise)
#define CONFIG_TEXT_OF(checker) \
	.kind = CONFIG_TEXT, .size = sizeof(char *), .check = (checker)
#define CONFIG_LIST_OF(list, items)                \
	.kind = CONFIG_LIST, .size = sizeof(list), \
	.item = &(const struct config_field)       \
	{                                          \
		.type = &(items)                   \
	}
#define CONFIG_MAPPING_OF(mapping, table)                                 \
	.kind = CONFIG_MAPPING, .size = sizeof(mapping), .keys = (table), \
	.nkeys = sizeof(table) / sizeof((table)[0])

/* Numbers; FLAG is a bool in an item of a list; WARM is a duration, or auto. */
extern const struct config_type config_type_BOOL, config_type_FLAG,
    config_type_NUMBER, config_type_DURATION, config_type_WARM,
    config_type_SIZE, config_type_BYTES, config_type_CHOICE;
/* Texts: NAME has letters . _ -; WORD no spaces; ADDRESS is HOST:PORT or ""; URL
 * begins with http:// or https://, or is "". */
extern const struct config_type config_type_STRING, config_type_NAME,
    config_type_WORD, config_type_ADDRESS, config_type_URL, config_type_SECRET;
/* Lists, and the mapping AUTH. */
extern const struct config_type config_type_LISTEN, config_type_NODES,
    config_type_AUTH, config_type_CLASSES, config_type_PATTERNS,
    config_type_SCRIPTS;

/* The characters of a broker's name. */
#define CONFIG_NAME_CHARACTERS       \
	"abcdefghijklmnopqrstuvwxyz" \
	"ABCDEFGHIJKLMNOPQRSTUVWXYZ" \
	"0123456789._-"

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

/* Returns the address of the value in a config. */
void *config_field_slot(
    const struct config_field *field, struct config *config);

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
 * Suggests the path that was probably meant by an unknown key: a similar one in
 * the same section, or the same key in another.  Returns buf, or NULL if no
 * path is near.
 */
const char *config_field_suggest(
    const char *section, const char *leaf, char buf[CONFIG_SUGGEST_SIZE]);

/* Writes all keys of a section ("" for the top): "level, to, format". */
const char *config_field_list(const char *section, char *buf, size_t size);

/* Operations on values: values.c. */

/*
 * Reads the value of a setting into its slot; the old value is freed.  Returns
 * false after adding the faults of the value, if it has any; then the slot may
 * only be cleared.
 */
bool config_value_set(const struct config_field *field,
    const struct config_node *node, void *slot)
    __attribute__((warn_unused_result));

bool config_value_same(
    const struct config_field *field, const void *a, const void *b);

/*
 * Takes over a value: copies numbers and texts and frees what `to` held;
 * exchanges mappings and lists.
 */
void config_value_take(const struct config_field *field, void *to, void *from);
void config_value_clear(const struct config_field *field, void *slot);

/* Writes a value that is neither a list nor a mapping, as in YAML. */
void config_value_write(
    const struct config_field *field, const void *slot, struct buf *out);

/*
 * Writes `key: value` in YAML, indented by this many columns.  In place of a
 * secret it writes a comment, unless secrets are to be shown.
 */
void config_value_dump(const struct config_field *field, const void *slot,
    int indent, bool reveal, struct buf *out);

#endif
