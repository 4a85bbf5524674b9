/*
 * Promises about many that hold or wait at once: that those who share a name
 * don't keep out for ever who wants it alone, and that no request waits for
 * itself (P5).
 */
#include "config.h"

#include <string.h>

#include "checker_state.h"
#include "world.h"

#define CIRCLE_US 60000 /* a circle is refused when it closes */
#define WALK_MAX 64

/*
 * Its broker has another to think of first: one for several names, which it may
 * not pass; or one that shares, for which the broker stands in the queue.
 */
static bool
behind_another(const struct checker *k, const struct ask *ask)
{
	const struct ask *other;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		other = &k->asks[k->open[i] - 1];
		if (checker_waits(other) &&
		    (other->nnames > 1 || other->shared) &&
		    other->broker == ask->broker && other->order < ask->order &&
		    checker_asks_for(other, ask->name))
			return true;
	}
	return false;
}

static int64_t
max_us(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/*
 * Phases are fair: once somebody has waited to have the name alone for two leases,
 * by a broker that has nothing of it itself, nobody new comes to share it.  But
 * who had asked for several names by then is passed by nobody, however long the
 * others of them take; and a broker that took its place in Redis before stands
 * before it, whoever waits there now.  A broker that is let in gives up its
 * place, even if it can only give the name back, and takes another at the end;
 * but it has a turn of its own, in which others may come to share the name.
 */
void
checker_joins(struct world *w, const struct ask *ask)
{
	const struct checker *k = &w->checker;
	int64_t bound_us = 2 * w->lease_ms * 1010 + faults_patience_us(w);
	int64_t since_us, place_us;
	const struct ground *ground = &k->grounds[ask->name];
	const struct ask *other;
	size_t i;

	/* It lingers for the session. */
	if (((ask->ahead >> ask->name) & 1) != 0)
		return;
	for (i = 0; i < k->nopen; i++) {
		other = &k->asks[k->open[i] - 1];
		if (!checker_waits(other) || other->shared ||
		    other->nnames > 1 || other->name != ask->name ||
		    k->sittings[other->sitting - 1].draining ||
		    behind_another(k, other) ||
		    (ask->nnames > 1 && ask->order < other->order))
			continue;
		since_us = max_us(other->idle_us,
		    max_us(ground->phase_us, ground->began_us[ask->broker]));
		if (since_us < faults_calm_us(w))
			since_us = faults_calm_us(w);
		if (ask->nnames > 1 && ask->received_us - since_us <= bound_us)
			continue;
		/* Its broker took no place while it had the name. */
		place_us = max_us(ground->had_us[other->broker],
		    max_us(other->received_us, other->idle_us));
		if (ask->received_us < other->received_us ||
		    ground->placeless_us[ask->broker] < place_us)
			continue;
		if (world_now(w) - since_us > bound_us)
			world_fail(w, "P5",
			    "n%d: session %llu joins those who share it, and "
			    "request %llu waits for it for %lld ms",
			    ask->name, (unsigned long long)ask->session,
			    (unsigned long long)other->ref,
			    (long long)(world_now(w) - since_us) / 1000);
	}
}

/* While its own broker has the name, a request waits in that queue only. */
void
checker_had(struct world *w, int broker, int name)
{
	struct checker *k = &w->checker;
	struct ask *ask;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->broker == broker && checker_asks_for(ask, name))
			ask->idle_us = world_now(w);
	}
}

/* Since when has each broker stood in the queue of a name? */
static void
look_at_places(struct world *w)
{
	struct checker *k = &w->checker;
	bool wants[CHECKER_BROKERS_MAX][CHECKER_NAMES_MAX] = { { false } };
	const struct ask *ask;
	unsigned j;
	size_t i;
	int b, name;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		for (j = 0; checker_waits(ask) && j < ask->nnames; j++)
			wants[ask->broker][ask->names[j]] = true;
	}
	for (i = 0; i < (size_t)k->ngrants; i++)
		wants[k->grants[i].broker][k->grants[i].name] = false;
	for (b = 0; b < w->nbrokers; b++)
		for (name = 0; name < CHECKER_NAMES_MAX; name++)
			if (!wants[b][name])
				k->grounds[name].placeless_us[b] = world_now(w);
}

/* While a name lingers at a broker, those behind it are in no queue.  What was
 * perhaps forced may linger at any. */
