/*
 * One run: a world is drawn from its seed, works while faults strike, is
 * healed, and comes to rest.
 *
 *	0 ......... heal ......... leave ............. rest ...... end
 *	  faults          patience        clients go home   brokers stop
 */
#include "config.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "resumes.h"
#include "world.h"

#define LOOK_EVERY_US 50000
#define MANY_BROKERS 16
#define STOP_US 4000000
#define REST_US 1000000 /* between two looks whether all is over */

static event_fn world_on_look;

int64_t
world_delay_us(struct world *w)
{
	return faults_delay_us(
	    w, prng_skewed(&w->prng, w->latency_us / 2, w->latency_us * 2));
}

void
world_fail(struct world *w, const char *promise, const char *fmt, ...)
{
	va_list ap;
	int n;

	if (w->failed)
		return;
	w->failed = true;
	w->faults.misled = w->faults.garbled;
	w->checker.excused += w->faults.misled;
	n = snprintf(w->failure, sizeof(w->failure), "%s: ", promise);
	va_start(ap, fmt);
	vsnprintf(w->failure + n, sizeof(w->failure) - (size_t)n, fmt, ap);
	va_end(ap);
	TRACE(w, "FAILED %s", w->failure);
}

static void
world_on_look(void *object, uint64_t tag)
{
	struct world *w = object;

	(void)tag;
	checker_look(w);
	events_at(
	    &w->events, world_now(w) + LOOK_EVERY_US, world_on_look, w, 0);
}

/*
 * Draws from a separate stream. redis.trust_new promises that no server which
 * has lost its data is taken for a new one.
 */
static void
draw_more(struct world *w)
{
	struct prng p;

	prng_seed(&p, w->o->seed ^ 0x7472757374);
	prng_seed(&w->faults.late, w->o->seed ^ 0x6c617465);
	w->trusts = prng_chance(&p, 200) && !faults_forget(w) && !w->owned &&
		    w->o->ablation == NULL;
	w->still = prng_chance(&p, 300);
	w->steps = prng_chance(&p, 300);
	w->strict = prng_chance(&p, 300) && w->replicates;
	if (world_ablated(w, ABLATE_TRUST))
		w->trusts = true;
	faults_spoil_draw(w, &p);
}

/* What the checker can say of brokers whose clocks have stood still. */
static void
simple_only(struct world *w)
{
	w->shares = w->groups = w->proxies = w->circles = false;
	memset(w->permits, 0, sizeof(w->permits));
	w->uses.on = 0;
}

/* Draws the faults, how many brokers and clients, and the times. */
static void
world_draw(struct world *w)
{
	const struct sim_options *o = w->o;
	struct prng *p = &w->prng;
	int64_t seconds;
	unsigned mask = (unsigned)prng_below(p, 1u << FAULT_BIT_SEVERAL) &
			(unsigned)prng_below(p, 1u << FAULT_BIT_SEVERAL);

	w->nbrokers = (int)prng_range(p, 1, WORLD_BROKERS_DRAWN);
	w->lanes = (uint32_t)prng_range(p, 1, LANES_MAX);
	w->nclients = (int)prng_range(p, 2, 10);
	w->nnames = (int)prng_range(p, 1, 3);
	w->lease_ms = prng_skewed(p, 1000, 4000);
	w->reply_timeout_ms = prng_range(p, w->lease_ms / 6, 2000);
	w->latency_us = prng_skewed(p, 20, 2000);
	if (prng_chance(p, 300))
		w->work = (unsigned)prng_skewed(p, 1, 60);
	w->shares = prng_chance(p, 400);
	w->groups = prng_chance(p, 300);
	w->proxies = prng_chance(p, 400);
	w->circles = prng_chance(p, 400);
	if (prng_chance(p, 300))
		w->permits[0] = (uint64_t)prng_range(p, 1, 6);
	/* Few clients that lock again at once: names become warm. */
	w->hasty = o->seed % 8 == 3 || ablation_of_warmth(o->ablation);
	if (w->hasty)
		w->nclients = 1 + w->nclients % 3;
	seconds = prng_range(p, 20, 40);
	/* One run in ten has no fault. */
	if (prng_chance(p, 100))
		mask = 0;
	w->faults.on = o->faults_given ? o->faults : mask & o->faults;
	if (world_ablated(w, ABLATE_MANY))
		w->nbrokers = MANY_BROKERS;
	if (o->brokers > 0)
		w->nbrokers = o->brokers;
	if (o->seconds > 0)
		seconds = o->seconds;
	w->pad_ms = w->lease_ms * 3 / 10;
	w->pad_ms = w->pad_ms < 500 ? 500 : w->pad_ms;
	w->grace_ms = w->lease_ms + (w->lease_ms + 99) / 100 + w->pad_ms + 500;
	w->heal_us = seconds * 1000000;
	w->split_us = -1;
	o->topology->draw(w);
	if (mask != 0 && o->topology->faults != 0 && !o->faults_given)
		w->faults.on |= (unsigned)prng_below(p, 1u << FAULT_BITS) &
				o->topology->faults & o->faults;
	if (!w->replicates)
		w->faults.on &= ~(unsigned)(FAULT_LAG | FAULT_FAILOVER);
	/* Such a broker writes what others have by now (lockbroker-guarantees(7)). */
	if (faults_forget(w))
		w->faults.on &= ~(unsigned)FAULT_STANDSTILL;
	draw_more(w);
	uses_draw(w);
	if ((w->faults.on & FAULT_STANDSTILL) != 0) {
		simple_only(w);
	} else if (prng_chance(p, 10)) {
		w->crowd.n = (int)prng_skewed(p, 50, w->quorum ? 100 : 600);
		w->heal_us /= 3;
	}
	leaving_draw(w);
	alone_draw(w);
}

