/*
 * The command lines of `lockbroker run`, `elect` and `lock`: that of flock(1),
 * as far as possible.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "base/text.h"
#include "cli/exit.h"
#include "cli/options.h"
#include "cli/run_options.h"
#include "cli/say.h"
#include "cli/timespan.h"

#define KILL_AFTER_MS 5000

/* Long options without a letter: others than those of subcommands.h. */
enum {
	OPT_HOLD = 512,
	OPT_KEEP,
	OPT_DELAY,
	OPT_ON_LOST,
	OPT_LABEL,
	OPT_GRACE,
	OPT_VALUE,
	OPT_SLOT
};

/* clang-format off */
#define LONGS_TAKING \
	{ "nonblock", no_argument, NULL, 'n' }, \
	{ "nb", no_argument, NULL, 'n' }, \
	{ "wait", required_argument, NULL, 'w' }, \
	{ "timeout", required_argument, NULL, 'w' }, \
	{ "conflict-exit-code", required_argument, NULL, 'E' }, \
	{ "shared", no_argument, NULL, 's' }, \
	{ "limit", required_argument, NULL, 'l' }, \
	{ "slot", no_argument, NULL, OPT_SLOT }, \
	{ "also", required_argument, NULL, 'a' }
#define LONGS_COMMAND \
	{ "kill-after", required_argument, NULL, 'k' }, \
	{ "command", required_argument, NULL, 'c' }, \
	{ "on-lost", required_argument, NULL, OPT_ON_LOST }
#define LONGS_HOLDING \
	{ "verbose", no_argument, NULL, 'v' }, \
	{ "quiet", no_argument, NULL, 'q' }, \
	{ "exclusive", no_argument, NULL, 'x' }, \
	{ "grace", required_argument, NULL, OPT_GRACE }, \
	{ "hold", required_argument, NULL, OPT_HOLD }, \
	{ "keep", required_argument, NULL, OPT_KEEP }, \
	{ "delay", required_argument, NULL, OPT_DELAY }, \
	{ "label", required_argument, NULL, OPT_LABEL }, \
	{ "value", required_argument, NULL, OPT_VALUE }, \
	{ NULL, 0, NULL, 0 }

static const struct option run_longs[] = { LONGS_TAKING, LONGS_COMMAND, LONGS_HOLDING };
static const struct option elect_longs[] = { LONGS_COMMAND, LONGS_HOLDING };
static const struct option lock_longs[] = { LONGS_TAKING, LONGS_HOLDING };

#define HELP_WAITING \
"  -n, --nonblock              fail at once if the lock is busy\n" \
"  -w, --wait, --timeout D     wait at most D (1.5, 500ms, 2m)\n" \
"  -E, --conflict-exit-code N  exit status when busy or timed out (1)\n"
#define HELP_WHAT \
"  -s, --shared                share the lock with other --shared holders\n" \
"  -l, --limit N               use a semaphore: at most N at a time\n" \
"      --slot                  with -l: get a slot of its own, 0 to N-1\n" \
"  -a, --also NAME             also take NAME, all or none; repeatable\n"
#define HELP_COMMAND \
"  -k, --kill-after D          time from TERM to KILL if the lock is lost (5s)\n" \
"  -c, --command STRING        run STRING with $SHELL -c, or /bin/sh -c\n" \
"      --on-lost=ACTION        term (then kill), kill, or ignore (term)\n"
#define HELP_HOLDING \
"      --hold D                hold the lock for at most D (1.5, 500ms, 2m)\n" \
"      --keep D                no other grant until D after this grant\n" \
"      --delay D               no other grant for D after a crash\n" \
"      --grace D               keep the lock for D without a connection\n" \
"      --label L               name shown to others (COMMAND@HOST:PID)\n" \
"      --value V               value shown with the lock: an address, a number\n" \
"  -x, --exclusive             do not share the lock (default)\n" \
"  -v, --verbose               report each step, and the reason for waiting\n" \
"  -q, --quiet                 show no progress on a terminal\n"

/* After NAME, the words of run and elect are those of the command. */
const struct run_words run_words[RUN_KINDS_MAX] = {
	[RUN_ONCE] = { "+:", run_longs,
	    HELP_WAITING HELP_WHAT HELP_COMMAND HELP_HOLDING },
	[RUN_ELECT] = { "+:", elect_longs, HELP_COMMAND HELP_HOLDING },
	[RUN_LOCK] = { ":", lock_longs, HELP_WAITING HELP_WHAT HELP_HOLDING },
};
/* clang-format on */

