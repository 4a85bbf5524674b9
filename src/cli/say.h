/* Messages to the user, on standard error; with --json, to programs. */
#ifndef LOCKBROKER_CLI_SAY_H
#define LOCKBROKER_CLI_SAY_H

#include <stddef.h>

struct message;

/* Says everything as JSON from now on: one object a line. */
void say_as_json(void);

/* Sets the command that usage errors mention; borrowed. */
void say_about(const char *command);

/* This process logs in, so no refusal suggests --user. */
void say_has_user(void);

/* `code` is for programs; NULL: none. */
void say_code(const char *code, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));
#define say(...) say_code(NULL, __VA_ARGS__)

/* Prints an ERR or another refusal; `what` it is about, or NULL. */
void say_error(const char *what, const struct message *m);

/* As say(), with a reference to the help. Returns the exit status for usage. */
int say_usage(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Writes the bytes as they are, in one piece. */
void say_bytes(const char *text, size_t n);

#endif
