/*
 * `lockbroker complete -- WORD ...`: completions of the last word, one
 * candidate a line. The words are those of a command line of lockbroker, up to
 * the cursor and without its name.
 *
 * The scripts for bash, zsh and fish only call this, so they know every command
 * and option of the tables. The shell itself completes what it knows better:
 * "@command" stands for programs, and "@file" for files; no lock has a name
 * that begins with '@'.
 */
#include "config.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/kind.h"
#include "base/now.h"
#include "cli/exit.h"
#include "cli/login.h"
#include "cli/others.h"
#include "cli/run_options.h"
#include "cli/subcommands.h"

/* A person waits at the prompt. */
#define NAMES_MS 1000
#define NAMES_LIMIT "1000"

/* The line so far. Texts belong to the command line. */
struct typed {
	const struct command *command; /* NULL: none yet */
	struct options options;
	const struct option *wants; /* an option that needs a value */
	const char *server;	    /* of -S, or NULL */
	struct tls_files files;	    /* of --ca, --cert, --key */
	int words;		    /* of the command, so far */
	bool closed;		    /* no option can follow */
};

static void
offer(const char *candidate, const char *typed)
{
	if (strncmp(candidate, typed, strlen(typed)) == 0)
		printf("%s\n", candidate);
}

static bool
is_run(const struct typed *t)
{
	return t->command != NULL && t->command->complete == COMPLETE_RUN;
}

/*
 * Takes options up to the first word, or in the whole line. Returns the place
 * of the first word that is none; argv[0] is skipped.
 */
static int
options_take(struct typed *t, const char *begin, int argc, char **argv)
{
	const struct option *o;
	int opt, before;

	subcommand_options(t->command, begin, &t->options);
	optind = 0;
	for (;;) {
		before = optind;
		opt = getopt_long(
		    argc, argv, t->options.letters, t->options.longs, NULL);
		if (opt == -1)
			break;
		for (o = t->options.longs; o->name != NULL; o++)
			if (opt == ':' && o->val == optopt)
				t->wants = o;
		if (opt == 'S')
			t->server = optarg;
		else if (tls_file_of(&t->files, opt) != NULL)
			*tls_file_of(&t->files, opt) = optarg;
	}
	t->closed = optind > before && optind > 1 &&
		    strcmp(argv[optind - 1], "--") == 0;
	return optind;
}

/* Takes all words before the one to complete. */
static void
line_take(struct typed *t, int argc, char **argv)
{
	int at = options_take(t, "+:", argc, argv);

	if (at >= argc)
		return;
	t->command = subcommand_find(argv[at]);
	t->closed = t->command == NULL;
	if (t->closed)
		return;
	argc -= at;
	argv += at;
	at = options_take(t,
	    is_run(t) || t->command->words == WORDS_LAST ? "+:" : ":", argc,
	    argv);
	t->words = argc - at;
	/* After NAME, `--` may still follow, and then a command. */
	if (is_run(t) && t->words > 0 && !t->closed) {
		at += options_take(t, "+:", argc - at, argv + at);
		t->words = 1 + argc - at;
		t->closed = t->closed || t->words > 1;
	}
	t->closed =
	    t->closed || (t->command->words == WORDS_LAST && t->words > 0);
}

static void
offer_options(const struct typed *t, const char *typed)
{
	const struct option *option;
	char word[64];

	for (option = t->options.longs; option->name != NULL; option++) {
		if (strcmp(option->name, "password") == 0)
			continue; /* which is always refused */
		snprintf(word, sizeof(word), "--%s", option->name);
		offer(word, typed);
	}
}

static void
offer_commands(const char *typed)
{
	const struct command *command;

	for (command = commands; command->name != NULL; command++)
		offer(command->name, typed);
}

/* Offers verbs in small letters if they are typed so. */
static void
offer_verbs(const char *typed)
{
	static const char *const verbs[] = {
#define VERB(id, word, ...) word,
#include "base/verbs.def"
#undef VERB
	};
	const bool small = islower((unsigned char)typed[0]) != 0;
	const char *verb;
	char word[32];
	size_t v, i;

	for (v = 0; v < sizeof(verbs) / sizeof(verbs[0]); v++) {
		verb = verbs[v];
		for (i = 0; verb[i] != '\0' && i < sizeof(word) - 1; i++)
			word[i] = small ? (char)tolower((unsigned char)verb[i])
					: verb[i];
		word[i] = '\0';
		offer(word, typed);
	}
}

