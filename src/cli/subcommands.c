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
    "      --kind KIND    " KIND_TEXT "\n"
    "      --local        don't ask the broker that has the lock\n";

static const char *const queue_options_help =
    "      --limit N      show at most N of them (100)\n";

static const char *const acl_options_help =
    "      --config FILE  of lockbrokerd, instead of its default\n";

static const char *const ping_options_help =
    "      --ready        and can new locks be granted now?\n";

static const char *const force_options_help =
    "      --fence F      only the hold that has this fence\n";

static const char *const drill_options_help =
    "      --max TIME     wait for the answer for so long (1m)\n";

static const char *const drain_options_help =
    "      --wait         return when the broker has ended, and tell what it\n"
    "                     waits for\n"
    "      --abort        take a drain back: the broker goes on\n";

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
	    "run a command whenever we are the leader",
	    &elect_options_help, elect_longs },
	{ "status", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_status,
	    "status [--kind KIND] [--local] NAME",
	    "show whether a lock is free, and who has it",
	    &status_options_help, status_longs },
	{ "queue", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_queue,
	    "queue [--limit N] NAME",
	    "show who holds a name and who waits for it",
	    &queue_options_help, queue_longs },
	{ "why", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_why, "why NAME",
	    "show who has a lock, and what that one waits for in turn",
	    NULL, NULL },
	{ "history", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_history,
	    "history [--limit N] NAME",
	    "show who had a lock of late, and how that ended",
	    &queue_options_help, queue_longs },
	{ "list", 0, 1, WORDS_MIXED, COMPLETE_NAME, show_list,
	    "list [--limit N] [PATTERN]",
	    "show the busiest names of the broker",
	    &queue_options_help, queue_longs },
	{ "names", 0, 1, WORDS_MIXED, COMPLETE_NAME, show_names,
	    "names [--limit N] [PATTERN]",
	    "show the same names and nothing else",
	    &queue_options_help, queue_longs },
	{ "brokers", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_brokers,
	    "brokers", "show which brokers use the same Redis, and which is "
	    "missing", NULL, NULL },
	{ "top", 0, -1, WORDS_OWN, COMPLETE_NOTHING, top_main,
	    "top [-b] [-n COUNT]", "show the busiest names, once a second",
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
	    "watch NAME ...", "show when locks are taken and free",
	    NULL, NULL },
	{ "unlock-force", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_unlock_force,
	    "unlock-force [--fence F] NAME", "end whoever holds a lock",
	    &force_options_help, force_longs },
	{ "drill", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_drill,
	    "drill [--max TIME] NAME",
	    "tell a holder that it has lost a lock, and how long it goes on",
	    &drill_options_help, drill_longs },
	{ "drain", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_drain,
	    "drain [--wait | --abort]",
	    "have the broker take no more clients, and stop when "
	    "nothing is held",
	    &drain_options_help, drain_longs },
	{ "replace", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_replace,
	    "replace", "have a new process of the broker take over, "
	    "which keeps all clients", NULL, NULL },
	{ "genpass", 1, 1, WORDS_MIXED, COMPLETE_NOTHING, genpass_main,
	    "genpass USER", "make a password, and the line for users_file",
	    NULL, NULL },
	{ "acl", 2, 3, WORDS_MIXED, COMPLETE_NOTHING, acl_main,
	    "acl [--config FILE] USER VERB [NAME]",
	    "show whether a user may do something, and why",
	    &acl_options_help, acl_longs },
	{ "send", 1, -1, WORDS_LAST, COMPLETE_REQUEST, send_main,
	    "send WORD ...", "send one request as it is, show what comes",
	    NULL, NULL },
	{ "complete", 0, -1, WORDS_OWN, COMPLETE_NOTHING, complete_main,
	    "complete -- WORD ...", "show what the last word may become",
	    NULL, NULL },
	{ "help", 0, 1, WORDS_MIXED, COMPLETE_COMMAND, help_main,
	    "help [COMMAND]", "show this, or more about a command",
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
	    "  -S, --server LIST  the brokers; the next one is tried "
	    "if one does not answer\n"
	    "      --user NAME    who we are to the broker, with\n"
	    "      --password-file FILE, whose first line says it\n"
	    "      --ca FILE      who vouches for the brokers at tls://\n"
	    "      --cert FILE    the certificate to show them, and ...\n"
	    "      --key FILE     ... its private key\n"
	    "      --json         one JSON object for each line\n"
	    "  -h, --help         show this\n"
	    "  -V, --version      show the version of this command\n\n"
	    "Without -S: $LOCKBROKER, else the local socket, else "
	    "127.0.0.1:" ADDRESS_PORT_TEXT ".\n\n"
	    "Exit status:\n");
	for (i = 0; i < sizeof(exits) / sizeof(exits[0]); i++)
		fprintf(out, "  %3d  %s\n", exits[i].status, exits[i].when);
	fprintf(out,
	    "\n'lockbroker help run' has more, and so has lockbroker(1).\n");
}

void
help_one(const struct command *command)
{
	printf("usage: lockbroker %s\n\n%s\n", command->usage, command->help);
	if (command->options != NULL)
		printf("\n%s", *command->options);
}

int
help_main(struct cli *cli, int argc, char **argv)
{
	const struct command *command;

	(void)cli;
	if (argc < 2) {
		help_all(stdout);
		return CLI_EXIT_OK;
	}
	command = subcommand_find(argv[1]);
	if (command == NULL)
		return subcommand_unknown(argv[1]);
	help_one(command);
	return CLI_EXIT_OK;
}
