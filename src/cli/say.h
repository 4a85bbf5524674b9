/*
 * What the command tells people: one line on standard error, with its name in
 * front. Standard output is for results alone.
 */
#ifndef LOCKBROKER_CLI_SAY_H
#define LOCKBROKER_CLI_SAY_H

void say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* As say(), and where the usage is; returns the exit status for usage. */
int say_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
