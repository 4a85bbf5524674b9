/*
 * The faults of a configuration: text lines, collected so that one run shows
 * them all.
 *
 * A line reads `FILE:LINE:COLUMN: KEY: what is wrong, what was expected`.  The
 * caller of the loader prints the lines; these functions print nothing.
 */
#ifndef LOCKBROKER_CONFIG_FAULTS_H
#define LOCKBROKER_CONFIG_FAULTS_H

#include <stddef.h>

/* A file of nothing but faults must not flood a terminal or a journal. */
#define CONFIG_FAULTS_MAX 100

/* Room for a line: a file's name, a dotted path, and a sentence. */
#define CONFIG_FAULT_SIZE 1024

/* Room for a value as config_quote() shows it. */
#define CONFIG_QUOTE_SIZE 192

/* A place in a file; both count from 1. */
struct config_mark {
	int line;
	int column;
};

/*
 * The faults of a load, ordered by their place in the file.  All zeroes is an
 * empty list; the owner calls config_faults_fini().
 */
struct config_faults {
	char *lines[CONFIG_FAULTS_MAX + 1];	 /* one more says "more" */
	long long places[CONFIG_FAULTS_MAX + 1]; /* in the order of the file */
	size_t n;
	size_t first;  /* earlier lines are about another file */
	char *context; /* a file's name, put before each line; may be NULL */
};

void config_faults_init(struct config_faults *faults);
void config_faults_fini(struct config_faults *faults);

/* Sets what the following lines are about: the file's name, or NULL. */
void config_faults_context(struct config_faults *faults, const char *name);

/*
 * Adds a fault at a place: `FILE:LINE:COLUMN: KEY: TEXT`; without a key, a
 * fault of the whole file: `FILE: TEXT`.  If there are too many, one more line
 * says that others were left out.
 */
void config_faults_at(struct config_faults *faults, struct config_mark at,
    const char *key, const char *fmt, ...)
    __attribute__((format(printf, 4, 5)));
#define config_faults_add(faults, ...) \
	config_faults_at(              \
	    (faults), (struct config_mark){ 0, 0 }, NULL, __VA_ARGS__)

/*
 * Writes text in single quotes, fit for one line of a terminal: control
 * characters escaped, and long text cut.  Returns buf.
 */
const char *config_quote(char buf[CONFIG_QUOTE_SIZE], const char *text);

#endif