static void
world_make(struct world *w)
{
	int i;

	for (i = 0; i < w->nservers; i++)
		server_init(&w->servers[i], w, i);
	if (w->o->topology->make != NULL)
		w->o->topology->make(w);
	for (i = 0; i < w->nbrokers; i++)
		broker_init(&w->brokers[i], w, i);
	for (i = 0; i < w->nclients; i++)
		client_init(&w->clients[i], w, i);
	TRACE(w, "%s, %d servers, %u replicas confirm, %u lanes, work %u",
	    w->o->topology->word, w->nservers, w->replicas, w->lanes, w->work);
	TRACE(w,
	    "%d brokers, %d clients, %d names, lease %lld ms, "
	    "latency %lld us, faults %x%s%s%s, %llu, %llu, %llu permits",
	    w->nbrokers, w->nclients, w->nnames, (long long)w->lease_ms,
	    (long long)w->latency_us, w->faults.on, w->shares ? ", shares" : "",
	    w->groups ? ", groups" : "", w->circles ? ", circles" : "",
	    (unsigned long long)w->permits[0],
	    (unsigned long long)w->permits[1],
	    (unsigned long long)w->permits[2]);
	crowd_make(w);
	pollers_make(w);
	for (i = 0; i < w->places; i++)
		broker_start(&w->brokers[i]);
	if (w->o->topology->start != NULL)
		w->o->topology->start(w);
	faults_start(w);
	leaving_start(w);
	w->leave_us =
	    w->heal_us + faults_patience_us(w) + 2 * w->lease_ms * 1000;
	events_at(&w->events, LOOK_EVERY_US, world_on_look, w, 0);
}

static void
run_until(struct world *w, int64_t until_us)
{
	while (!w->failed && events_step(&w->events, until_us))
		;
	if (!w->failed && w->events.now_us < until_us)
		w->events.now_us = until_us;
}

/* All clients have left; brokers stop in order. */
static void
world_stop(struct world *w)
{
	int i;

	for (i = 0; i < w->nbrokers && !w->failed; i++)
		broker_stop(&w->brokers[i]);
	run_until(w, world_now(w) + STOP_US);
	for (i = 0; i < w->nbrokers && !w->failed; i++)
		if (w->brokers[i].alive && !core_stopped(w->brokers[i].core))
			world_fail(
			    w, "P6", "%s does not stop", w->brokers[i].name);
}

bool
world_run(struct world *w, const struct sim_options *o, struct lua_host *lua,
    const int *scripts)
{
	int i;

	memset(w, 0, sizeof(*w));
	w->o = o;
	w->lua = lua;
	w->scripts = scripts;
	prng_seed(&w->prng, o->seed);
	events_init(&w->events);
	trace_init(&w->trace, o->lines, o->trace);
	history_init(&w->history);
	checker_init(w);
	world_draw(w);
	warmth_draw(w);
	world_make(w);
	run_until(w, w->heal_us);
	if (!w->failed && w->faults.on != 0)
		faults_heal(w);
	run_until(w, w->leave_us);
	for (i = 0; i < w->nclients; i++)
		client_leave(&w->clients[i]);
	pollers_leave(w);
	/* Waits, keeps, tombstones and queues run out. */
	w->end_us =
	    w->leave_us + 2 * faults_patience_us(w) + 12 * w->lease_ms * 1000;
	while (!w->failed && world_now(w) < w->end_us && !checker_at_rest(w))
		run_until(w, world_now(w) + REST_US);
	checker_end(w);
	if (!w->failed)
		world_stop(w);
	return !w->failed || w->faults.misled;
}

void
world_report(const struct world *w)
{
	trace_dump(&w->trace);
	printf("seed %llu: %s\n", (unsigned long long)w->o->seed,
	    w->failed ? w->failure : "died");
}

void
world_free(struct world *w)
{
	int i;

	bonds_free(w);

	for (i = 0; i < w->nbrokers; i++)
		broker_fini(&w->brokers[i]);
	for (i = 0; i < w->nclients; i++)
		client_fini(&w->clients[i]);
	for (i = 0; i < w->nservers; i++)
		server_fini(&w->servers[i]);
	sentinels_fini(w);
	checker_fini(w);
	crowd_free(w);
	free(w->beats.v);
	history_fini(&w->history);
	events_fini(&w->events);
}
