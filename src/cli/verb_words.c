/*
 * The verbs of the protocol as words alone.
 */
#include "config.h"

#include <stddef.h>

#include "cli/verb_words.h"
#include "wire/verbs.h"

const char *
verb_word(unsigned int i)
{
	return i < VERB_MAX ? verbs[i].word : NULL;
}
