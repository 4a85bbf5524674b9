/*
 * Command lines for getopt_long(3): its tables, and its errors in our own words.
 */
#ifndef LOCKBROKER_CLI_OPTIONS_H
#define LOCKBROKER_CLI_OPTIONS_H

#include <getopt.h>

#define OPTIONS_MAX 32

/* What getopt_long() needs. */
struct options {
	char letters[2 * OPTIONS_MAX + 3];
	struct option longs[OPTIONS_MAX + 1];
};

/* Begins with ":", or with "+:" to stop at the first word. */
void options_init(struct options *o, const char *begin);

/* Adds options; one whose `val` is a letter also has that letter. */
void options_add_one(struct options *o, const struct option *option);
void options_add(struct options *o, const struct option *longs);

/*
 * Says what is wrong with the option at which getopt_long() stopped with `opt`
 * ('?' or ':'), and which one was probably meant. Returns the exit status for
 * usage. Requires letters that begin with ':' or "+:", so that getopt is
 * silent.
 */
int options_fault(int opt, char *const *argv, const struct option *longs);

#endif
