/*
 * The tables of verbs and options, and how to find a row by its word.
 *
 * The rows are searched one after the other, the frequent verbs first; the
 * lengths are kept apart in a few bytes, so that a search looks at hardly any
 * row but the right one.
 */
#include "config.h"

#include <stdbool.h>
#include <string.h>

#include "wire/verbs.h"

/* How far away a word may be from the verb it is taken for. */
#define SUGGEST_SLIPS_MAX 2
#define SUGGEST_LEN_MAX 24

#define O(x) (UINT32_C(1) << OPTION_##x)
const struct verb verbs[VERB_MAX] = {
#define VERB(                                                                \
    id, word, min, max, kind, options, required, privilege, usage, help)     \
	[VERB_##id] = { word, sizeof(word) - 1, min, max, VERB_WORDS_##kind, \
		options, required, PRIVILEGE_##privilege, usage, help },
#include "wire/verbs.def"
#undef VERB
};
#undef O

const struct option options[OPTION_MAX] = {
#define OPTION(id, key, type, min, what) \
	[OPTION_##id] = { key, sizeof(key) - 1, OPTION_TYPE_##type, min, what },
#include "wire/option.def"
#undef OPTION
};

static const unsigned char verb_lens[VERB_MAX] = {
#define VERB(                                                            \
    id, word, min, max, kind, options, required, privilege, usage, help) \
	[VERB_##id] = sizeof(word) - 1,
#include "wire/verbs.def"
#undef VERB
};

static const unsigned char option_lens[OPTION_MAX] = {
#define OPTION(id, key, type, min, what) [OPTION_##id] = sizeof(key) - 1,
#include "wire/option.def"
#undef OPTION
};

/* The locale has no say in what is upper and lower case here. */
static char
to_upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

static bool
same_word(const char *word, const char *other, size_t len)
{
	size_t i;

	if (memcmp(word, other, len) == 0)
		return true;
	for (i = 0; i < len; i++)
		if (to_upper(word[i]) != to_upper(other[i]))
			return false;
	return true;
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

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/*
 * How many slips (a letter left out, added, changed, or two exchanged) turn
 * one word into the other: the edit distance with adjacent transpositions.
 */
static unsigned
count_slips(const char *a, size_t alen, const char *b, size_t blen)
{
	unsigned d[SUGGEST_LEN_MAX + 1][SUGGEST_LEN_MAX + 1];
	unsigned i, j, cost;
	char ac, bc;

	for (i = 0; i <= alen; i++)
		d[i][0] = i;
	for (j = 0; j <= blen; j++)
		d[0][j] = j;
	for (i = 1; i <= alen; i++) {
		for (j = 1; j <= blen; j++) {
			ac = to_upper(a[i - 1]);
			bc = to_upper(b[j - 1]);
			cost = d[i - 1][j - 1] + (ac != bc);
			cost = least(cost, d[i - 1][j] + 1);
			cost = least(cost, d[i][j - 1] + 1);
			if (i > 1 && j > 1 && ac == to_upper(b[j - 2]) &&
			    bc == to_upper(a[i - 2]))
				cost = least(cost, d[i - 2][j - 2] + 1);
			d[i][j] = cost;
		}
	}
	return d[alen][blen];
}

enum verb_id
verb_suggest(const char *word, size_t len)
{
	enum verb_id best = VERB_MAX;
	/* Two slips in a word of four letters leave too little of it. */
	unsigned nearest = (len > 4 ? SUGGEST_SLIPS_MAX : 1) + 1;
	unsigned i, slips;

	if (len < 2 || len > SUGGEST_LEN_MAX)
		return VERB_MAX;
	for (i = 0; i < VERB_MAX; i++) {
		slips = count_slips(word, len, verbs[i].word, verbs[i].len);
		if (slips < nearest) {
			best = (enum verb_id)i;
			nearest = slips;
		}
	}
	return best;
}
