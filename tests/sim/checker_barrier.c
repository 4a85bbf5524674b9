/*
 * Promises about barriers: a generation is complete or broken for all of its
 * parties, each has a place of its own in it, no generation comes twice; a
 * barrier breaks when a party leaves, and only then; enough who wait go on.
 *
 * A generation that somebody was told of needs as many parties as it says:
 * those who are told of it, and those who could not be told any more.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/xmalloc.h"

#include "checker_state.h"
#include "world.h"

#define SLACK_US 2000 /* clocks count milliseconds */

static struct barrier_facts *
facts_of(struct world *w, const struct ask *ask)
{
	return &w->checker.barriers[ask->object];
}

/* How long a party that is gone may be taken for one that is there: its broker
 * could not say so, and its place runs out. */
static int64_t
memory_us(const struct world *w)
{
	const unsigned quick = FAULT_CRASH | FAULT_STOP | FAULT_FORGET;
	int64_t most_ms = w->lease_ms + w->pad_ms + w->reply_timeout_ms + 100;

	if (faults_none(w))
		return faults_patience_us(w);
	/* What else there is keeps brokers from Redis, for some leases. */
	if ((w->faults.on & ~quick) != 0)
		most_ms +=
		    4 * w->lease_ms + w->pad_ms + 2 * w->reply_timeout_ms;
	/* What replicas do not confirm is asked for while the store has it. */
	if (w->replicas > 0 && (w->faults.on & ~quick) != 0)
		most_ms += 10 * (w->lease_ms + w->pad_ms);
	return most_ms * 1010 + w->faults.back_us;
}

void
checker_barrier_amnesia(struct world *w)
{
	struct checker *k = &w->checker;
	size_t i;
	int j;

	for (j = 0; j < CHECKER_BARRIERS_MAX; j++)
		k->barriers[j].forgot_us = k->barriers[j].left_us =
		    world_now(w);
	for (i = 0; i < k->ngenerations; i++)
		if (k->generations[i].told < k->generations[i].parties)
			k->generations[i].dim = true;
}

void
checker_barrier_received(struct world *w, struct ask *ask)
{
	struct barrier_facts *f;

	if (ask->kind != ASK_BARRIER)
		return;
	assert(ask->limit <= CHECKER_PARTIES_MAX);
	f = facts_of(w, ask);
	ask->seen = f->latest;
	f->mixed = f->mixed || ask->limit != w->uses.parties;
	f->full_us = world_now(w);
}

/* It leaves, and its generation breaks. */
static void
depart(struct world *w, struct ask *ask)
{
	struct barrier_facts *f = facts_of(w, ask);
	int64_t since_us = ask->received_us;

	ask->departed = true;
	f->left_us = f->full_us = world_now(w);
	if (since_us < faults_calm_us(w))
		since_us = faults_calm_us(w);
	if (world_now(w) - since_us > faults_patience_us(w))
		f->died_us = world_now(w);
}

void
checker_barrier_gone(struct world *w, struct ask *ask)
{
	if (ask->kind == ASK_BARRIER)
		depart(w, ask);
}

/* Generations. */

static struct generation *
find(struct checker *k, int barrier, uint64_t number)
{
	struct generation *g;
	size_t i;

	for (i = k->ngenerations; i-- > 0;) {
		g = &k->generations[i];
		if (g->barrier == barrier && g->number == number)
			return g;
	}
	return NULL;
}

/* Is there one broker, which knows all it has ever answered? */
static bool
one_knows(const struct world *w)
{
	return w->nbrokers == 1 &&
	       (w->faults.on & (FAULT_CRASH | FAULT_STOP)) == 0;
}

/*
 * May it be a party of the generation that nobody could be told of?  Where
 * nothing is wrong, or all are parties of one broker, only one whose session
 * ended.
 */
static bool
may_be_party(
    const struct world *w, const struct generation *g, const struct ask *ask)
{
	if (ask->kind != ASK_BARRIER || ask->object != g->barrier ||
	    ask->limit != g->parties || !ask->departed || ask->counted)
		return false;
	if (!ask->gone && (faults_none(w) || one_knows(w)))
		return false;
	return ask->received_us <= g->first_us &&
	       ask->ended_us >= g->first_us - memory_us(w);
}

