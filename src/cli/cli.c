/* See cli.h. */
#include "config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/kind.h"
#include "base/parse.h"
#include "base/streams.h"
#include "base/text.h"
#include "cli/cli.h"
#include "cli/exit.h"
#include "cli/login.h"
#include "cli/say.h"
#include "cli/subcommands.h"
#include "cli/timespan.h"

static int
servers_set(struct cli *cli, const char *text)
{
	char shown[ADDRESS_SIZE];
	const char *why;

	address_list_fini(&cli->addresses);
	if (address_list_parse(&cli->addresses, text, &why))
		return 0;
	return say_usage(
	    "an address in '%s' %s", address_shown(text, shown), why);
}

/* Refuses a second list: one of the two would be ignored silently. */
static int
servers_option(struct cli *cli, const char *text)
{
	if (cli->addresses.n > 0)
		return say_usage("-S is given twice; give one list of "
				 "addresses, separated by commas");
	return servers_set(cli, text);
}

static int
kind_set(struct cli *cli, const char *text)
{
	enum kind kind = kind_find(text, strlen(text));

	if (kind == KIND_ANY)
		return say_usage("--kind: '%s' is not " KIND_TEXT, text);
	cli->kind = kind_words[kind];
	return 0;
}

static int
number_set(const char **out, const char *option, const char *text, uint64_t max)
{
	uint64_t n;

	if (!parse_number(text, strlen(text), max, &n))
		return say_usage("%s: '%s' is not a number", option, text);
	*out = text;
	return 0;
}

static int
max_set(struct cli *cli, const char *text)
{
	if (!timespan_parse(text, &cli->max_ms))
		return say_usage("--max: '%s' is not a time", text);
	return 0;
}

static int
count_set(struct cli *cli, const char *text)
{
	if (parse_number(text, strlen(text), UINT32_MAX, &cli->count) &&
	    cli->count > 0)
		return 0;
	return say_usage("'%s' is not a count", text);
}

/* The flag that an option without a value sets. */
static bool *
flag_of(struct cli *cli, int opt)
{
	if (opt == OPT_LOCAL)
		return &cli->local;
	if (opt == OPT_READY)
		return &cli->ready;
	if (opt == 'b')
		return &cli->batch;
	return opt == OPT_WAIT ? &cli->wait : &cli->abort;
}

/* Takes one option. Sets `*done` if the user asked for nothing else. */
static int
option_take(struct cli *cli, int opt, const struct command *command, bool *done)
{
	switch (opt) {
	case 'S':
		return servers_option(cli, optarg);
	case OPT_CA:
	case OPT_CERT:
	case OPT_KEY:
		*tls_file_of(&cli->files, opt) = optarg;
		return 0;
	case OPT_JSON:
		cli->json = true;
		say_as_json();
		return 0;
	case OPT_KIND:
		return kind_set(cli, optarg);
	case OPT_LIMIT:
		return number_set(&cli->limit, "--limit", optarg, UINT32_MAX);
	case OPT_FENCE:
		return number_set(&cli->fence, "--fence", optarg, UINT64_MAX);
	case OPT_MAX:
		return max_set(cli, optarg);
	case OPT_CONFIG:
		cli->config = optarg;
		return 0;
	case OPT_LOCAL:
	case OPT_READY:
	case OPT_WAIT:
	case OPT_ABORT:
	case 'b':
		*flag_of(cli, opt) = true;
		return 0;
	case 'n':
		return count_set(cli, optarg);
	case OPT_USER:
		login_user(optarg);
		return 0;
	case OPT_PASSWORD_FILE:
		login_password_file(optarg);
		return 0;
	case OPT_PASSWORD:
		return say_usage("other users of this host can read "
				 "arguments: put the password into a file "
				 "and give --password-file");
	case 'V':
		printf("lockbroker %s\n", PACKAGE_VERSION);
		break;
	default:
		if (command != NULL)
			help_one(command);
		else
			help_all(stdout);
		break;
	}
	*done = true;
	return 0;
}

/*
 * Reads options up to the first word, or in the whole line. Sets `*done` if
 * there is nothing left to do.
 */
