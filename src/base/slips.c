/*
 * The edit distance with adjacent transpositions.
 */
#include "config.h"

#include <string.h>

#include "base/parse.h"
#include "base/slips.h"

static unsigned
least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

unsigned
slips(const char *a, size_t alen, const char *b, size_t blen)
{
	unsigned d[SLIPS_LEN_MAX + 1][SLIPS_LEN_MAX + 1];
	unsigned i, j, cost;
	char ac, bc;

	if (alen > SLIPS_LEN_MAX || blen > SLIPS_LEN_MAX)
		return SLIPS_FAR;
	for (i = 0; i <= alen; i++)
		d[i][0] = i;
	for (j = 0; j <= blen; j++)
		d[0][j] = j;
	for (i = 1; i <= alen; i++) {
		for (j = 1; j <= blen; j++) {
			ac = parse_upper(a[i - 1]);
			bc = parse_upper(b[j - 1]);
			cost = d[i - 1][j - 1] + (ac != bc);
			cost = least(cost, d[i - 1][j] + 1);
			cost = least(cost, d[i][j - 1] + 1);
			if (i > 1 && j > 1 && ac == parse_upper(b[j - 2]) &&
			    bc == parse_upper(a[i - 2]))
				cost = least(cost, d[i - 2][j - 2] + 1);
			d[i][j] = cost;
		}
	}
	return d[alen][blen];
}

void
slips_begin(struct slips_nearest *nearest, const char *word)
{
	nearest->word = word;
	nearest->found = NULL;
	nearest->slips = SLIPS_FAR;
	nearest->begun = false;
}

/* Is the word a prefix of the candidate, and long enough to mean it? */
static bool
is_begun(const char *word, const char *candidate)
{
	const size_t len = strlen(word);

	return len >= SLIPS_BEGIN_MIN && strncmp(word, candidate, len) == 0;
}

bool
slips_offer(struct slips_nearest *nearest, const char *candidate)
{
	const size_t len = strlen(candidate);
	const bool begun = is_begun(nearest->word, candidate);
	const unsigned limit = 1 + (unsigned)len / 5;
	unsigned n =
	    slips(nearest->word, strlen(nearest->word), candidate, len);

	if (begun)
		n = least(n, limit);
	if (n > limit || n > nearest->slips ||
	    (n == nearest->slips && (!begun || nearest->begun)))
		return false;
	nearest->slips = n;
	nearest->begun = begun;
	nearest->found = candidate;
	return true;
}
