/*
 * The tables of verbs and options, and how to find a row by its word.
 *
 * A search takes the rows one after the other, the frequent verbs first.  The
 * lengths are kept apart in a few bytes, so that it looks at hardly any row but
 * the right one.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "base/kind.h"
#include "base/parse.h"
#include "base/slips.h"
#include "wire/verbs.h"

/* The most typing errors between a word and the verb suggested for it. */
#define SUGGEST_SLIPS_MAX 2

#define O(x) (UINT32_C(1) << OPTION_##x)
#define F(x) VERB_FLAG_##x
const struct verb verbs[VERB_MAX] = {
#define VERB(id, word, min, max, kind, options, required, answer, wait_ms,   \
    right, flags, usage, help)                                               \
	[VERB_##id] = { word, sizeof(word) - 1, min, max, VERB_WORDS_##kind, \
		options, required, wait_ms, RIGHT_##right, flags, usage,     \
		help },
#include "base/verbs.def"
#undef VERB
};
#undef F
#undef O

const struct option options[OPTION_MAX] = {
#define OPTION(id, key, type, min, what) \
	[OPTION_##id] = { key, sizeof(key) - 1, OPTION_TYPE_##type, min, what },
#include "wire/option.def"
#undef OPTION
};

static const unsigned char verb_lens[VERB_MAX] = {
#define VERB(id, word, ...) [VERB_##id] = sizeof(word) - 1,
#include "base/verbs.def"
#undef VERB
};

static const unsigned char option_lens[OPTION_MAX] = {
#define OPTION(id, key, type, min, what) [OPTION_##id] = sizeof(key) - 1,
#include "wire/option.def"
#undef OPTION
};

static bool
same_word(const char *word, const char *other, size_t len)
{
	size_t i;

	if (memcmp(word, other, len) == 0)
		return true;
	for (i = 0; i < len; i++)
		if (parse_upper(word[i]) != parse_upper(other[i]))
			return false;
	return true;
}

bool
verb_same_word(struct span a, struct span b)
{
	return a.n == b.n && same_word(a.p, b.p, a.n);
}

enum verb_id
verb_find(const char *word, size_t len)
{
	unsigned i;

	for (i = 0; i < VERB_MAX; i++)
		if (verb_lens[i] == len && same_word(verbs[i].word, word, len))
			return (enum verb_id)i;
	return VERB_MAX;
}

enum option_id
option_find(const char *key, size_t len)
{
	unsigned i;

	for (i = 0; i < OPTION_MAX; i++)
		if (option_lens[i] == len &&
		    same_word(options[i].key, key, len))
			return (enum option_id)i;
	return OPTION_MAX;
}

enum verb_id
verb_suggest(const char *word, size_t len)
{
	enum verb_id best = VERB_MAX;
	/* In a word of four letters, two errors leave too little of it. */
	unsigned nearest = (len > 4 ? SUGGEST_SLIPS_MAX : 1) + 1;
	unsigned i, n;

	if (len < 2)
		return VERB_MAX;
	for (i = 0; i < VERB_MAX; i++) {
		n = slips(word, len, verbs[i].word, verbs[i].len);
		if (n < nearest) {
			best = (enum verb_id)i;
			nearest = n;
		}
	}
	return best;
}
