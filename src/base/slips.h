/* The distance of two words, for "did you mean ...?". */
#ifndef LOCKBROKER_BASE_SLIPS_H
#define LOCKBROKER_BASE_SLIPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Longer words are not compared: no option or verb is that long. */
#define SLIPS_LEN_MAX 40
#define SLIPS_FAR UINT_MAX

/* An abbreviation of a longer word has at least this many letters. */
#define SLIPS_BEGIN_MIN 3

/*
 * Returns how many typing errors (a letter left out, added or changed, or two
 * exchanged) turn one word into the other, ignoring the case of ASCII letters;
 * SLIPS_FAR if one of them is too long.
 */
unsigned slips(const char *a, size_t alen, const char *b, size_t blen);

/* The nearest of the candidates so far. */
struct slips_nearest {
	const char *word;  /* as the user wrote it */
	const char *found; /* NULL: no candidate was near enough */
	unsigned slips;	   /* errors between the two */
	bool begun;	   /* the word is a prefix of it */
};

void slips_begin(struct slips_nearest *nearest, const char *word);

/*
 * Takes the candidate if it is the nearest so far and near enough: one error,
 * and one more for each five of its letters.  A word that is a prefix of the
 * candidate is near enough, and wins a tie.  Returns whether it took it.
 */
bool slips_offer(struct slips_nearest *nearest, const char *candidate);

#endif