/* The start, and the margin before its end, take part of a hold. */
#define HOLD_LEAST_MS 100

static const char *const on_lost_words[] = { ON_LOST_WORDS };

static int
duration_set(int64_t *ms, const char *option, const char *arg)
{
	if (timespan_parse(arg, ms))
		return 0;
	return say_usage("%s: '%s' is not a duration (1.5, 500ms, 30s, "
			 "5m, 2h, 1d; at most 365d)",
	    option, arg);
}

static int
hold_set(struct run_options *o, const char *arg)
{
	int status = duration_set(&o->request.hold_ms, "--hold", arg);

	if (status != 0 || o->request.hold_ms >= HOLD_LEAST_MS)
		return status;
	return say_usage("--hold: %s is too short to start anything (at least "
			 "%dms)",
	    arg, HOLD_LEAST_MS);
}

static int
on_lost_set(struct run_options *o, const char *arg)
{
	size_t i;

	for (i = 0; i < sizeof(on_lost_words) / sizeof(on_lost_words[0]); i++) {
		if (strcmp(on_lost_words[i], arg) == 0) {
			o->on_lost = (enum on_lost)i;
			return 0;
		}
	}
	return say_usage("--on-lost: '%s' is not term, kill or ignore", arg);
}

static int
conflict_set(struct run_options *o, const char *arg)
{
	char *end;
	long n;

	n = strtol(arg, &end, 10);
	if (arg[0] < '0' || arg[0] > '9' || *end != '\0' || n > 255)
		return say_usage(
		    "-E: '%s' is not an exit status (0 to 255)", arg);
	o->conflict_exit = (int)n;
	return 0;
}

static int
label_set(struct run_options *o, const char *arg)
{
	if (text_name_why(span_of(arg), LABEL_MAX_BYTES) != NULL)
		return say_usage("--label: '%s' is not a label (1 to 64 "
				 "bytes, no space, no '=')",
		    arg);
	o->label = arg;
	return 0;
}

static int
value_set(struct run_options *o, const char *arg)
{
	const char *why = text_value_why(span_of(arg));

	if (why != NULL)
		return say_usage("--value: the value %s", why);
	o->request.value = arg;
	return 0;
}

static int
limit_set(struct run_options *o, const char *arg)
{
	if (parse_number(arg, strlen(arg), INT32_MAX, &o->request.limit) &&
	    o->request.limit > 0)
		return 0;
	return say_usage("-l: '%s' is not a number of at least 1", arg);
}

static int
name_add(struct run_options *o, const char *name)
{
	struct request *r = &o->request;
	unsigned i;

	if (text_name_why(span_of(name), NAME_MAX_BYTES) != NULL)
		return say_usage("'%s' is not a name (1 to 255 bytes of "
				 "UTF-8 without space, control or '=', not "
				 "beginning with '@' or '!')",
		    name);
	if (r->names_n == REQUEST_NAMES_MAX)
		return say_usage("more than %d names", REQUEST_NAMES_MAX);
	for (i = 0; i < r->names_n; i++)
		if (strcmp(r->names[i], name) == 0)
			return say_usage("'%s' is named twice", name);
	r->names[r->names_n++] = name;
	return 0;
}

static int
option_set(struct run_options *o, int opt, const char *arg)
{
	switch (opt) {
	case 'n':
		o->nonblock = true;
		return 0;
	case 'w':
		return duration_set(&o->request.wait_ms, "-w", arg);
	case 'E':
		return conflict_set(o, arg);
	case 'k':
		return duration_set(&o->kill_after_ms, "-k", arg);
	case 'c':
		o->string = arg;
		return 0;
	case 'v':
		o->verbose = true;
		return 0;
	case 'q':
		o->quiet = true;
		return 0;
	case 'x':
		o->request.shared = false;
		return 0;
	case 's':
		o->request.shared = true;
		return 0;
	case 'l':
		return limit_set(o, arg);
	case 'a':
		return name_add(o, arg);
	case OPT_GRACE:
		return duration_set(&o->grace_ms, "--grace", arg);
	case OPT_HOLD:
		return hold_set(o, arg);
	case OPT_KEEP:
		return duration_set(&o->request.keep_ms, "--keep", arg);
	case OPT_DELAY:
		return duration_set(&o->request.delay_ms, "--delay", arg);
	case OPT_ON_LOST:
		return on_lost_set(o, arg);
	case OPT_LABEL:
		return label_set(o, arg);
	case OPT_VALUE:
		return value_set(o, arg);
	case OPT_SLOT:
		o->request.slot = true;
		return 0;
	default:
		return CLI_EXIT_USAGE;
	}
}

