/*
 * Sets of words on the command line.
 */
#include "config.h"

#include <string.h>

#include "words.h"

bool
words_parse(
    const char *text, const char *const *words, unsigned n, unsigned *out)
{
	size_t len;
	unsigned i;

	*out = 0;
	if (strcmp(text, "none") == 0)
		return true;
	if (strcmp(text, "all") == 0) {
		*out = (1u << n) - 1;
		return true;
	}
	for (; *text != '\0'; text += len + (text[len] == ',')) {
		len = strcspn(text, ",");
		for (i = 0; i < n; i++)
			if (strlen(words[i]) == len &&
			    memcmp(words[i], text, len) == 0)
				break;
		if (i == n)
			return false;
		*out |= 1u << i;
	}
	return true;
}
