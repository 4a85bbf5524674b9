/*
 * The simulator's command line: it runs seeds, reports which one breaks a
 * promise and how, and proves that each protection is needed.
 */
#include "config.h"

#include <getopt.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "base/log.h"
#include "base/xmalloc.h"
#include "core/dump.h"
#include "lua/lua.h"

#include "world.h"

#define SEEDS_DEFAULT 1000

/* The present run, for the report if an assertion fails in it; and the command
 * line. */
static struct world *running;
static int command_argc;
static char **command_argv;

/* What the command line says beyond struct sim_options. */
struct command {
	uint64_t seeds;
	unsigned jobs;	 /* processes that share them */
	double budget_s; /* it stops after so much real time; 0: it does not */
	bool ablations;
	bool twice;
	bool go_on;	    /* to the next seed after a broken promise */
	bool hashes;	    /* a line for each seed: the hash of its trace */
	const char *except; /* seeds that are not run: N,N,...; NULL: none */
};

/* Sums over the runs of one command. */
struct tally {
	uint64_t runs;
	double simulated_s;
	uint64_t grants, lost, lines, events;
	uint64_t hash; /* of the last one, where lines are kept */
	uint64_t failovers, excused;
	uint64_t warm, recalls;
	uint64_t attempts, calls;
	double free_s;
	char failure[256]; /* the last one */
};

/* Runs the seed again to see the last lines: in another process, because this
 * one is broken. */
static void
exec_again(uint64_t seed)
{
	char **argv = xcalloc((size_t)command_argc + 6, sizeof(*argv));
	char number[24];
	int n = command_argc;

	snprintf(number, sizeof(number), "%" PRIu64, seed);
	memcpy(argv, command_argv, (size_t)n * sizeof(*argv));
	argv[n++] = (char[]){ "--seed" };
	argv[n++] = number;
	argv[n++] = (char[]){ "--seeds" };
	argv[n++] = (char[]){ "1" };
	argv[n] = (char[]){ "--lines" };
	fflush(stdout);
	execv("/proc/self/exe", argv);
}

