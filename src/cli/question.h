/* One request to the broker, and its answer or an exit status. */
#ifndef LOCKBROKER_CLI_QUESTION_H
#define LOCKBROKER_CLI_QUESTION_H

#include "cli/cli.h"

/*
 * Connects to the first broker that answers a PING. Returns 0, or an exit
 * status after printing why.
 */
int question_open(struct cli *cli, struct client *c);

/* Says why client_open() found no broker. Returns the exit status for that. */
int question_unreachable(
    const char *what, enum client_got got, const struct buf *errors);

/* Asks on an open connection, and skips events. */
enum client_got question_send(
    struct client *c, const char *line, struct message *m);
/* The same with a time limit for the answer. */
enum client_got question_send_for(
    struct client *c, const char *line, int64_t wait_ms, struct message *m);

/*
 * Judges the result of a question. Returns 0 with the reply, which the caller
 * must free; or an exit status after printing why.
 */
int question_status(
    const struct client *c, enum client_got got, struct message *m);

/* question_send() and question_status() together. */
int question_on(struct client *c, const char *line, struct message *m);

/* The same on a new connection. */
int ask(struct cli *cli, const char *line, struct message *m);

#endif
