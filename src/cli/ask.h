/*
 * One question to the broker, and its answer or an exit status.
 */
#ifndef LOCKBROKER_CLI_ASK_H
#define LOCKBROKER_CLI_ASK_H

#include "cli/cli.h"

/* Connects: 0, or an exit status after the reason was said. */
int ask_open(struct cli *cli, struct client *c);

/* Asks on an open connection; events are passed over. */
enum client_got ask_send(struct client *c, const char *line, struct message *m);

/*
 * What came of it: 0 with the reply, which the caller ends; or an exit status,
 * after the reason was said.
 */
int ask_status(const struct client *c, enum client_got got, struct message *m);

/* Both. */
int ask_on(struct client *c, const char *line, struct message *m);

/* The same on a connection of its own. */
int ask(struct cli *cli, const char *line, struct message *m);

#endif
