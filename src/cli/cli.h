/*
 * The lockbroker command: options common to all, and the gate before every
 * command.
 */
#ifndef LOCKBROKER_CLI_CLI_H
#define LOCKBROKER_CLI_CLI_H

#include <stdbool.h>

#include "client/addresses.h"
#include "client/client.h"

/* The argument of every handler. Lives on the stack of cli_main(). */
struct cli {
	int argc;
	char **argv; /* the words; [0] stands for the command's name */
	struct address_list addresses;
	struct tls_files files; /* of the addresses that use TLS */
	bool json;
	const char *kind;  /* of object; NULL: not given */
	const char *limit; /* number of lines; NULL: the broker's */
	const char *fence; /* unlock-force: of the hold; NULL: any hold */
	int64_t max_ms;	   /* drill: limit for the answer; 0: not given */
	char *config;	   /* the daemon's file; NULL: its default */
	bool local;	   /* asks only this broker */
	bool ready;	   /* also asks whether locks can be granted */
	bool wait;	   /* drain: waits until the broker has ended */
	bool abort;	   /* drain: undoes it */
	bool batch;	   /* top: prints tables, draws no screen */
	uint64_t count;	   /* top: of tables; 0: without end */
};

/* Returns an exit status. */
typedef int (*cli_handler)(struct cli *cli);

int cli_main(int argc, char **argv);

/* The handlers, each in the file of its kind. */
int run_main(struct cli *cli);
int lock_main(struct cli *cli);
int elect_main(struct cli *cli);
int show_status(struct cli *cli);
int show_queue(struct cli *cli);
int show_why(struct cli *cli);
int show_history(struct cli *cli);
int show_list(struct cli *cli);
int show_brokers(struct cli *cli);
int show_names(struct cli *cli);
int top_main(struct cli *cli);
int show_stats(struct cli *cli);
int show_ping(struct cli *cli);
int show_version(struct cli *cli);
int show_unlock_force(struct cli *cli);
int show_drill(struct cli *cli);
int show_drain(struct cli *cli);
int show_replace(struct cli *cli);
int genpass_main(struct cli *cli);
int acl_main(struct cli *cli);
int send_main(struct cli *cli);
int complete_main(struct cli *cli);
int help_main(struct cli *cli);
int watch_main(struct cli *cli);

#endif