static void
on_abort(int signo)
{
	sigset_t none;

	signal(signo, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	if (running != NULL && !running->trace.on)
		exec_again(running->o->seed);
	if (running != NULL) {
		fflush(stderr);
		world_report(running);
		fflush(stdout);
	}
	abort();
}

static double
seconds_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Compiles a script, without the ablated parts; then that of an earlier version. */
static void
add_script(struct lua_host *host, const struct ablation *a, const char *name,
    const char *source, int *number)
{
	char *text = ablation_edit(a, source), *earlier;

	earlier = ablation_edit(&ablation_earlier, text);
	number[0] = lua_host_add(host, name, text);
	number[SCRIPT_MAX] = lua_host_add(host, name, earlier);
	free(earlier);
	free(text);
}

static struct lua_host *
make_host(const struct ablation *a, int *scripts)
{
	struct lua_host *host = lua_host_new();

	add_script(host, a, "keep", lua_keep, &scripts[SCRIPT_KEEP]);
	add_script(host, a, "acquire", lua_acquire, &scripts[SCRIPT_ACQUIRE]);
	return host;
}

static void
tally_add(struct tally *t, const struct world *w)
{
	int i;

	t->runs++;
	t->simulated_s += (double)world_now(w) / 1e6;
	t->lost += w->checker.lost;
	t->lines += w->checker.told;
	t->events += w->events.fired;
	t->failovers += w->sentinels.failovers + w->cluster.failovers;
	t->excused += w->checker.excused;
	t->warm += w->checker.warm;
	t->recalls += w->checker.recalls;
	for (i = 0; i < w->nbrokers; i++) {
		if (!w->brokers[i].alive)
			continue;
		t->warm += core_stats(w->brokers[i].core)->warm_grants;
		t->recalls += core_stats(w->brokers[i].core)->warm_recalls;
	}
	t->attempts += w->checker.attempts;
	t->calls += w->checker.calls;
	t->free_s += (double)w->checker.free_us / 1e6;
	if (w->failed)
		memcpy(t->failure, w->failure, sizeof(t->failure));
	for (i = 0; i < WORLD_NAMES_MAX; i++)
		t->grants += w->checker.grounds[i].grants;
}

static void
tally_join(struct tally *t, const struct tally *part)
{
	t->runs += part->runs;
	t->simulated_s += part->simulated_s;
	t->grants += part->grants;
	t->lost += part->lost;
	t->lines += part->lines;
	t->events += part->events;
	t->failovers += part->failovers;
	t->excused += part->excused;
	t->warm += part->warm;
	t->recalls += part->recalls;
	t->attempts += part->attempts;
	t->calls += part->calls;
	t->free_s += part->free_s;
}

static void
write_history(const struct world *w)
{
	FILE *out = fopen(w->o->history, "w");

	if (out == NULL) {
		perror(w->o->history);
		exit(1);
	}
	history_write(&w->history, out);
	fclose(out);
}

/* Runs one seed; false: a promise was broken. */
static bool
run_seed(const struct sim_options *o, struct lua_host *host, const int *scripts,
    struct tally *tally, uint64_t *hash, bool report)
{
	struct world *w = malloc(sizeof(*w));
	bool good;

	if (w == NULL)
		abort();
	hash_seed(1, 2);
	running = w;
	good = world_run(w, o, host, scripts);
	tally_add(tally, w);
	*hash = w->trace.hash;
	if (!good && report)
		world_report(w);
	else if (!good && o->ablation == NULL)
		printf(
		    "seed %llu: %s\n", (unsigned long long)o->seed, w->failure);
	if (o->history != NULL)
		write_history(w);
	world_free(w);
	running = NULL;
	free(w);
	return good;
}

/* Runs it again, with the last lines, and for the report. */
static void
run_again(
    const struct sim_options *o, struct lua_host *host, const int *scripts)
{
	struct sim_options loud = *o;
	struct tally none = { 0 };
	uint64_t hash;

	loud.lines = true;
	run_seed(&loud, host, scripts, &none, &hash, true);
}

static bool
is_excepted(const struct command *cmd, uint64_t seed)
{
	const char *at = cmd->except;
	char *end;

	while (at != NULL && *at != '\0') {
		if (strtoull(at, &end, 10) == seed)
			return true;
		at = *end == ',' ? end + 1 : "";
	}
	return false;
}

/* Runs the seeds from o->seed on; 0: all are good. */
static int
run_range(struct sim_options *o, const struct command *cmd, uint64_t seeds,
    struct tally *tally)
{
	int scripts[2 * SCRIPT_MAX], status = 0;
	struct lua_host *host = make_host(o->ablation, scripts);
	double start = seconds_now();
	uint64_t i, again = 0, first = o->seed;

	for (i = 0; i < seeds && (status == 0 || cmd->go_on); i++) {
		o->seed = first + i;
		if (is_excepted(cmd, o->seed))
			continue;
		if (!run_seed(o, host, scripts, tally, &tally->hash,
			o->lines && !cmd->go_on)) {
			status = 1;
			if (!o->lines && !cmd->go_on)
				run_again(o, host, scripts);
		} else if (cmd->twice) {
			run_seed(o, host, scripts, tally, &again, false);
			if (again != tally->hash) {
				printf("seed %llu: two runs differ\n",
				    (unsigned long long)o->seed);
				status = 1;
			}
		}
		if (cmd->hashes)
			printf("%" PRIu64 " %016" PRIx64 "\n", o->seed,
			    tally->hash);
		if (cmd->budget_s > 0 && seconds_now() - start > cmd->budget_s)
			break;
	}
	lua_host_free(host);
	return status;
}

/* One of several processes: it runs its part of the seeds, and writes its sums
 * into the pipe. */
static void
run_job(struct sim_options *o, const struct command *cmd, unsigned job, int fd)
{
	struct tally tally = { 0 };
	uint64_t from = cmd->seeds * job / cmd->jobs;
	uint64_t to = cmd->seeds * (job + 1) / cmd->jobs;
	int status;

	o->seed += from;
	status = run_range(o, cmd, to - from, &tally);
	fflush(stdout);
	if (write(fd, &tally, sizeof(tally)) != (ssize_t)sizeof(tally))
		status = 1;
	_exit(status);
}

static int
run_jobs(struct sim_options *o, const struct command *cmd, struct tally *sum)
{
	struct tally part;
	int fds[2], status = 0, child;
	unsigned i;

	fflush(stdout);
	if (pipe(fds) != 0)
		abort();
	for (i = 0; i < cmd->jobs; i++)
		if (fork() == 0)
			run_job(o, cmd, i, fds[1]);
	close(fds[1]);
	while (read(fds[0], &part, sizeof(part)) == (ssize_t)sizeof(part))
		tally_join(sum, &part);
	close(fds[0]);
	while (wait(&child) > 0)
		if (child != 0)
			status = 1;
	return status;
}

static int
run_seeds(struct sim_options *o, const struct command *cmd)
{
	struct tally t = { 0 };
	double start = seconds_now();
	int status = cmd->jobs > 1 ? run_jobs(o, cmd, &t)
				   : run_range(o, cmd, cmd->seeds, &t);

	printf("%s: %llu seeds, %.2f simulated days in %.0f s: %llu grants, "
	       "%llu of them warm, %llu recalled, "
	       "%.2f attempts and %.2f operations each, free for %.0f ms, "
	       "%llu lost, %llu failovers, %llu excused, %llu lines, "
	       "%llu events: %s\n",
	    o->topology->word, (unsigned long long)t.runs,
	    t.simulated_s / 86400, seconds_now() - start,
	    (unsigned long long)t.grants, (unsigned long long)t.warm,
	    (unsigned long long)t.recalls,
	    (double)t.attempts / (double)(t.grants + (t.grants == 0)),
	    (double)t.calls / (double)(t.grants + (t.grants == 0)),
	    1000 * t.free_s / (double)(t.grants + (t.grants == 0)),
	    (unsigned long long)t.lost, (unsigned long long)t.failovers,
	    (unsigned long long)t.excused, (unsigned long long)t.lines,
	    (unsigned long long)t.events, status == 0 ? "all good" : "FAILED");
	return status;
}

/* A row whose edits change nothing would say that nobody notices. */
static bool
fits(const struct ablation *a)
{
	bool fit = ablation_topology(a) != NULL &&
		   ablation_fits(a, lua_keep, lua_acquire);

	if (!fit)
		printf("%-16s no longer fits the scripts\n", a->name);
	return fit;
}

/* The ablations are run seldom; that they fit is looked at in each run. */
static bool
all_fit(void)
{
	const struct ablation *a;
	bool fit = true;

	for (a = ablations; a->name != NULL; a++)
		fit &= fits(a);
	return fit;
}

/* Runs seeds without one protection until a promise is broken. */
static bool
run_ablation(const struct sim_options *base, const struct ablation *a)
{
	struct sim_options o = *base;
	struct tally tally = { 0 };
	int scripts[2 * SCRIPT_MAX];
	struct lua_host *host;
	unsigned n;
	bool good = true;

	o.ablation = a;
	o.topology = ablation_topology(a);
	o.faults = a->faults;
	o.uses = a->uses;
	o.faults_given = o.uses_given = true;
	host = make_host(a, scripts);
	for (n = 0; n < a->seeds && good; n++) {
		o.seed = base->seed + n;
		good = run_seed(&o, host, scripts, &tally, &tally.hash, false);
	}
	lua_host_free(host);
	printf("%-15s %-56s %s %u of %u  %.*s\n", a->name, a->what,
	    good ? "NOT CAUGHT" : "caught at", n, a->seeds,
	    (int)strcspn(tally.failure, ":"), tally.failure);
	fflush(stdout);
	return !good;
}

static int
run_ablations(const struct sim_options *o)
{
	const struct ablation *a;
	int status = 0;

	for (a = ablations; a->name != NULL; a++)
		if (!run_ablation(o, a))
			status = 1;
	return status;
}

static void
usage(void)
{
	fprintf(stderr,
	    "usage: sim [--seed N] [--seeds N] [--budget SECONDS] "
	    "[--seconds S]\n"
	    "           [--topology NAME] [--brokers N] "
	    "[--faults LIST|all|none]\n"
	    "           [--trace] [--twice] [--go-on] [--except N,...] [--jobs N]\n"
	    "           [--lines] [--hashes] [--history FILE]\n"
	    "           [--uses LIST|all|none] [--tokens] [--redisson]\n"
	    "           [--leave] [--parts all|none]\n"
	    "           [--ablate NAME | --ablations]\n");
	exit(2);
}

static const struct option options[] = {
	{ "seed", required_argument, NULL, 's' },
	{ "seeds", required_argument, NULL, 'n' },
	{ "budget", required_argument, NULL, 'u' },
	{ "seconds", required_argument, NULL, 't' },
	{ "topology", required_argument, NULL, 'y' },
	{ "brokers", required_argument, NULL, 'b' },
	{ "faults", required_argument, NULL, 'f' },
	{ "jobs", required_argument, NULL, 'j' },
	{ "lines", no_argument, NULL, 'l' },
	{ "uses", required_argument, NULL, 'U' },
	{ "tokens", no_argument, NULL, 'k' },
	{ "redisson", no_argument, NULL, 'R' },
	{ "leave", no_argument, NULL, 'L' },
	{ "parts", required_argument, NULL, 'P' },
	{ "trace", no_argument, NULL, 'T' },
	{ "go-on", no_argument, NULL, 'g' },
	{ "hashes", no_argument, NULL, 'h' },
	{ "except", required_argument, NULL, 'x' },
	{ "twice", no_argument, NULL, '2' },
	{ "history", required_argument, NULL, 'H' },
	{ "ablate", required_argument, NULL, 'a' },
	{ "ablations", no_argument, NULL, 'A' },
	{ NULL, 0, NULL, 0 },
};

static void
take_ablation(struct sim_options *o, struct command *cmd)
{
	o->ablation = ablation_find(optarg);
	if (o->ablation == NULL)
		usage();
	o->topology = ablation_topology(o->ablation);
	if (!o->faults_given)
		o->faults = o->ablation->faults;
	if (!o->uses_given)
		o->uses = o->ablation->uses;
	o->faults_given = o->uses_given = true;
	cmd->seeds = o->ablation->seeds;
}

/* Takes an option that says what a run is like. */
static void
take_run_option(int c, struct sim_options *o)
{
	switch (c) {
	case 't':
		o->seconds = (int)strtol(optarg, NULL, 10);
		return;
	case 'y':
		o->topology = topology_find(optarg);
		if (o->topology == NULL)
			usage();
		return;
	case 'b':
		o->brokers = (int)strtol(optarg, NULL, 10);
		if (o->brokers < 0 || o->brokers > WORLD_BROKERS_MAX)
			usage();
		return;
	case 'f':
		o->faults_given = true;
		if (!faults_parse(optarg, &o->faults))
			usage();
		return;
	case 'U':
		o->uses_given = true;
		if (!uses_parse(optarg, &o->uses))
			usage();
		return;
	case 'k':
		o->tokens = true;
		return;
	case 'R':
		o->redisson = true;
		return;
	case 'L':
		o->leave = true;
		return;
	case 'P':
		o->alone = strcmp(optarg, "none") == 0;
		if (!o->alone && strcmp(optarg, "all") != 0)
			usage();
		return;
	case 'T':
		o->lines = o->trace = true;
		return;
	case 'l':
		o->lines = true;
		return;
	case 'H':
		o->history = optarg;
		return;
	default:
		usage();
	}
}

/* Takes an option that says which runs there are, or any other option. */
static void
take_option(int c, struct sim_options *o, struct command *cmd)
{
	switch (c) {
	case 's':
		o->seed = strtoull(optarg, NULL, 10);
		if (cmd->seeds == SEEDS_DEFAULT)
			cmd->seeds = 1;
		return;
	case 'n':
		cmd->seeds = strtoull(optarg, NULL, 10);
		return;
	case 'u':
		cmd->budget_s = strtod(optarg, NULL);
		return;
	case 'j':
		cmd->jobs = (unsigned)strtoul(optarg, NULL, 10);
		return;
	case 'g':
		cmd->go_on = true;
		return;
	case 'x':
		cmd->except = optarg;
		return;
	case '2':
		cmd->twice = o->lines = true;
		return;
	case 'h':
		cmd->hashes = o->lines = true;
		return;
	case 'a':
		take_ablation(o, cmd);
		return;
	case 'A':
		cmd->ablations = true;
		return;
	default:
		take_run_option(c, o);
	}
}

int
main(int argc, char **argv)
{
	struct sim_options o = { .seed = 1,
		.topology = &topologies[0],
		.faults = FAULT_ALL,
		.uses = USE_ALL };
	struct command cmd = { .seeds = SEEDS_DEFAULT, .jobs = 1 };
	/* src/redis logs much; the trace has all that matters. */
	struct log_settings log = { .level = LOG_LEVEL_ERROR + 1 };
	int c;

	log_setup(&log);
	command_argc = argc;
	command_argv = argv;
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		take_option(c, &o, &cmd);
	/* Tokens, brokers that are replaced, and votes are not the kernel's. */
	if (optind != argc ||
	    (o.alone && (o.tokens || o.redisson || o.leave ||
			    (o.topology->faults & FAULT_REPLACE) != 0)))
		usage();
	signal(SIGABRT, on_abort);
	signal(SIGSEGV, on_abort);
	if (!all_fit())
		return 1;
	if (cmd.ablations)
		return run_ablations(&o);
	return run_seeds(&o, &cmd);
}
