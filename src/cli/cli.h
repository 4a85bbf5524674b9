/*
 * The lockbroker command: options common to all, the table of commands, help.
 *
 * To add a command, add a row to the table in cli.c, a handler, a test, and
 * its lines in lockbroker(1).
 */
#ifndef LOCKBROKER_CLI_CLI_H
#define LOCKBROKER_CLI_CLI_H

#include "cli/address.h"
#include "cli/client.h"

#include <stdbool.h>

/* What every handler gets. Lives on the stack of cli_main(). */
struct cli {
	struct address_list addresses;
	bool json;
};

/* argv[0] is the command's name; returns an exit status. */
typedef int (*cli_handler)(struct cli *cli, int argc, char **argv);

int cli_main(int argc, char **argv);

/* Connects to the first that answers `probe`, or says why not. */
bool cli_open(struct cli *cli, struct client *c, size_t first,
    const char *probe, struct message *reply);

/* The handlers, each in the file of its kind. */
int run_main(struct cli *cli, int argc, char **argv);
int elect_main(struct cli *cli, int argc, char **argv);
int show_status(struct cli *cli, int argc, char **argv);
int show_queue(struct cli *cli, int argc, char **argv);
int show_list(struct cli *cli, int argc, char **argv);
int show_names(struct cli *cli, int argc, char **argv);
int top_main(struct cli *cli, int argc, char **argv);
int show_stats(struct cli *cli, int argc, char **argv);
int show_ping(struct cli *cli, int argc, char **argv);
int show_version(struct cli *cli, int argc, char **argv);
int show_unlock_force(struct cli *cli, int argc, char **argv);
int send_main(struct cli *cli, int argc, char **argv);
int watch_main(struct cli *cli, int argc, char **argv);
int shell_main(struct cli *cli, int argc, char **argv);

#endif