static void
look_at_lingering(struct world *w, int name)
{
	const struct checker *k = &w->checker;
	const struct ground *ground = &k->grounds[name];
	const struct quiet *q = ground->quiets;
	int i;

	for (i = 0; i < w->nbrokers && ground->hush_us > world_now(w); i++)
		checker_had(w, i, name);
	for (; q < ground->quiets + CHECKER_QUIETS_MAX; q++)
		if (q->session != 0 &&
		    q->until_us + leaving_more_us(w) > world_now(w))
			checker_had(
			    w, k->sittings[q->session - 1].broker, name);
}

static void
look_at_idle(struct world *w)
{
	struct checker *k = &w->checker;
	struct ask *ask;
	int i, name;
	size_t j;

	/* What is kept for several names has a reason of its own. */
	for (j = 0; j < k->nopen; j++) {
		ask = &k->asks[k->open[j] - 1];
		if (checker_waits(ask) && behind_another(k, ask))
			ask->idle_us = world_now(w);
	}

	for (i = 0; i < k->ngrants; i++)
		checker_had(w, k->grants[i].broker, k->grants[i].name);
	for (name = 0; name < w->nnames; name++)
		look_at_lingering(w, name);
	for (i = 0; i < w->nbrokers; i++)
		for (name = 0;
		     broker_stalled(&w->brokers[i]) && name < CHECKER_NAMES_MAX;
		     name++)
			checker_had(w, i, name);
}

/* Sessions that were reached on the way through who waits for whom. */
struct walk {
	uint64_t v[WALK_MAX];
	int n;
};

static void
walk_add(struct walk *walk, uint64_t session)
{
	int i;

	for (i = 0; i < walk->n; i++)
		if (walk->v[i] == session)
			return;
	if (walk->n < WALK_MAX)
		walk->v[walk->n++] = session;
}

/* Those of the same broker that hold what a session waits for, and can do
 * nothing else meanwhile.  In a drill, it is one of them. */
static void
walk_on(struct world *w, struct walk *walk, uint64_t session)
{
	const struct checker *k = &w->checker;
	const struct ask *ask;
	const struct grant *g;
	size_t i;
	int j;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->session != session || !checker_waits(ask) ||
		    !ask->untagged)
			continue;
		for (j = 0; j < k->ngrants; j++) {
			g = &k->grants[j];
			if (checker_asks_for(ask, g->name) &&
			    g->broker == ask->broker && !g->detached &&
			    !g->orphaned &&
			    (g->session != session || g->drill > 0) &&
			    g->depth - g->parting > 0)
				walk_add(walk, g->session);
		}
	}
}

static bool
in_circle(struct world *w, uint64_t session)
{
	struct walk walk = { .n = 0 };
	int i;

	walk_on(w, &walk, session);
	for (i = 0; i < walk.n; i++) {
		if (walk.v[i] == session)
			return true;
		walk_on(w, &walk, walk.v[i]);
	}
	return false;
}

/* P5: within a broker, who can do nothing else never waits for itself. */
static void
look_at_circles(struct world *w)
{
	struct checker *k = &w->checker;
	const struct ask *ask;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (checker_waits(ask) && ask->untagged &&
		    !broker_stalled(&w->brokers[ask->broker]) &&
		    in_circle(w, ask->session))
			break;
	}
	if (i == k->nopen) {
		k->circle_us = -1;
		return;
	}
	if (k->circle_us < 0)
		k->circle_us = world_now(w);
	if (world_now(w) - k->circle_us > CIRCLE_US)
		world_fail(w, "P5", "session %llu waits for itself",
		    (unsigned long long)k->asks[k->open[i] - 1].session);
}

void
checker_look_share(struct world *w)
{
	look_at_idle(w);
	if (w->shares)
		look_at_places(w);
	if (faults_calm_us(w) <= world_now(w) || w->faults.on == 0)
		look_at_circles(w);
}

/* Nobody waits for itself who holds nothing, and has not asked for more. */
void
checker_refused_circle(struct world *w, const struct ask *ask)
{
	const struct checker *k = &w->checker;
	size_t i;
	int j;

	/* A broker that has stood still tells late what it had said before the
	 * losses. */
	if (ask->received_us <= w->brokers[ask->broker].awake_us)
		return;
	for (j = 0; j < k->ngrants; j++)
		if (k->grants[j].session == ask->session)
			return;
	for (i = 0; i < k->nopen; i++)
		if (k->asks[k->open[i] - 1].session == ask->session)
			return;
	world_fail(w, "P5",
	    "request %llu is refused as a circle, and session %llu holds "
	    "nothing",
	    (unsigned long long)ask->ref, (unsigned long long)ask->session);
}
