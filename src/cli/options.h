/* Turns the errors of getopt_long(3) on a command line into our own words. */
#ifndef LOCKBROKER_CLI_OPTIONS_H
#define LOCKBROKER_CLI_OPTIONS_H

#include <getopt.h>

/*
 * Says what is wrong with the option at which getopt_long() stopped with `opt`
 * ('?' or ':'), and which one was probably meant. Returns the exit status for
 * usage. Requires letters that begin with ':' or "+:", so that getopt is
 * silent.
 */
int options_fault(int opt, char *const *argv, const struct option *longs);

#endif