/* Those who can be parties of a generation of which one was told just now. */
static uint64_t
count_parties(const struct world *w, const struct generation *g)
{
	const struct checker *k = &w->checker;
	const struct ask *ask;
	uint64_t n = 1;
	size_t i;

	for (i = 0; i < k->nasks; i++) {
		ask = &k->asks[i];
		if (may_be_party(w, g, ask))
			n++;
	}
	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind == ASK_BARRIER && ask->object == g->barrier &&
		    ask->limit == g->parties)
			n++;
	}
	return n;
}

static struct generation *
begin(struct world *w, const struct answer *a, const struct ask *ask)
{
	struct checker *k = &w->checker;
	const struct barrier_facts *f = facts_of(w, ask);
	struct generation *g;
	uint64_t n;

	if (k->ngenerations == k->generations_size) {
		k->generations_size = k->generations_size * 2 + 64;
		k->generations = xrealloc(k->generations,
		    k->generations_size * sizeof(*k->generations));
	}
	g = &k->generations[k->ngenerations++];
	memset(g, 0, sizeof(*g));
	g->barrier = ask->object;
	g->number = a->generation;
	g->parties = ask->limit;
	g->first_us = world_now(w);
	g->dim = f->forgot_us > 0 &&
		 world_now(w) - f->forgot_us < faults_patience_us(w);
	n = count_parties(w, g);
	if (n < g->parties)
		world_fail(w, "barrier",
		    "generation %llu of g%d is complete, and %llu of %llu "
		    "parties were there",
		    (unsigned long long)g->number, g->barrier,
		    (unsigned long long)n, (unsigned long long)g->parties);
	return g;
}

/* First come, first placed, within a broker. */
static void
check_places(struct world *w, const struct generation *g, const struct ask *ask,
    uint64_t index)
{
	const struct ask *other;
	uint64_t i;

	for (i = 0; i < g->parties && !w->failed; i++) {
		if (((g->places >> i) & 1) == 0)
			continue;
		other = checker_ask(w, g->refs[i]);
		if (other->broker == ask->broker &&
		    (other->order < ask->order) != (i > index))
			world_fail(w, "barrier",
			    "g%d: requests %llu and %llu have places %llu and "
			    "%llu",
			    g->barrier, (unsigned long long)other->ref,
			    (unsigned long long)ask->ref, (unsigned long long)i,
			    (unsigned long long)index);
	}
}

/* Is the place one of this generation, and nobody's yet? */
static bool
can_have(
    const struct generation *g, const struct answer *a, const struct ask *ask)
{
	return a->index < g->parties && ask->limit == g->parties &&
	       ((g->places >> a->index) & 1) == 0;
}

static void
on_ok(struct world *w, const struct answer *a, struct ask *ask)
{
	struct barrier_facts *f = facts_of(w, ask);
	struct generation *g = find(&w->checker, ask->object, a->generation);

	if (a->generation <= ask->seen && !faults_excuse_fence(w))
		world_fail(w, "barrier",
		    "g%d: request %llu is of generation %llu, and came after "
		    "generation %llu",
		    ask->object, (unsigned long long)ask->ref,
		    (unsigned long long)a->generation,
		    (unsigned long long)ask->seen);
	if (g == NULL)
		g = begin(w, a, ask);
	/* Two masters may each have a generation of that number. */
	if (!can_have(g, a, ask) && faults_excuse_fence(w))
		return;
	if (!can_have(g, a, ask)) {
		world_fail(w, "barrier",
		    "g%d: request %llu has place %llu of generation %llu, "
		    "which is not to be had",
		    ask->object, (unsigned long long)ask->ref,
		    (unsigned long long)a->index,
		    (unsigned long long)g->number);
		return;
	}
	check_places(w, g, ask, a->index);
	g->places |= UINT64_C(1) << a->index;
	g->refs[a->index] = ask->ref;
	g->told++;
	ask->counted = true;
	if (g->number > f->latest)
		f->latest = g->number;
	f->full_us = world_now(w);
}

/* Will it leave in this moment, or has it, though it was not told yet? */
static bool
is_leaving(const struct world *w, const struct ask *ask)
{
	return ask->cancelled ||
	       w->checker.sittings[ask->sitting - 1].draining ||
	       (ask->wait_ms != CORE_WAIT_FOREVER &&
		   ask->received_us + ask->wait_ms * 990 - SLACK_US <=
		       world_now(w));
}

