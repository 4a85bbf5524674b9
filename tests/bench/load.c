/*
 * The closed loop, and the report.
 */
#include "config.h"

#include "load.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#define END_SECONDS 10

static void
take(struct peer *p)
{
	p->step = STEP_TAKE;
	p->asked_ns = now_ns();
	load_of(p)->mode->take(p);
}

void
load_granted(struct peer *p)
{
	struct load *load = load_of(p);
	uint64_t now = now_ns();

	histogram_add(&load->wait, now - p->asked_ns);
	if (p->granted_ns != 0)
		histogram_add(&load->round, now - p->granted_ns);
	p->granted_ns = now;
	p->grants++;
	p->step = STEP_WORK;
	peer_pause(p, PAUSE_WORK);
}

void
load_given(struct peer *p)
{
	struct load *load = load_of(p);

	histogram_add(&load->pair, now_ns() - p->asked_ns);
	load->pairs++;
	p->step = STEP_THINK;
	peer_pause(p, PAUSE_THINK);
}

static void
resume(struct peer *p)
{
	struct load *load = load_of(p);

	if (p->step != STEP_THINK) {
		p->step = STEP_GIVE;
		load->mode->give(p);
	} else if (load->ending) {
		load->active--;
	} else {
		take(p);
	}
}

/* Lets all come to an end, so that nothing is held by the next run. */
static void
end(struct load *load, struct peers *peers)
{
	uint64_t until_ns = now_ns() + END_SECONDS * UINT64_C(1000000000);

	load->ending = true;
	while (load->active > 0 && now_ns() < until_ns)
		peers_run(peers, now_ns() + 2000000);
	if (load->active > 0)
		fail("%u clients did not come to an end", load->active);
}

static void
name_peers(struct peers *peers, const struct load *load)
{
	unsigned i;

	for (i = 0; i < peers->n; i++) {
		struct peer *p = &peers->v[i];

		if (load->names == 0)
			snprintf(p->name, sizeof(p->name), "own/%u", i);
		else
			snprintf(p->name, sizeof(p->name), "shared/%u",
			    i % load->names);
		if (load->mode->open != NULL)
			load->mode->open(p);
	}
}

/* Forgets what was measured while all got going. */
static void
begin(struct load *load, struct peers *peers)
{
	unsigned i;

	load->pairs = 0;
	memset(&load->wait, 0, sizeof(load->wait));
	memset(&load->pair, 0, sizeof(load->pair));
	memset(&load->round, 0, sizeof(load->round));
	for (i = 0; i < peers->n; i++) {
		peers->v[i].grants = 0;
		peers->v[i].granted_ns = 0;
	}
	for (i = 0; i < load->nprocesses; i++)
		load->processes[i].cpu_ns = cpu_ns(load->processes[i].pid);
	load->started_ns = now_ns();
}

static double
fairness(const struct peers *peers)
{
	uint64_t *counts = xcalloc(peers->n, sizeof(*counts));
	double index;
	unsigned i;

	for (i = 0; i < peers->n; i++)
		counts[i] = peers->v[i].grants;
	index = jain(counts, peers->n);
	free(counts);
	return index;
}

static void
report_times(const char *name, const struct histogram *h)
{
	printf(", \"%s_p50_us\": %.1f, \"%s_p99_us\": %.1f", name,
	    histogram_us(h, 0.5), name, histogram_us(h, 0.99));
}

static void
report(const struct load *load, const struct peers *peers)
{
	double elapsed_ns = (double)(now_ns() - load->started_ns);
	double pairs = load->pairs > 0 ? (double)load->pairs : 1;
	size_t i;

	printf("{\"mode\": \"%s\", \"clients\": %u, \"pairs\": %llu, "
	       "\"pairs_per_s\": %.1f, \"jain\": %.5f",
	    load->mode->name, load->clients, (unsigned long long)load->pairs,
	    (double)load->pairs / elapsed_ns * 1e9, fairness(peers));
	report_times("wait", &load->wait);
	report_times("pair", &load->pair);
	report_times("round", &load->round);
	for (i = 0; i < load->nprocesses; i++) {
		const struct process *process = &load->processes[i];
		double used = (double)(cpu_ns(process->pid) - process->cpu_ns);

		printf(", \"%s_cpu_us_per_pair\": %.3f, "
		       "\"%s_cpu_percent\": %.2f",
		    process->name, used / 1000 / pairs, process->name,
		    used / elapsed_ns * 100);
	}
	printf("}\n");
}

void
load_run(struct load *load)
{
	const struct peer_handler handler = {
		.frame = load->mode->frame,
		.answer = load->mode->answer,
		.resume = resume,
	};
	struct peers *peers = peers_new(
	    load->clients, load->addresses, load->naddresses, &handler, load);
	unsigned i;

	peers_pause_length(peers, PAUSE_WORK, load->work_us * UINT64_C(1000));
	peers_pause_length(peers, PAUSE_THINK, load->think_us * UINT64_C(1000));
	if (load->mode->prepare != NULL)
		load->mode->prepare(peers);
	name_peers(peers, load);
	load->active = peers->n;
	for (i = 0; i < peers->n; i++)
		take(&peers->v[i]);
	peers_run(peers, now_ns() + (uint64_t)(load->warm_seconds * 1e9));
	begin(load, peers);
	peers_run(peers, now_ns() + (uint64_t)(load->seconds * 1e9));
	if (load->pairs == 0)
		fail("nothing was done");
	report(load, peers);
	end(load, peers);
	peers_free(peers);
}