static int
options_read(struct cli *cli, int argc, char **argv, const char *begin,
    const struct command *command, bool *done)
{
	struct options options;
	int opt, rc = 0;

	subcommand_options(command, begin, &options);
	optind = 0;
	while (rc == 0 && !*done) {
		opt = getopt_long(
		    argc, argv, options.letters, options.longs, NULL);
		if (opt == -1)
			break;
		if (opt == '?' || opt == ':')
			rc = options_fault(opt, argv, options.longs);
		else
			rc = option_take(cli, opt, command, done);
	}
	*done = *done || rc != 0;
	return rc;
}

/* Finds the broker's address if -S is not given. */
static int
servers_default(struct cli *cli)
{
	const char *text = getenv("LOCKBROKER");
	int rc = 0;

	if ((cli->files.cert == NULL) != (cli->files.key == NULL))
		return say_usage("give both --cert and --key");
	if (cli->addresses.n == 0 && text != NULL && text[0] != '\0')
		rc = servers_set(cli, text);
	else if (cli->addresses.n == 0)
		address_list_local(&cli->addresses);
	address_list_trust(&cli->addresses, &cli->files);
	return rc;
}

static bool
asks_help(const char *word)
{
	return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0;
}

static int
names_check(const struct command *command, const struct cli *cli)
{
	int i;

	if (command->complete != COMPLETE_NAME &&
	    command->complete != COMPLETE_NAMES)
		return 0;
	for (i = 1; i < cli->argc; i++)
		if (text_name_why(span_of(cli->argv[i]), NAME_MAX_BYTES) !=
		    NULL)
			return say_usage("'%s' is %s", cli->argv[i],
			    command->min > 0 ? "not a name"
					     : "neither a name nor a prefix "
					       "followed by '*'");
	return 0;
}

static int
words_check(const struct command *command, const struct cli *cli)
{
	const int n = cli->argc - 1;

	if (n < command->min)
		return say_usage("%s; usage: lockbroker %s",
		    command->min == 1 && n == 0 ? "a word is missing"
						: "words are missing",
		    command->usage);
	if (command->max >= 0 && n > command->max)
		return say_usage(
		    "too many words; usage: lockbroker %s", command->usage);
	return command->words == WORDS_MIXED ? names_check(command, cli) : 0;
}

/*
 * The gate: no command runs with too few or too many words, or with words for
 * names that are none.
 */
static int
command_run(
    struct cli *cli, const struct command *command, int argc, char **argv)
{
	bool done = false;
	int rc;

	say_about(command->name);
	if (command->words == WORDS_OWN) {
		if (argc > 1 && asks_help(argv[1])) {
			help_one(command);
			return CLI_EXIT_OK;
		}
		optind = 1;
	} else {
		rc = options_read(cli, argc, argv,
		    command->words == WORDS_LAST ? "+:" : ":", command, &done);
		if (done)
			return rc;
	}
	rc = servers_default(cli);
	if (rc == 0)
		rc = login_read();
	if (rc != 0)
		return rc;
	/* Leaves the words alone; the one before them stands for the name. */
	cli->argc = argc - (optind - 1);
	cli->argv = argv + (optind - 1);
	rc = words_check(command, cli);
	return rc != 0 ? rc : command->handler(cli);
}

static int
command_start(struct cli *cli, int argc, char **argv)
{
	const struct command *command;
	bool done = false;
	int rc;

	rc = options_read(cli, argc, argv, "+:", NULL, &done);
	if (done)
		return rc;
	if (optind >= argc) {
		help_all(stderr);
		return CLI_EXIT_USAGE;
	}
	command = subcommand_find(argv[optind]);
	if (command == NULL)
		return subcommand_unknown(argv[optind]);
	return command_run(cli, command, argc - optind, argv + optind);
}

int
cli_main(int argc, char **argv)
{
	struct cli cli = { 0 };
	int status;

	if (argc < 1)
		return CLI_EXIT_USAGE;
	opterr = 0;
	if (!streams_fill())
		return CLI_EXIT_INTERNAL;
	status = command_start(&cli, argc, argv);
	address_list_fini(&cli.addresses);
	login_fini();
	if ((fflush(stdout) != 0 || ferror(stdout)) && status == CLI_EXIT_OK) {
		say("cannot write to standard output: %s", strerror(errno));
		status = CLI_EXIT_INTERNAL;
	}
	return status;
}
