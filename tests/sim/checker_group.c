/*
 * Promises about requests for several names (P5): that others pass one for no
 * longer than a lease, and that it does not starve.
 *
 * Between brokers names are taken in byte order, so a request for several is
 * in turn for a name when those before it are here: then nobody who came later
 * to its broker gets that name after a lease.
 */
#include "config.h"

#include "checker_state.h"
#include "world.h"

#define SLACK_US 100000 /* turns, and what was decided before they were told */
/*
 * How often a group may be passed, for each broker there is: over a quorum they
 * try for a name at random.  No seed of some thousands, of four brokers, needs
 * more than 20 in all.
 */
#define PASSED_MAX 15
#define BROKERS_FEW 4

/* Had the request a right to the name, which it has just been granted? */
static bool
took_up(const struct world *w, const struct ask *ask, const struct grant *g)
{
	return g->session == ask->session && g->since_us == world_now(w) &&
	       ((ask->ahead >> g->name) & 1) != 0;
}

/*
 * What the request took up does not count: it was kept for its session, and was
 * not there for the group before.
 */
static bool
is_held_at(const struct world *w, const struct ask *ask, int name, int broker)
{
	const struct checker *k = &w->checker;
	const struct grant *g;
	int i;

	for (i = 0; i < k->ngrants; i++) {
		g = &k->grants[i];
		if (g->name == name && g->broker == broker && !g->orphaned &&
		    !g->detached && !g->away && g->depth - g->parting > 0 &&
		    !took_up(w, ask, g))
			return true;
	}
	return false;
}

static bool
in_turn(const struct world *w, const struct ask *group, const struct ask *ask)
{
	unsigned i;

	for (i = 0; i < group->nnames; i++)
		if (group->names[i] < ask->name &&
		    !is_held_at(w, ask, group->names[i], group->broker))
			return false;
	return true;
}

static unsigned
passed_max(const struct world *w)
{
	unsigned n = (unsigned)w->nbrokers;

	return PASSED_MAX * (n > BROKERS_FEW ? n : BROKERS_FEW);
}

/* Since when nobody may pass it; INT64_MAX: not yet. */
static int64_t
firm_us(const struct world *w, const struct ask *group)
{
	int64_t since_us = group->received_us;

	if (since_us < faults_calm_us(w))
		since_us = faults_calm_us(w);
	return since_us + w->lease_ms * 1010 + SLACK_US;
}

static bool
is_waiting_group(const struct world *w, const struct ask *ask, int name)
{
	const struct checker *k = &w->checker;

	return ask->nnames > 1 && checker_waits(ask) &&
	       checker_asks_for(ask, name) &&
	       !k->sittings[ask->sitting - 1].draining;
}

/*
 * Was one of its names forced in this very turn?  Then it may have been granted
 * and taken back before anybody was told, and what came along with it was not.
 */
static bool
was_taken_back(const struct world *w, const struct ask *group)
{
	const struct checker *k = &w->checker;
	int64_t force_us;
	unsigned i;

	for (i = 0; i < group->nnames; i++) {
		force_us = k->grounds[group->names[i]].force_us;
		if (force_us != 0 && world_now(w) - force_us < SLACK_US)
			return true;
	}
	return false;
}

/* Tokens that have passed a request have passed those before it, too: they count
 * from its last step in the queue on.  FIFO is checked elsewhere. */
static void
moves_on(struct ask *waits, const struct ask *granted)
{
	if (waits->kind == ASK_LOCK && waits->nnames == 1 &&
	    waits->name == granted->name && waits->broker == granted->broker)
		waits->passed = 0;
}

/* Somebody is granted the name anew. */
void
checker_passes(struct world *w, const struct ask *ask)
{
	struct checker *k = &w->checker;
	struct ask *group;
	size_t i;

	for (i = 0; i < k->nopen && !w->failed; i++) {
		group = &k->asks[k->open[i] - 1];
		moves_on(group, ask);
		if (!is_waiting_group(w, group, ask->name) ||
		    group->session == ask->session ||
		    world_now(w) < firm_us(w, group))
			continue;
		if (++group->passed > passed_max(w))
			world_fail(w, "groups",
			    "request %llu for several names starves",
			    (unsigned long long)group->ref);
		if (group->broker != ask->broker ||
		    ((ask->ahead >> ask->name) & 1) != 0 ||
		    ask->order < group->order || !in_turn(w, group, ask) ||
		    was_taken_back(w, group))
			continue;
		world_fail(w, "groups",
		    "n%d: request %llu passes request %llu for several names, "
		    "which waits for %lld ms",
		    ask->name, (unsigned long long)ask->ref,
		    (unsigned long long)group->ref,
		    (long long)(world_now(w) - group->received_us) / 1000);
	}
}

uint64_t
checker_place(const struct checker *k, const struct ask *ask)
{
	uint64_t place = ask->order;
	const struct ask *other;
	unsigned n;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		other = &k->asks[k->open[i] - 1];
		if (other->kind != ASK_LOCK || other->session != ask->session ||
		    other->broker != ask->broker || other->order >= place)
			continue;
		for (n = 0; n < other->nnames; n++)
			if (other->nnames > 1 && other->names[n] == ask->name)
				place = other->order;
	}
	return place;
}
