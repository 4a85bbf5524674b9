/*
 * How far one word is from another, for "did you mean ...?".
 */
#ifndef LOCKBROKER_BASE_SLIPS_H
#define LOCKBROKER_BASE_SLIPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Longer words are not compared: nobody means such a word. */
#define SLIPS_LEN_MAX 40
#define SLIPS_FAR UINT_MAX

/* So many letters are an abbreviation of a longer word. */
#define SLIPS_BEGIN_MIN 3

/*
 * Returns how many slips (a letter left out, added or changed, or two
 * exchanged) turn one word into the other, without regard to the case of ASCII
 * letters; SLIPS_FAR if one of them is too long.
 */
unsigned slips(const char *a, size_t alen, const char *b, size_t blen);

/* The nearest of the candidates so far. */
struct slips_nearest {
	const char *word;  /* as the user wrote it */
	const char *found; /* NULL: no candidate was near enough */
	unsigned slips;	   /* to get there */
	bool begun;	   /* the word is the beginning of it */
};

void slips_begin(struct slips_nearest *nearest, const char *word);

/*
 * Takes the candidate if it is the nearest so far and near enough: one slip,
 * and one more for each five of its letters; the beginning of a candidate is
 * near enough, and wins a tie.  Returns whether it took it.
 */
bool slips_offer(struct slips_nearest *nearest, const char *candidate);

#endif
