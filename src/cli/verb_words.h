/*
 * The verbs of the protocol as words alone. Their table has a `struct option`
 * of its own, and so has getopt_long(3).
 */
#ifndef LOCKBROKER_CLI_VERB_WORDS_H
#define LOCKBROKER_CLI_VERB_WORDS_H

/* NULL after the last. */
const char *verb_word(unsigned int i);

#endif
