/*
 * Options, start, and the one loop:
 *
 *	while (not over) {
 *		wait for events and take what they bring
 *		broker_turn: requests, decisions, operations, replies
 *	}
 */
#include "config.h"

#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/handed.h"
#include "base/log.h"
#include "base/streams.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/bridge/broker.h"
#include "daemon/bridge/tls.h"
#include "daemon/process/daemon.h"
#include "daemon/process/lifecycle.h"
#include "daemon/process/loop.h"
#include "daemon/process/settings.h"
#include "daemon/process/systemd.h"
#include "daemon/replace/takeover.h"
#include "daemon/replace/upgrade.h"
#include "daemon/replace/upgrade_argv.h"
#include "daemon/users/acl.h"
#include "redis/probe.h"

#define EXIT_USAGE 2

/* What the command line asks for. */
struct args {
	const char *file; /* NULL: the default */
	bool test;
	bool probe;
	bool dump;
	bool take_over;
	bool version;
	bool help;
	bool acl;
	const char **options; /* of -o; owned */
	size_t noptions;
	int nwords; /* of --acl */
	char *const *words;
};

static const char usage[] = "usage: lockbrokerd [-hTtV] [-c FILE] "
			    "[-o SETTING=VALUE] [--probe] [--take-over]\n"
			    "       lockbrokerd [-c FILE] --acl USER VERB "
			    "[NAME]\n";

static const char help[] =
    "\n"
    "  -c, --config FILE  configuration (default:\n"
    "                     %s,\n"
    "                     where it exists)\n"
    "  -o, --option SETTING=VALUE\n"
    "                     override a setting of the file: redis.mode=quorum\n"
    "  -t, --test         check the configuration and exit\n"
    "      --take-over    replace the broker at the Unix socket of the\n"
    "                     configuration; start if there is none\n"
    "      --probe        also connect to Redis, check its settings, and "
    "exit\n"
    "      --acl          show whether USER may do this, and why; exit\n"
    "                     status 0 (allowed) or 77 (denied)\n"
    "  -T, --dump         print the effective configuration and exit\n"
    "  -V, --version      print the version and exit\n"
    "  -h, --help         print this and exit\n"
    "\n"
    "Exit status: 0 success, 1 failure, 2 usage or configuration.\n";

static bool
take_words(struct args *args, int n, char **words)
{
	args->nwords = n;
	args->words = words;
	if (n == 0 || args->acl)
		return true;
	fprintf(stderr, "lockbrokerd: unexpected argument '%s'\n", words[0]);
	return false;
}

