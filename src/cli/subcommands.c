/*
 * The table of commands, and the help that is made from it.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/kind.h"
#include "base/slips.h"
#include "cli/complete.h"
#include "cli/exit.h"
#include "cli/run_options.h"
#include "cli/say.h"
#include "cli/subcommands.h"
#include "cli/top.h"

static const char *const status_options_help =
    "      --kind KIND    only " KIND_TEXT "\n"
    "      --local        do not query the broker that holds the lock\n";

static const char *const queue_options_help =
    "      --limit N      show at most N of them (100)\n";

static const char *const acl_options_help =
    "      --config FILE  configuration of lockbrokerd, if not the default\n";

static const char *const ping_options_help =
    "      --ready        also check that locks are granted\n";

static const char *const force_options_help =
    "      --fence F      only if the lock is held with this fence\n";

static const char *const drill_options_help =
    "      --max TIME     wait at most TIME for the release (1m)\n";

static const char *const drain_options_help =
    "      --wait         return when the broker has exited; show the locks\n"
    "                     it waits for\n"
    "      --abort        cancel a drain: the broker continues\n";

/* clang-format off */
/* The options of every command; each list ends as getopt_long(3) needs it. */
static const struct option common_longs[] = {
	{ "server", required_argument, NULL, 'S' },
	{ "user", required_argument, NULL, OPT_USER },
	{ "password-file", required_argument, NULL, OPT_PASSWORD_FILE },
	{ "password", required_argument, NULL, OPT_PASSWORD },
	{ "ca", required_argument, NULL, OPT_CA },
	{ "cert", required_argument, NULL, OPT_CERT },
	{ "key", required_argument, NULL, OPT_KEY },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const struct option status_longs[] = {
	{ "kind", required_argument, NULL, OPT_KIND },
	{ "local", no_argument, NULL, OPT_LOCAL },
	{ NULL, 0, NULL, 0 },
};

static const struct option queue_longs[] = {
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ NULL, 0, NULL, 0 },
};

static const struct option acl_longs[] = {
	{ "config", required_argument, NULL, OPT_CONFIG },
	{ NULL, 0, NULL, 0 },
};

static const struct option ping_longs[] = {
	{ "ready", no_argument, NULL, OPT_READY },
	{ NULL, 0, NULL, 0 },
};

static const struct option force_longs[] = {
	{ "fence", required_argument, NULL, OPT_FENCE },
	{ NULL, 0, NULL, 0 },
};

static const struct option drill_longs[] = {
	{ "max", required_argument, NULL, OPT_MAX },
	{ NULL, 0, NULL, 0 },
};

static const struct option drain_longs[] = {
	{ "wait", no_argument, NULL, OPT_WAIT },
	{ "abort", no_argument, NULL, OPT_ABORT },
	{ NULL, 0, NULL, 0 },
};

const struct command commands[] = {
	{ "run", 1, -1, WORDS_OWN, COMPLETE_RUN, run_main,
	    "run [OPTION ...] NAME [--] COMMAND ... | NAME -c STRING",
	    "run a command while holding a lock",
	    &run_options_help, run_longs },
	{ "lock", 1, -1, WORDS_OWN, COMPLETE_NAME, lock_main,
	    "lock [OPTION ...] NAME",
	    "hold a lock until Ctrl-C or the end of input",
	    &lock_options_help, lock_longs },
	{ "elect", 1, -1, WORDS_OWN, COMPLETE_RUN, elect_main,
	    "elect [OPTION ...] NAME [--] COMMAND ... | NAME -c STRING",
	    "run a command whenever this process is the leader",
	    &elect_options_help, elect_longs },
	{ "status", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_status,
	    "status [--kind KIND] [--local] NAME",
	    "show whether a lock is free, and its holder",
	    &status_options_help, status_longs },
	{ "queue", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_queue,
	    "queue [--limit N] NAME",
	    "show the holders and waiters of a lock",
	    &queue_options_help, queue_longs },
	{ "why", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_why, "why NAME",
	    "show the holder of a lock, the lock it waits for, and so on",
	    NULL, NULL },
	{ "history", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_history,
	    "history [--limit N] NAME",
	    "show recent holds of a lock, and how they ended",
	    &queue_options_help, queue_longs },
	{ "list", 0, 1, WORDS_MIXED, COMPLETE_NAME, show_list,
	    "list [--limit N] [PATTERN]",
	    "show the busiest names of the broker",
	    &queue_options_help, queue_longs },
	{ "names", 0, 1, WORDS_MIXED, COMPLETE_NAME, show_names,
	    "names [--limit N] [PATTERN]",
	    "list the names in use, one per line",
	    &queue_options_help, queue_longs },
	{ "brokers", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_brokers,
	    "brokers", "list the brokers on the same Redis, and missing ones", NULL, NULL },
	{ "top", 0, -1, WORDS_OWN, COMPLETE_NOTHING, top_main,
	    "top [-b] [-n COUNT]", "show the busiest names, updated each second",
	    &top_options_help, top_longs },
	{ "stats", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_stats,
	    "stats", "show the counters of the broker", NULL, NULL },
	{ "ping", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_ping,
	    "ping [--ready]", "show whether the broker answers, and how fast",
	    &ping_options_help, ping_longs },
	{ "version", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_version,
	    "version", "show the versions of command and broker",
	    NULL, NULL },
	{ "watch", 1, -1, WORDS_MIXED, COMPLETE_NAMES, watch_main,
	    "watch NAME ...", "show when locks are taken and freed",
	    NULL, NULL },
	{ "unlock-force", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_unlock_force,
	    "unlock-force [--fence F] NAME", "force-release a lock",
	    &force_options_help, force_longs },
	{ "drill", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_drill,
	    "drill [--max TIME] NAME",
	    "report a lock as lost to its holder, and time its reaction",
	    &drill_options_help, drill_longs },
	{ "drain", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_drain,
	    "drain [--wait | --abort]",
	    "stop the broker once no lock is held",
	    &drain_options_help, drain_longs },
	{ "replace", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_replace,
	    "replace", "replace the broker process without dropping clients or locks", NULL, NULL },
	{ "genpass", 1, 1, WORDS_MIXED, COMPLETE_NOTHING, genpass_main,
	    "genpass USER", "make a password, and its line for users_file",
	    NULL, NULL },
	{ "acl", 2, 3, WORDS_MIXED, COMPLETE_NOTHING, acl_main,
	    "acl [--config FILE] USER VERB [NAME]",
	    "show whether a user has a right, and why",
	    &acl_options_help, acl_longs },
	{ "send", 1, -1, WORDS_LAST, COMPLETE_REQUEST, send_main,
	    "send WORD ...", "send a raw request and print the reply",
	    NULL, NULL },
	{ "complete", 0, -1, WORDS_OWN, COMPLETE_NOTHING, complete_main,
	    "complete -- WORD ...", "list completions of the last word, for shells",
	    NULL, NULL },
	{ "help", 0, 1, WORDS_MIXED, COMPLETE_COMMAND, help_main,
	    "help [COMMAND]", "show this, or help for a command",
	    NULL, NULL },
	{ .name = NULL },
};
/* clang-format on */

