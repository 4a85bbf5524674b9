/*
 * The lockbroker command: options common to all, the table of commands, help.
 */
#include "config.h"

#include "cli/cli.h"

#include "base/streams.h"
#include "cli/exit.h"
#include "cli/run_options.h"
#include "cli/say.h"
#include "cli/top.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How a command's own line is read. */
enum words {
	WORDS_MIXED, /* common options anywhere */
	WORDS_LAST,  /* common options before the first word only */
	WORDS_OWN,   /* the command reads all of it itself */
};

/* A command. The gate checks the count before the handler runs. */
struct command {
	const char *name;
	int min, max; /* words behind the name; -1 is any number */
	enum words words;
	cli_handler handler;
	const char *usage;
	const char *help;
	const char *const *options; /* more for the help, or NULL */
};

static int help_main(struct cli *cli, int argc, char **argv);

/* clang-format off */
static const struct command commands[] = {
	{ "run", 1, -1, WORDS_OWN, run_main,
	    "run [OPTION ...] NAME [--] COMMAND ... | NAME -c STRING",
	    "run a command while holding a lock", &run_options_help },
	{ "elect", 1, -1, WORDS_OWN, elect_main,
	    "elect [OPTION ...] NAME [--] COMMAND ... | NAME -c STRING",
	    "run a command whenever we are the leader", &elect_options_help },
	{ "status", 1, 1, WORDS_MIXED, show_status,
	    "status NAME", "show whether a lock is free, and who has it", NULL },
	{ "queue", 1, 1, WORDS_MIXED, show_queue,
	    "queue NAME", "show who holds a lock and who waits for it", NULL },
	{ "list", 0, 1, WORDS_MIXED, show_list,
	    "list [LIMIT]", "show the busiest names of the broker", NULL },
	{ "names", 0, 1, WORDS_MIXED, show_names,
	    "names [LIMIT]", "show the same names and nothing else", NULL },
	{ "top", 0, -1, WORDS_OWN, top_main,
	    "top [-b] [-n COUNT]", "show the busiest names, once a second",
	    &top_options_help },
	{ "stats", 0, 0, WORDS_MIXED, show_stats,
	    "stats", "show the counters of the broker", NULL },
	{ "ping", 0, 0, WORDS_MIXED, show_ping,
	    "ping", "show whether the broker answers, and how fast", NULL },
	{ "version", 0, 0, WORDS_MIXED, show_version,
	    "version", "show the versions of command and broker", NULL },
	{ "watch", 1, -1, WORDS_MIXED, watch_main,
	    "watch NAME ...", "show when locks are taken and free", NULL },
	{ "unlock-force", 1, 1, WORDS_MIXED, show_unlock_force,
	    "unlock-force NAME", "end whoever holds a lock", NULL },
	{ "send", 1, -1, WORDS_LAST, send_main,
	    "send WORD ...", "send one request as it is, show what comes", NULL },
	{ "shell", 0, 0, WORDS_MIXED, shell_main,
	    "shell", "type requests, see replies and events", NULL },
	{ "help", 0, 1, WORDS_MIXED, help_main,
	    "help [COMMAND]", "show this, or more about a command", NULL },
};
/* clang-format on */

#define COMMANDS_N (sizeof(commands) / sizeof(commands[0]))

enum { OPT_JSON = 256 };

