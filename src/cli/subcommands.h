/*
 * The table of commands, and the help that is made from it.
 *
 * To add a command, add a row to the table in subcommands.c, a handler, a test,
 * and its lines in lockbroker(1). Completion follows the table.
 */
#ifndef LOCKBROKER_CLI_SUBCOMMANDS_H
#define LOCKBROKER_CLI_SUBCOMMANDS_H

#include <stdio.h>

#include "cli/cli.h"
#include "cli/options.h"

/* How the line of a command is parsed. */
enum words {
	WORDS_MIXED, /* common options anywhere */
	WORDS_LAST,  /* common options before the first word only */
	WORDS_OWN,   /* the command parses all of it itself */
};

/* The kinds of words that a command takes, for completion. */
enum complete {
	COMPLETE_NOTHING,
	COMPLETE_NAME,	  /* one lock */
	COMPLETE_NAMES,	  /* any number of locks */
	COMPLETE_RUN,	  /* a lock, and then a command with its words */
	COMPLETE_REQUEST, /* a verb of the protocol, and then locks */
	COMPLETE_COMMAND, /* a command of ours */
};

/* A command. The gate checks the count before the handler runs. */
struct command {
	const char *name;
	int min, max; /* words after the name; -1 is any number */
	enum words words;
	enum complete complete;
	cli_handler handler;
	const char *usage;
	const char *help;
	int own[3];		     /* its own options, up to 0 */
	const struct run_words *run; /* those of run, elect and lock */
};

/* Options without a letter that the gate handles for a command. */
enum {
	OPT_JSON = 256,
	OPT_USER,
	OPT_PASSWORD_FILE,
	OPT_PASSWORD, /* refused */
	OPT_CA,
	OPT_CERT,
	OPT_KEY,
	OPT_KIND,
	OPT_LIMIT,
	OPT_FENCE,
	OPT_CONFIG,
	OPT_LOCAL,
	OPT_READY,
	OPT_WAIT,
	OPT_MAX,
	OPT_ABORT
};

/* Where the file of such an option goes; NULL for all other options. */
const char **tls_file_of(struct tls_files *files, int opt);

/* Ends with a row without a name. */
extern const struct command commands[];

/* Returns NULL if there is none. */
const struct command *subcommand_find(const char *name);

/* Says that there is no such command, and which one was probably meant. */
int subcommand_unknown(const char *name);

/*
 * The common options and those of the command, which may be NULL. `begin` is
 * that of options_init().
 */
void subcommand_options(
    const struct command *command, const char *begin, struct options *out);

void help_all(FILE *out);
void help_one(const struct command *command);

#endif