static const struct {
	int status;
	const char *when;
} exits[] = {
#define EXIT(id, status, when) { status, when },
	EXITS(EXIT)
#undef EXIT
};

const struct command *
subcommand_find(const char *name)
{
	const struct command *command;

	for (command = commands; command->name != NULL; command++) {
		if (strcmp(command->name, name) == 0)
			return command;
	}
	return NULL;
}

int
subcommand_unknown(const char *name)
{
	struct slips_nearest nearest;
	const struct command *command;

	slips_begin(&nearest, name);
	for (command = commands; command->name != NULL; command++)
		(void)slips_offer(&nearest, command->name);
	if (nearest.found != NULL)
		return say_usage("'%s' is not a command; did you mean '%s'?",
		    name, nearest.found);
	return say_usage("'%s' is not a command", name);
}

void
subcommand_longs(
    const struct command *command, struct option longs[COMMAND_OPTIONS_MAX])
{
	const struct option *from = common_longs;
	size_t n = 0;

	for (; from->name != NULL; from++)
		longs[n++] = *from;
	from = command != NULL ? command->longs : NULL;
	for (; from != NULL && from->name != NULL; from++) {
		assert(n + 1 < COMMAND_OPTIONS_MAX);
		longs[n++] = *from;
	}
	memset(&longs[n], 0, sizeof(longs[n]));
}

void
help_all(FILE *out)
{
	const struct command *command;
	size_t i;

	fprintf(out,
	    "usage: lockbroker [-S [tls://]HOST:PORT|/PATH[,...]] [--json] "
	    "COMMAND [ARG ...]\n\n");
	for (command = commands; command->name != NULL; command++)
		fprintf(out, "  %-12s %s\n", command->name, command->help);
	fprintf(out,
	    "\n"
	    "  -S, --server LIST  brokers; the first that answers is used\n"
	    "      --user NAME    log in as this user\n"
	    "      --password-file FILE\n"
	    "                     file whose first line is the password\n"
	    "      --ca FILE      CA certificates to trust for tls://\n"
	    "      --cert FILE    client certificate\n"
	    "      --key FILE     private key of --cert\n"
	    "      --json         print one JSON object per line\n"
	    "  -h, --help         show this\n"
	    "  -V, --version      show the version of this command\n"
	    "\n"
	    "Without -S: $LOCKBROKER, or the local socket, or 127.0.0.1:" ADDRESS_PORT_TEXT
	    ".\n\n"
	    "Exit status:\n");
	for (i = 0; i < sizeof(exits) / sizeof(exits[0]); i++)
		fprintf(out, "  %3d  %s\n", exits[i].status, exits[i].when);
	fprintf(out,
	    "\n"
	    "'lockbroker help COMMAND' has more, and so has lockbroker(1).\n");
}

void
help_one(const struct command *command)
{
	printf("usage: lockbroker %s\n\n%s\n", command->usage, command->help);
	if (command->options != NULL)
		printf("\n%s", *command->options);
}

int
help_main(struct cli *cli)
{
	const struct command *command;

	if (cli->argc < 2) {
		help_all(stdout);
		return CLI_EXIT_OK;
	}
	command = subcommand_find(cli->argv[1]);
	if (command == NULL)
		return subcommand_unknown(cli->argv[1]);
	help_one(command);
	return CLI_EXIT_OK;
}