static void
offer_lines(struct message *m, const char *typed)
{
	size_t i;

	for (i = 0; i < m->lines_n; i++) {
		m->lines[i][strcspn(m->lines[i], " ")] = '\0';
		offer(m->lines[i], typed);
		free(m->lines[i]);
	}
	m->lines_n = 0;
}

/* Names of old processes, too; but a prompt must not wait for one. */
static void
offer_leavers(struct client *c, struct message *m, const char *typed)
{
	struct leavers l;

	(void)fflush(stdout);
	(void)alarm(NAMES_MS / 1000);
	leavers_open(c, &l);
	(void)leavers_lines(&l, "NAMES limit=" NAMES_LIMIT, m);
	leavers_close(&l);
	offer_lines(m, typed);
}

/* Prints no errors: they would appear in the middle of a prompt. */
static void
offer_names(struct cli *cli, const struct typed *t, const char *typed)
{
	struct client_probe probe = { "NAMES limit=" NAMES_LIMIT, 0, 0 };
	struct message m;
	struct client c;
	const char *why;

	if (t->server != NULL) {
		address_list_fini(&cli->addresses);
		if (!address_list_parse(&cli->addresses, t->server, &why))
			return;
	}
	address_list_trust(&cli->addresses, &t->files);
	client_init(&c, login_line());
	probe.deadline_ms = now_ms() + NAMES_MS;
	if (client_open(&c, &cli->addresses, &probe, &m, NULL) ==
	    CLIENT_MESSAGE) {
		offer_lines(&m, typed);
		offer_leavers(&c, &m, typed);
		message_fini(&m);
	}
	client_fini(&c);
}

static void
offer_value(struct cli *cli, struct typed *t, const char *typed)
{
	static const char *const losses[] = { ON_LOST_WORDS };
	size_t i;

	if (t->wants->val == OPT_KIND)
		for (i = KIND_LOCK; i < KIND_MAX; i++)
			offer(kind_words[i], typed);
	else if (strcmp(t->wants->name, "on-lost") == 0)
		for (i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
			offer(losses[i], typed);
	else if (strcmp(t->wants->name, "also") == 0)
		offer_names(cli, t, typed);
	else if (t->wants->val == 'S' ||
		 tls_file_of(&t->files, t->wants->val) != NULL)
		printf("@file\n");
}

static void
offer_word(struct cli *cli, const struct typed *t, const char *typed)
{
	switch (t->command->complete) {
	case COMPLETE_NAME:
		if (t->words == 0)
			offer_names(cli, t, typed);
		break;
	case COMPLETE_NAMES:
		offer_names(cli, t, typed);
		break;
	case COMPLETE_RUN:
		if (t->words == 0)
			offer_names(cli, t, typed);
		else
			printf(t->words == 1 ? "@command\n" : "@file\n");
		break;
	case COMPLETE_REQUEST:
		if (t->words == 0)
			offer_verbs(typed);
		else
			offer_names(cli, t, typed);
		break;
	case COMPLETE_COMMAND:
		if (t->words == 0)
			offer_commands(typed);
		break;
	default:
		break;
	}
}

int
complete_main(struct cli *cli)
{
	const int at = cli->argc > 1 && strcmp(cli->argv[1], "--") == 0;
	const int last = cli->argc - 1;
	const char *typed = last > at ? cli->argv[last] : "";
	struct typed t = { 0 };

	line_take(&t, last > at ? last - at : 1, cli->argv + at);
	if (t.wants != NULL)
		offer_value(cli, &t, typed);
	else if (!t.closed && typed[0] == '-')
		offer_options(&t, typed);
	else if (t.command == NULL && !t.closed)
		offer_commands(typed);
	else if (t.command != NULL)
		offer_word(cli, &t, typed);
	return CLI_EXIT_OK;
}
