/*
 * The words of the protocol's verbs, and nothing else: their table and
 * getopt_long(3) each have a `struct option` of their own.
 */
#ifndef LOCKBROKER_CLI_VERB_WORDS_H
#define LOCKBROKER_CLI_VERB_WORDS_H

/* Returns NULL after the last word. */
const char *verb_word(unsigned int i);

#endif