static const struct option longs[] = {
	{ "server", required_argument, NULL, 'S' },
	{ "json", no_argument, NULL, OPT_JSON },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

static const struct {
	int status;
	const char *when;
} exits[] = {
#define EXIT(id, status, when) { status, when },
	EXITS(EXIT)
#undef EXIT
};

static const struct command *
command_find(const char *name)
{
	size_t i;

	for (i = 0; i < COMMANDS_N; i++) {
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	}
	return NULL;
}

static void
help_all(void)
{
	size_t i;

	printf("usage: lockbroker [-S HOST:PORT|/PATH[,...]] [--json] "
	       "COMMAND [ARG ...]\n\n");
	for (i = 0; i < COMMANDS_N; i++)
		printf("  %-12s %s\n", commands[i].name, commands[i].help);
	printf("\n"
	       "  -S, --server LIST  the brokers, the next where one does not "
	       "answer\n"
	       "      --json         one JSON object for each line\n"
	       "  -h, --help         show this\n"
	       "  -V, --version      show the version of this command\n\n"
	       "Without -S: $LOCKBROKER, else the local socket, else "
	       "127.0.0.1:" ADDRESS_PORT ".\n\n"
	       "Exit status:\n");
	for (i = 0; i < sizeof(exits) / sizeof(exits[0]); i++)
		printf("  %3d  %s\n", exits[i].status, exits[i].when);
	printf("\nlockbroker help run has more; so has lockbroker(1).\n");
}

static void
help_one(const struct command *command)
{
	printf("usage: lockbroker %s\n\n%s\n", command->usage, command->help);
	if (command->options != NULL)
		printf("\n%s", *command->options);
}

static int
help_main(struct cli *cli, int argc, char **argv)
{
	const struct command *command;

	(void)cli;
	if (argc < 2) {
		help_all();
		return CLI_EXIT_OK;
	}
	command = command_find(argv[1]);
	if (command == NULL)
		return say_usage("'%s' is not a command", argv[1]);
	help_one(command);
	return CLI_EXIT_OK;
}

static int
servers_set(struct cli *cli, const char *text)
{
	const char *why;

	address_list_fini(&cli->addresses);
	if (address_list_parse(&cli->addresses, text, &why))
		return 0;
	return say_usage("an address in '%s' %s", text, why);
}

bool
cli_open(struct cli *cli, struct client *c, size_t first, const char *probe,
    struct message *reply)
{
	struct buf errors;
	bool ok;

	buf_init(&errors);
	ok = client_open(c, &cli->addresses, first, probe, reply, &errors);
	if (!ok)
		say("no broker answers: %.*s", (int)buf_len(&errors),
		    buf_data(&errors));
	buf_fini(&errors);
	return ok;
}

/*
 * Reads common options up to the first word, or all of the line. Sets `*done`
 * when one of them was all that was asked for.
 */
static int
options_read(struct cli *cli, int argc, char **argv, const char *shorts,
    const struct command *command, bool *done)
{
	int opt, rc;

	*done = true;
	optind = 0;
	while ((opt = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		switch (opt) {
		case 'S':
			rc = servers_set(cli, optarg);
			if (rc != 0)
				return rc;
			break;
		case OPT_JSON:
			cli->json = true;
			break;
		case 'h':
			if (command != NULL)
				help_one(command);
			else
				help_all();
			return CLI_EXIT_OK;
		case 'V':
			printf("lockbroker %s\n", PACKAGE_VERSION);
			return CLI_EXIT_OK;
		default:
			return CLI_EXIT_USAGE;
		}
	}
	*done = false;
	return 0;
}

/* Where the broker is, when -S did not say. */
static int
servers_default(struct cli *cli)
{
	const char *text = getenv("LOCKBROKER");

	if (cli->addresses.n > 0)
		return 0;
	if (text != NULL && text[0] != '\0')
		return servers_set(cli, text);
	address_list_local(&cli->addresses);
	return 0;
}

static bool
asks_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

/* The gate: nothing runs with too few or too many words. */
static int
command_run(
    struct cli *cli, const struct command *command, int argc, char **argv)
{
	static char title[64];
	bool done = false;
	int rc;

	/* What getopt puts in front of its complaints. */
	snprintf(title, sizeof(title), "lockbroker: %s", command->name);
	argv[0] = title;
	if (command->words == WORDS_OWN) {
		if (argc > 1 && asks_help(argv[1])) {
			help_one(command);
			return CLI_EXIT_OK;
		}
		optind = 1;
	} else {
		rc = options_read(cli, argc, argv,
		    command->words == WORDS_LAST ? "+S:h" : "S:h", command,
		    &done);
		if (done)
			return rc;
	}
	rc = servers_default(cli);
	if (rc != 0)
		return rc;
	/* The words alone, with one in front that stands for the name. */
	argc -= optind - 1;
	argv += optind - 1;
	argv[0] = title;
	if (argc - 1 < command->min ||
	    (command->max >= 0 && argc - 1 > command->max))
		return say_usage("usage: lockbroker %s", command->usage);
	return command->handler(cli, argc, argv);
}

static int
command_start(struct cli *cli, int argc, char **argv)
{
	const struct command *command;
	static char title[] = "lockbroker";
	bool done;
	int rc;

	argv[0] = title;
	rc = options_read(cli, argc, argv, "+S:hV", NULL, &done);
	if (done)
		return rc;
	if (optind >= argc) {
		help_all();
		return CLI_EXIT_USAGE;
	}
	command = command_find(argv[optind]);
	if (command == NULL)
		return say_usage("'%s' is not a command", argv[optind]);
	return command_run(cli, command, argc - optind, argv + optind);
}

int
cli_main(int argc, char **argv)
{
	struct cli cli;
	int status;

	memset(&cli, 0, sizeof(cli));
	if (argc < 1)
		return CLI_EXIT_USAGE;
	if (!streams_fill())
		return CLI_EXIT_INTERNAL;
	status = command_start(&cli, argc, argv);
	address_list_fini(&cli.addresses);
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == CLI_EXIT_OK) {
		say("can't write to standard output: %s", strerror(errno));
		status = CLI_EXIT_INTERNAL;
	}
	return status;
}