/* Somebody must have left. */
static void
on_broken(struct world *w, const struct ask *ask)
{
	const struct checker *k = &w->checker;
	const struct barrier_facts *f = facts_of(w, ask);
	const struct ask *other;
	size_t i;

	if (!faults_none(w) ||
	    (f->left_us > 0 &&
		f->left_us > ask->received_us - faults_patience_us(w)))
		return;
	for (i = 0; i < k->nopen; i++) {
		other = &k->asks[k->open[i] - 1];
		if (other->kind == ASK_BARRIER &&
		    other->object == ask->object && is_leaving(w, other))
			return;
	}
	world_fail(w, "barrier",
	    "g%d is broken for request %llu, and nobody has left", ask->object,
	    (unsigned long long)ask->ref);
}

void
checker_barrier_answered(struct world *w, const struct broker *b,
    const struct answer *a, struct ask *ask)
{
	if (ask->kind != ASK_BARRIER)
		return;
	if (a->status == STATUS_OK) {
		on_ok(w, a, ask);
		return;
	}
	if (a->code == ERR_BROKEN)
		on_broken(w, ask);
	if (a->code == ERR_MISMATCH && !facts_of(w, ask)->mixed)
		world_fail(w, "barrier",
		    "%s refuses request %llu, and all have the same parties=",
		    b->name, (unsigned long long)ask->ref);
	depart(w, ask);
}

/* What only time can show. */

/* Enough wait, and none of them goes on. */
static void
look_at_full(struct world *w, int barrier, uint64_t waiting)
{
	struct barrier_facts *f = &w->checker.barriers[barrier];
	int64_t since_us;

	if (waiting < w->uses.parties)
		f->full_us = world_now(w);
	since_us = f->full_us;
	if (since_us < faults_calm_us(w))
		since_us = faults_calm_us(w);
	if (world_now(w) - since_us > faults_patience_us(w))
		world_fail(w, "barrier",
		    "%llu wait at g%d for %lld ms, and %llu are enough",
		    (unsigned long long)waiting, barrier,
		    (long long)(world_now(w) - since_us) / 1000,
		    (unsigned long long)w->uses.parties);
}

/* One of those who wait with it has died, and it hears nothing. */
static void
look_at_dead(struct world *w, const struct ask *ask)
{
	const struct barrier_facts *f = facts_of(w, ask);
	int64_t since_us = ask->received_us;

	if (since_us < faults_calm_us(w))
		since_us = faults_calm_us(w);
	if (since_us + faults_patience_us(w) < f->died_us &&
	    world_now(w) - f->died_us > faults_patience_us(w))
		world_fail(w, "barrier",
		    "request %llu waits at g%d for %lld ms after a party has "
		    "left",
		    (unsigned long long)ask->ref, ask->object,
		    (long long)(world_now(w) - f->died_us) / 1000);
}

void
checker_barrier_look(struct world *w)
{
	const struct checker *k = &w->checker;
	uint64_t waiting[CHECKER_BARRIERS_MAX] = { 0 };
	const struct ask *ask;
	size_t i;
	int j;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind != ASK_BARRIER || w->brokers[ask->broker].frozen)
			continue;
		if (ask->limit == w->uses.parties && !is_leaving(w, ask) &&
		    ask->wait_ms != 0)
			waiting[ask->object]++;
		look_at_dead(w, ask);
	}
	for (j = 0; j < CHECKER_BARRIERS_MAX && uses_has(w, USE_BARRIER); j++)
		look_at_full(w, j, waiting[j]);
}

/* Complete for one is complete for all. */
void
checker_barrier_end(struct world *w)
{
	struct checker *k = &w->checker;
	struct generation *g;
	uint64_t n;
	size_t i, j;

	for (i = 0; i < k->ngenerations && !w->failed; i++) {
		g = &k->generations[i];
		n = g->told;
		for (j = 0; j < k->nasks && n < g->parties; j++) {
			if (!may_be_party(w, g, &k->asks[j]))
				continue;
			k->asks[j].counted = true;
			n++;
		}
		if (n < g->parties && !g->dim)
			world_fail(w, "barrier",
			    "generation %llu of g%d is complete for %llu of "
			    "%llu parties",
			    (unsigned long long)g->number, g->barrier,
			    (unsigned long long)n,
			    (unsigned long long)g->parties);
	}
}