static bool
args_parse(struct args *args, int argc, char **argv)
{
	static const struct option longs[] = {
		{ "config", required_argument, NULL, 'c' },
		{ "option", required_argument, NULL, 'o' },
		{ "test", no_argument, NULL, 't' },
		{ "probe", no_argument, NULL, 'p' },
		{ "take-over", no_argument, NULL, 'k' },
		{ "acl", no_argument, NULL, 'a' },
		{ "dump", no_argument, NULL, 'T' },
		{ "version", no_argument, NULL, 'V' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int option;

	args->options = xcalloc((size_t)argc, sizeof(*args->options));
	while (
	    (option = getopt_long(argc, argv, "c:o:tTVh", longs, NULL)) != -1) {
		switch (option) {
		case 'c':
			args->file = optarg;
			break;
		case 'o':
			args->options[args->noptions++] = optarg;
			break;
		case 't':
			args->test = true;
			break;
		case 'p':
			args->probe = true;
			break;
		case 'k':
			args->take_over = true;
			break;
		case 'a':
			args->acl = true;
			break;
		case 'T':
			args->dump = true;
			break;
		case 'V':
			args->version = true;
			break;
		case 'h':
			args->help = true;
			break;
		default:
			return false;
		}
	}
	return take_words(args, argc - optind, argv + optind);
}

static bool
load(struct config *config, const char *file)
{
	struct config_faults faults;
	size_t i;
	bool ok;

	config_faults_init(&faults);
	ok = settings_load(config, file, false, &faults);
	for (i = 0; i < faults.n; i++)
		fprintf(stderr, "%s\n", faults.lines[i]);
	if (!ok && faults.n > 0)
		upgrade_failed(faults.lines[0]);
	config_faults_fini(&faults);
	return ok;
}

/* Returns the exit status. */
static int
run(struct broker *broker, struct event_base *base, struct lifecycle *life)
{
	struct loop_look looks[2] = { 0 }; /* for clients; for Redis */
	int status = EXIT_FAILURE;
	bool told = false, asked = false;

	while (!lifecycle_over(life, &status)) {
		if (broker_failed(broker))
			return EXIT_FAILURE;
		if (!told && broker_accepts(broker)) {
			lifecycle_ready(life);
			told = true;
		}
		if (!loop_once(base, &looks[asked])) {
			LOG(ERROR, "loop-failed");
			return EXIT_FAILURE;
		}
		asked = broker_turn(broker);
	}
	LOG(NOTICE, "stopped");
	return status;
}

/* All names are released: a signal now must not cut short the rest. */
static void
block_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
}

/*
 * The process has passwords of Redis and hashes of users in memory.  So it
 * allows no core, not even by way of a program in core_pattern, and no debugger
 * but root's.
 */
static void
keep_secrets(const struct config *config)
{
	const struct rlimit none = { 0, 0 };

	if (!config->auth.given && config->redis.password[0] == '\0' &&
	    config->redis.sentinel_password[0] == '\0')
		return;
	(void)setrlimit(RLIMIT_CORE, &none);
	(void)prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

/* None of these asks for anything that the broker does, and each would end it
 * with all its locks. */
static void
ignore_signals(void)
{
	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGXFSZ, SIG_IGN); /* a line of the log is dropped */
	(void)signal(SIGUSR1, SIG_IGN);
	(void)signal(SIGUSR2, SIG_IGN); /* until it is handled */
}

static int
serve(struct config *config, const char *file, bool take_over)
{
	struct event_base *base;
	struct lifecycle *life;
	struct broker *broker;
	struct systemd notify;
	size_t passed = systemd_listen_fds();
	int status = EXIT_FAILURE;

	ignore_signals();
	log_setup(&config->log);
	keep_secrets(config);
	settings_fit_descriptors(config);
	/* A process with a channel was started by its predecessor, with its
	 * options. */
	if (take_over && !handed_has(HANDED_CHANNEL) && !takeover_ask(config))
		return EXIT_FAILURE;
	systemd_init(&notify);
	base = loop_new();
	settings_tell(config, file);
	if (config->redis.mode == CONFIG_MODE_EMBEDDED)
		LOG(WARNING, "embedded-redis", LOG_S("text", PROBE_EMBEDDED));
	broker = broker_new(base, config, &notify);
	life = lifecycle_new(base, broker, config, file, &notify);
	if (broker != NULL &&
	    broker_listen(broker, SYSTEMD_LISTEN_FD_FIRST, passed))
		status = run(broker, base, life);
	/* Signals are still caught while the broker tells its last clients. */
	broker_free(broker);
	block_signals();
	lifecycle_free(life);
	event_base_free(base);
	systemd_fini(&notify);
	return status;
}

/* Reports what the check of a good configuration would not mention. */
static void
tell_tested(const struct config *config, const char *file)
{
	const char *read = settings_file(file);

	if (read == NULL)
		fprintf(stderr,
		    "%s: does not exist; the defaults were checked\n",
		    settings_default_file());
	config_tell_idle(config, stderr);
	if (read != NULL)
		fprintf(stderr, "%s: no fault\n", read);
}

/* Also reports what is wrong to the process that started us. */
static bool
check_tls(const struct config *config, const char *file)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	bool ok = out != NULL && tls_check(config, file, out);

	if (out != NULL)
		(void)fclose(out);
	if (size > 0)
		fprintf(stderr, "%s", text);
	if (!ok)
		upgrade_failed(text != NULL ? text : "TLS");
	free(text);
	return ok;
}

/* Does what needs a configuration; returns the exit status. */
static int
act(const struct args *args)
{
	struct config config;
	int status = EXIT_SUCCESS;

	settings_options(args->options, args->noptions);
	if (!load(&config, args->file))
		return EXIT_USAGE;
	if (args->dump)
		config_dump(&config, stdout);
	else if (args->acl)
		status = acl_ask(&config, args->nwords, args->words, stdout);
	else if (args->probe)
		status =
		    probe_run(&config, stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
	else if (!check_tls(&config, args->file))
		status = EXIT_USAGE;
	else if (args->test)
		tell_tested(&config, args->file);
	else
		status = serve(&config, args->file, args->take_over);
	config_free(&config);
	return status;
}

int
daemon_main(int argc, char **argv)
{
	struct args args = { .file = NULL };
	int status = EXIT_SUCCESS;

	upgrade_argv_note(argc, argv);
	if (!streams_fill() || !handed_take())
		return EXIT_FAILURE;
	if (!args_parse(&args, argc, argv)) {
		(void)fputs(usage, stderr);
		free(args.options);
		return EXIT_USAGE;
	}
	if (args.help) {
		(void)fputs(usage, stdout);
		printf(help, settings_default_file());
	} else if (args.version) {
		printf("lockbrokerd %s\n", PACKAGE_VERSION);
	} else {
		status = act(&args);
	}
	settings_options(NULL, 0);
	free(args.options);
	if (fflush(stdout) != 0 || ferror(stdout)) {
		fprintf(stderr,
		    "lockbrokerd: cannot write to standard output: %s\n",
		    strerror(errno));
		return EXIT_FAILURE;
	}
	return status;
}
