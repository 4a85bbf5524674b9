/*
 * How far one word is from another, for "did you mean ...?".
 */
#ifndef LOCKBROKER_BASE_SLIPS_H
#define LOCKBROKER_BASE_SLIPS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/* Longer words are not compared: nobody means them. */
#define SLIPS_LEN_MAX 40
#define SLIPS_FAR UINT_MAX

/*
 * How many slips (a letter left out, added, changed, or two exchanged) turn one
 * word into the other, without regard to the case of ASCII letters; SLIPS_FAR
 * where one of them is too long.
 */
unsigned slips(const char *a, size_t alen, const char *b, size_t blen);

/* The nearest of the candidates seen so far. */
struct slips_nearest {
	const char *word;  /* what was written */
	const char *found; /* NULL: no candidate was near enough */
	unsigned slips;	   /* to get there */
};

void slips_begin(struct slips_nearest *nearest, const char *word);

/*
 * Is the candidate the nearest so far, and near enough to be meant: one slip,
 * and one more for each five of its letters?
 */
bool slips_offer(struct slips_nearest *nearest, const char *candidate);

#endif
