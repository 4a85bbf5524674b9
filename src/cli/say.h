/*
 * What the command tells people: one line on standard error, with its name in
 * front. Standard output is for results alone.
 *
 * Telling must not hold up what is done about it: where nobody reads standard
 * error, what is said is lost.
 */
#ifndef LOCKBROKER_CLI_SAY_H
#define LOCKBROKER_CLI_SAY_H

#include <stddef.h>

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As say(), and where the usage is; returns the exit status for usage. */
int say_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Bytes as they are, in one piece. */
void say_bytes(const char *text, size_t n);

#endif
