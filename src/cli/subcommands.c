/* See subcommands.h. */
#include "config.h"

#include <string.h>

#include "base/kind.h"
#include "base/slips.h"
#include "cli/exit.h"
#include "cli/run_options.h"
#include "cli/say.h"
#include "cli/subcommands.h"

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

/* Options of single commands, with their lines of the help. */
static const struct own_option {
	struct option option;
	const char *help;
} own_options[] = {
	{ { "kind", required_argument, NULL, OPT_KIND },
	    "      --kind KIND    only " KIND_TEXT "\n" },
	{ { "local", no_argument, NULL, OPT_LOCAL },
	    "      --local        do not query the broker that holds the lock\n" },
	{ { "limit", required_argument, NULL, OPT_LIMIT },
	    "      --limit N      show at most N of them (100)\n" },
	{ { "config", required_argument, NULL, OPT_CONFIG },
	    "      --config FILE  configuration of lockbrokerd, if not the default\n" },
	{ { "ready", no_argument, NULL, OPT_READY },
	    "      --ready        also check that locks are granted\n" },
	{ { "fence", required_argument, NULL, OPT_FENCE },
	    "      --fence F      only if the lock is held with this fence\n" },
	{ { "max", required_argument, NULL, OPT_MAX },
	    "      --max TIME     wait at most TIME for the release (1m)\n" },
	{ { "wait", no_argument, NULL, OPT_WAIT },
	    "      --wait         return when the broker has exited; show the locks\n"
	    "                     it waits for\n" },
	{ { "abort", no_argument, NULL, OPT_ABORT },
	    "      --abort        cancel a drain: the broker continues\n" },
	{ { "batch", no_argument, NULL, 'b' },
	    "  -b, --batch        print tables one after another, without control codes\n" },
	{ { "count", required_argument, NULL, 'n' },
	    "  -n, --count COUNT  exit after COUNT tables\n"
	    "\n"
	    "On a terminal, q quits.\n" },
};

const struct command commands[] = {
	{ "run", 1, -1, WORDS_OWN, COMPLETE_RUN, run_main,
	    "run [OPTION ...] NAME [--] COMMAND ... | NAME -c STRING",
	    "run a command while holding a lock",
	    { 0 }, &run_words[RUN_ONCE] },
	{ "lock", 1, -1, WORDS_OWN, COMPLETE_NAME, lock_main,
	    "lock [OPTION ...] NAME",
	    "hold a lock until Ctrl-C or the end of input",
	    { 0 }, &run_words[RUN_LOCK] },
	{ "elect", 1, -1, WORDS_OWN, COMPLETE_RUN, elect_main,
	    "elect [OPTION ...] NAME [--] COMMAND ... | NAME -c STRING",
	    "run a command whenever this process is the leader",
	    { 0 }, &run_words[RUN_ELECT] },
	{ "status", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_status,
	    "status [--kind KIND] [--local] NAME",
	    "show whether a lock is free, and its holder",
	    { OPT_KIND, OPT_LOCAL }, NULL },
	{ "queue", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_queue,
	    "queue [--limit N] NAME",
	    "show the holders and waiters of a lock",
	    { OPT_LIMIT }, NULL },
	{ "why", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_why, "why NAME",
	    "show the holder of a lock, the lock it waits for, and so on", { 0 }, NULL },
	{ "history", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_history,
	    "history [--limit N] NAME",
	    "show recent holds of a lock, and how they ended",
	    { OPT_LIMIT }, NULL },
	{ "list", 0, 1, WORDS_MIXED, COMPLETE_NAME, show_list,
	    "list [--limit N] [PATTERN]",
	    "show the busiest names of the broker",
	    { OPT_LIMIT }, NULL },
	{ "names", 0, 1, WORDS_MIXED, COMPLETE_NAME, show_names,
	    "names [--limit N] [PATTERN]",
	    "list the names in use, one per line",
	    { OPT_LIMIT }, NULL },
	{ "brokers", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_brokers,
	    "brokers", "list the brokers on the same Redis, and missing ones", { 0 }, NULL },
	{ "top", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, top_main,
	    "top [-b] [-n COUNT]", "show the busiest names, updated each second",
	    { 'b', 'n' }, NULL },
	{ "stats", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_stats,
	    "stats", "show the counters of the broker", { 0 }, NULL },
	{ "ping", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_ping,
	    "ping [--ready]", "show whether the broker answers, and how fast",
	    { OPT_READY }, NULL },
	{ "version", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_version,
	    "version", "show the versions of command and broker", { 0 }, NULL },
	{ "watch", 1, -1, WORDS_MIXED, COMPLETE_NAMES, watch_main,
	    "watch NAME ...", "show when locks are taken and freed", { 0 }, NULL },
	{ "unlock-force", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_unlock_force,
	    "unlock-force [--fence F] NAME", "force-release a lock",
	    { OPT_FENCE }, NULL },
	{ "drill", 1, 1, WORDS_MIXED, COMPLETE_NAME, show_drill,
	    "drill [--max TIME] NAME",
	    "report a lock as lost to its holder, and time its reaction",
	    { OPT_MAX }, NULL },
	{ "drain", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_drain,
	    "drain [--wait | --abort]",
	    "stop the broker once no lock is held",
	    { OPT_WAIT, OPT_ABORT }, NULL },
	{ "replace", 0, 0, WORDS_MIXED, COMPLETE_NOTHING, show_replace,
	    "replace", "replace the broker process without dropping clients or locks", { 0 }, NULL },
	{ "genpass", 1, 1, WORDS_MIXED, COMPLETE_NOTHING, genpass_main,
	    "genpass USER", "make a password, and its line for users_file", { 0 }, NULL },
	{ "acl", 2, 3, WORDS_MIXED, COMPLETE_NOTHING, acl_main,
	    "acl [--config FILE] USER VERB [NAME]",
	    "show whether a user has a right, and why",
	    { OPT_CONFIG }, NULL },
	{ "send", 1, -1, WORDS_LAST, COMPLETE_REQUEST, send_main,
	    "send WORD ...", "send a raw request and print the reply", { 0 }, NULL },
	{ "complete", 0, -1, WORDS_OWN, COMPLETE_NOTHING, complete_main,
	    "complete -- WORD ...", "list completions of the last word, for shells", { 0 }, NULL },
	{ "help", 0, 1, WORDS_MIXED, COMPLETE_COMMAND, help_main,
	    "help [COMMAND]", "show this, or help for a command", { 0 }, NULL },
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

const char **
tls_file_of(struct tls_files *files, int opt)
{
	if (opt == OPT_CA)
		return &files->ca;
	if (opt == OPT_CERT)
		return &files->cert;
	return opt == OPT_KEY ? &files->key : NULL;
}

static const struct own_option *
own_find(int val)
{
	const struct own_option *own = own_options;

	while (own->option.val != val)
		own++;
	return own;
}

void
subcommand_options(
    const struct command *command, const char *begin, struct options *out)
{
	const int *own;

	options_init(out, begin);
	options_add(out, common_longs);
	if (command == NULL)
		return;
	for (own = command->own; *own != 0; own++)
		options_add_one(out, &own_find(*own)->option);
	if (command->run != NULL)
		options_add(out, command->run->longs);
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
	const int *own = command->own;

	printf("usage: lockbroker %s\n\n%s\n", command->usage, command->help);
	if (command->run != NULL)
		printf("\n%s", command->run->help);
	for (; *own != 0; own++)
		printf("%s%s", own == command->own ? "\n" : "",
		    own_find(*own)->help);
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
