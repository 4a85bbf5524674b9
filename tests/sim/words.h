/*
 * Sets of words on the command line: "cut,pause", "all", "none".
 */
#ifndef LOCKBROKER_SIM_WORDS_H
#define LOCKBROKER_SIM_WORDS_H

#include <stdbool.h>

/* Sets bit i of *out for words[i]; false: there is a word that is none of the
 * n. */
bool words_parse(
    const char *text, const char *const *words, unsigned n, unsigned *out);

#endif
