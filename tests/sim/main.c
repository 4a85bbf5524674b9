/*
 * The simulator's command line: runs seeds, says which one breaks a promise
 * and how, proves that each protection is needed.
 */
#include "config.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/map.h"
#include "lua/scripts.h"

#include "world.h"

#define SEEDS_DEFAULT 1000

/* The run at hand, for the report when an assertion fails in it. */
static struct world *running;

/* What the command line says beyond struct sim_options. */
struct command {
	uint64_t seeds;
	double budget_s; /* stop after so much real time; 0: no */
	bool ablations;
	bool twice;
	bool go_on; /* to the next seed after a broken promise */
};

/* Sums over the runs of one command. */
struct tally {
	uint64_t runs;
	double simulated_s;
	uint64_t grants, lost, lines, events;
	char failure[256]; /* the last one */
};

static void
on_abort(int signo)
{
	signal(signo, SIG_DFL);
	signal(SIGABRT, SIG_DFL);
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

/* Compiles the scripts, without what is ablated. */
static struct lua_host *
make_host(const struct ablation *a, int *scripts)
{
	struct lua_host *host = lua_host_new();
	char *keep = ablation_edit(a, lua_keep);
	char *acquire = ablation_edit(a, lua_acquire);

	scripts[SCRIPT_KEEP] = lua_host_add(host, "keep", keep);
	scripts[SCRIPT_ACQUIRE] = lua_host_add(host, "acquire", acquire);
	free(keep);
	free(acquire);
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
	if (w->failed)
		memcpy(t->failure, w->failure, sizeof(t->failure));
	for (i = 0; i < WORLD_NAMES_MAX; i++)
		t->grants += w->checker.grounds[i].grants;
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

/* One seed; false: a promise was broken. */
static bool
run_seed(const struct sim_options *o, struct lua_host *host, const int *scripts,
    struct tally *tally, uint64_t *hash, bool report)
{
	struct world *w = malloc(sizeof(*w));
	bool good;

	if (w == NULL)
		abort();
	map_seed(1, 2);
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

static int
run_seeds(struct sim_options *o, const struct command *cmd)
{
	struct tally tally = { 0 };
	int scripts[SCRIPT_MAX], status = 0;
	struct lua_host *host = make_host(o->ablation, scripts);
	double start = seconds_now(), took;
	uint64_t i, hash = 0, again = 0, first = o->seed;

	for (i = 0; i < cmd->seeds && (status == 0 || cmd->go_on); i++) {
		o->seed = first + i;
		if (!run_seed(o, host, scripts, &tally, &hash, !cmd->go_on))
			status = 1;
		else if (cmd->twice) {
			run_seed(o, host, scripts, &tally, &again, false);
			if (again != hash) {
				printf("seed %llu: two runs differ\n",
				    (unsigned long long)o->seed);
				status = 1;
			}
		}
		if (cmd->budget_s > 0 && seconds_now() - start > cmd->budget_s)
			break;
	}
	took = seconds_now() - start;
	printf("%llu runs in %.1f s: %.1f simulated hours, %llu grants, "
	       "%llu lost, %llu lines, %llu events, last trace %016llx: %s\n",
	    (unsigned long long)tally.runs, took, tally.simulated_s / 3600,
	    (unsigned long long)tally.grants, (unsigned long long)tally.lost,
	    (unsigned long long)tally.lines, (unsigned long long)tally.events,
	    (unsigned long long)hash, status == 0 ? "all good" : "FAILED");
	lua_host_free(host);
	return status;
}

/* Runs seeds without one protection until a promise is broken. */
static bool
run_ablation(const struct sim_options *base, const struct ablation *a)
{
	struct sim_options o = *base;
	struct tally tally = { 0 };
	int scripts[SCRIPT_MAX];
	struct lua_host *host;
	uint64_t hash;
	unsigned n;
	bool good = true;

	if (!ablation_fits(a, lua_keep, lua_acquire)) {
		printf("%-16s no longer fits the scripts\n", a->name);
		return false;
	}
	o.ablation = a;
	o.faults = a->faults;
	o.faults_given = true;
	host = make_host(a, scripts);
	for (n = 0; n < a->seeds && good; n++) {
		o.seed = base->seed + n;
		good = run_seed(&o, host, scripts, &tally, &hash, false);
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
	    "           [--trace] [--twice] [--go-on] [--history FILE]\n"
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
	{ "trace", no_argument, NULL, 'T' },
	{ "go-on", no_argument, NULL, 'g' },
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
	if (!o->faults_given)
		o->faults = o->ablation->faults;
	o->faults_given = true;
	cmd->seeds = o->ablation->seeds;
}

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
	case 'T':
		o->trace = true;
		return;
	case 'g':
		cmd->go_on = true;
		return;
	case '2':
		cmd->twice = true;
		return;
	case 'H':
		o->history = optarg;
		return;
	case 'a':
		take_ablation(o, cmd);
		return;
	case 'A':
		cmd->ablations = true;
		return;
	default:
		usage();
	}
}

int
main(int argc, char **argv)
{
	struct sim_options o = {
		.seed = 1, .topology = &topologies[0], .faults = FAULT_ALL
	};
	struct command cmd = { .seeds = SEEDS_DEFAULT };
	int c;

	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
		take_option(c, &o, &cmd);
	if (optind != argc)
		usage();
	signal(SIGABRT, on_abort);
	signal(SIGSEGV, on_abort);
	if (cmd.ablations)
		return run_ablations(&o);
	return run_seeds(&o, &cmd);
}
