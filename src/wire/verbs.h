/*
 * Verbs and options: the rows of base/verbs.def and option.def as tables.
 */
#ifndef LOCKBROKER_WIRE_VERBS_H
#define LOCKBROKER_WIRE_VERBS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/span.h"
#include "base/verb.h"

#define NAMES_MAX 64	      /* names in one request */
#define REQUEST_WORDS_MAX 512 /* of a script in RESP */
#define TAG_MAX_BYTES 16

enum option_id {
#define OPTION(id, key, type, min, what) OPTION_##id,
#include "wire/option.def"
#undef OPTION
	OPTION_MAX
};

enum verb_words { VERB_WORDS_NAMES, VERB_WORDS_WORDS, VERB_WORDS_RAW };

enum option_type {
	OPTION_TYPE_DURATION,
	OPTION_TYPE_WAIT,
	OPTION_TYPE_NUMBER,
	OPTION_TYPE_MODE,
	OPTION_TYPE_KIND,
	OPTION_TYPE_END,
	OPTION_TYPE_YES,
	OPTION_TYPE_LABEL,
	OPTION_TYPE_VALUE,
	OPTION_TYPE_TRACE,
	OPTION_TYPE_SECRET
};

/* The value of WAIT options that wait until the grant comes. */
#define WAIT_FOREVER INT64_MAX

/* A row of verbs.def, except for the handler. */
struct verb {
	const char *word;
	size_t len;
	unsigned words_min, words_max;
	enum verb_words kind;
	uint32_t options;  /* bits 1 << OPTION_x that the verb takes */
	uint32_t required; /* the required ones among them */
	int64_t wait_ms;   /* for a request without wait= */
	enum right right;
	unsigned flags; /* enum verb_flag */
	const char *usage, *help;
};

/* A row of option.def. */
struct option {
	const char *key;
	size_t len;
	enum option_type type;
	uint64_t min;
	const char *what; /* end of "... must be WHAT" */
};

extern const struct verb verbs[VERB_MAX];
extern const struct option options[OPTION_MAX];

/*
 * Compares whole words in any case.  Returns VERB_MAX or OPTION_MAX if there is
 * none.
 */
enum verb_id verb_find(const char *word, size_t len);
enum option_id option_find(const char *key, size_t len);

/* Are these the same word, in upper or lower case? */
bool verb_same_word(struct span a, struct span b);

static inline bool
verb_has(enum verb_id id, enum verb_flag flag)
{
	return (verbs[id].flags & flag) != 0;
}

/*
 * The verb that was probably meant, at most two typing errors away from the
 * word; VERB_MAX if no verb is that near.
 */
enum verb_id verb_suggest(const char *word, size_t len);

#endif