/*
 * Takes what follows NAME: `[--] COMMAND ...`, or `-c STRING` as with flock(1).
 */
static int
command_set(struct run_options *o, int argc, char **argv)
{
	if (argc >= 1 && o->string == NULL &&
	    (strcmp(argv[0], "-c") == 0 || strcmp(argv[0], "--command") == 0)) {
		if (argc != 2)
			return say_usage(
			    "%s takes exactly one string", argv[0]);
		o->string = argv[1];
		return 0;
	}
	if (argc >= 1 && strcmp(argv[0], "--") == 0) {
		argc--;
		argv++;
	}
	if (argc == 0 && o->string == NULL)
		return say_usage("no command given");
	if (argc > 0 && o->string != NULL)
		return say_usage("-c STRING and COMMAND exclude each other");
	if (argc > 0 && argv[0][0] == '\0')
		return say_usage("the command is empty");
	o->argv = argc > 0 ? argv : NULL;
	return 0;
}

/* The name after the options comes before those of -a. */
static int
name_first(struct run_options *o, const char *name)
{
	unsigned n = o->request.names_n;
	int rc = name_add(o, name);

	if (rc != 0)
		return rc;
	o->request.names[0] = o->request.names[n];
	o->request.names_n = n;
	return 0;
}

/* Refuses options that contradict each other. */
static int
combination_check(struct run_options *o)
{
	struct request *r = &o->request;

	if (o->nonblock && r->wait_ms != REQUEST_FOREVER)
		return say_usage("-n and -w exclude each other");
	if (o->nonblock)
		r->wait_ms = 0;
	if (r->limit > 0 && (r->shared || r->names_n > 1 || r->keep_ms >= 0 ||
				r->delay_ms >= 0))
		return say_usage("-l cannot be combined with -s, -a, --keep "
				 "or --delay");
	if (r->slot && r->limit == 0)
		return say_usage("--slot needs -l");
	if (r->value != NULL && (r->limit > 0 || r->shared || r->names_n > 1))
		return say_usage("--value is for one exclusive lock: it "
				 "cannot be combined with -l, -s or -a");
	return 0;
}

/* The trace that this command is a part of; a malformed one counts as none. */
static const char *
trace_of_env(void)
{
	const char *trace = getenv("TRACEPARENT");

	return trace != NULL && text_is_trace(span_of(trace)) ? trace : NULL;
}

int
run_options_parse(
    struct run_options *o, enum run_kind kind, int argc, char **argv)
{
	struct options options;
	int opt, rc;

	options_init(&options, run_words[kind].begin);
	options_add(&options, run_words[kind].longs);
	memset(o, 0, sizeof(*o));
	o->kind = kind;
	o->request.wait_ms = REQUEST_FOREVER;
	o->request.hold_ms = o->request.keep_ms = o->request.delay_ms = -1;
	o->request.trace = trace_of_env();
	o->conflict_exit = CLI_EXIT_NO;
	o->kill_after_ms = KILL_AFTER_MS;
	/* The first name is the one after the options. */
	o->request.names_n = 1;
	o->request.names[0] = "";
	optind = 0;
	while ((opt = getopt_long(
		    argc, argv, options.letters, options.longs, NULL)) != -1) {
		if (opt == '?' || opt == ':')
			return options_fault(opt, argv, options.longs);
		rc = option_set(o, opt, optarg);
		if (rc != 0)
			return rc;
	}
	if (optind >= argc)
		return say_usage("no lock given");
	rc = name_first(o, argv[optind]);
	if (rc == 0)
		rc = combination_check(o);
	if (rc != 0)
		return rc;
	if (kind != RUN_LOCK)
		return command_set(o, argc - optind - 1, argv + optind + 1);
	if (optind + 1 < argc)
		return say_usage("'%s': lock takes one name and no command; "
				 "add names with -a, or use run",
		    argv[optind + 1]);
	return 0;
}
