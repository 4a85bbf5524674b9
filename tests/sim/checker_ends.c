/*
 * What the checker notes when a session ends: by itself, because its client is
 * gone, or with its broker.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "checker_state.h"
#include "world.h"

/* An UNLOCK or RELEASE whose answer nobody will read was carried out, though
 * Redis may not have heard of it. */
static void
settle_ask(struct world *w, const struct ask *ask)
{
	struct grant *g;
	unsigned i;

	if (ask->kind == ASK_RELEASE)
		checker_permits_settle(w, ask);
	for (i = 0; i < ask->nnames && ask->kind == ASK_UNLOCK; i++) {
		g = checker_grant(w, ask->session, ask->names[i]);
		if (g == NULL || g->parting == 0 ||
		    ((ask->again >> ask->names[i]) & 1) != 0)
			continue;
		g->parting--;
		if (--g->depth == 0)
			checker_drop(w, g);
	}
}

void
checker_abandon(struct world *w, uint64_t sitting, bool settle)
{
	struct checker *k = &w->checker;
	struct ask *ask;
	size_t i = 0;

	while (i < k->nopen) {
		if (k->asks[k->open[i] - 1].sitting != sitting) {
			i++;
			continue;
		}
		ask = &k->asks[k->open[i] - 1];
		ask->gone = true;
		ask->ended_us = world_now(w);
		k->open[i] = k->open[--k->nopen];
		if (settle)
			settle_ask(w, ask);
		checker_latch_gone(w, ask);
		checker_barrier_gone(w, ask);
	}
}

void
checker_end_grants(struct world *w, uint64_t session, bool quit,
    int64_t valid_us, bool orphaned)
{
	struct checker *k = &w->checker;
	struct grant *g;
	int64_t until_us;
	int i;

	checker_permits_end(w, session, valid_us);
	for (i = k->ngrants - 1; i >= 0; i--) {
		g = &k->grants[i];
		if (g->session != session || g->detached || g->orphaned)
			continue;
		until_us = valid_us;
		/* Its client knows of the hold= that it asked for. */
		if (until_us > g->bound_us - g->slack_us)
			until_us = g->bound_us - g->slack_us;
		if (until_us > world_now(w) && g->depth - g->parting > 0) {
			g->detached = !orphaned;
			g->orphaned = orphaned;
			g->until_us = until_us;
			if (orphaned)
				history_note(&w->history, world_now(w),
				    HISTORY_INFO, session, HISTORY_DOUBT,
				    checker_name(g->name), 0);
			checker_set_quiet(
			    w, g, orphaned ? world_now(w) : until_us);
			continue;
		}
		if (quit)
			checker_drop(w, g);
		else
			checker_drop_badly(w, g);
	}
}

void
checker_leaves(struct world *w, uint64_t session)
{
	struct checker *k = &w->checker;
	struct sitting *s = &k->sittings[session - 1];
	struct grant *g;
	int64_t over_us = world_now(w) - s->valid_us;
	int i;

	for (i = 0; i < k->ngrants; i++) {
		g = &k->grants[i];
		if (g->session != session)
			continue;
		history_note(&w->history, world_now(w), HISTORY_INFO, session,
		    HISTORY_DOUBT, checker_name(g->name), 0);
		/* To its broker the valid= may last a moment longer: then it is
		 * still to be given back, perhaps without its delay=. */
		if (over_us >= 0 && over_us < w->lease_ms * 10)
			g->delay_ms = 0;
	}
	s->leaving = true;
	checker_end_grants(w, session, false, s->valid_us, false);
	for (i = 0; i < k->ngrants; i++)
		if (k->grants[i].session == session && k->grants[i].detached)
			checker_quiet_leaves(w, &k->grants[i]);
}

bool
checker_gives_back(struct world *w, uint64_t session, bool clean)
{
	struct checker *k = &w->checker;
	struct grant *g;
	int i;

	if (!k->sittings[session - 1].leaving)
		return false;
	for (i = k->ngrants - 1; i >= 0; i--) {
		g = &k->grants[i];
		if (g->session != session || !g->detached)
			continue;
		checker_quiet_ends(
		    w, g, world_now(w) + (clean ? 0 : g->delay_ms * 1000));
		checker_drop(w, g);
	}
	if (clean)
		checker_quiets_back(w, session);
	checker_permits_back(w, session);
	return true;
}

bool
checker_sitting_gone(const struct world *w, uint64_t sitting)
{
	assert(sitting > 0 && sitting <= w->checker.nsittings);
	return w->checker.sittings[sitting - 1].gone;
}

bool
checker_sitting_resumed(const struct world *w, uint64_t sitting)
{
	assert(sitting > 0 && sitting <= w->checker.nsittings);
	return w->checker.sittings[sitting - 1].resumed;
}

void
checker_gone(struct world *w, const struct broker *b, uint64_t sitting,
    bool orderly, bool quit)
{
	struct checker *k = &w->checker;
	bool survives = checker_survives(w, b, sitting, quit);
	uint64_t session = checker_session(w, sitting);
	struct sitting *s = &k->sittings[session - 1];
	bool counts = !quit && (!orderly || s->by_quit_only ||
				   checker_is_proxied(w, sitting));

	TRACE(w, "%s: connection %llu of session %llu is gone%s", b->name,
	    (unsigned long long)sitting, (unsigned long long)session,
	    orderly ? " in order" : "");
	k->sittings[sitting - 1].gone = true;
	checker_abandon(w, sitting, survives);
	if (survives) {
		checker_goes_away(w, b, session, !counts);
	} else {
		s->ended = true;
		s->sitting = 0;
		checker_end_grants(
		    w, session, quit, counts ? s->valid_us : 0, false);
		if (!counts)
			checker_gives_back(w, session, quit);
	}
	checker_hunger(w);
}

void
checker_crashed(struct world *w, const struct broker *b)
{
	struct checker *k = &w->checker;
	const struct grant *g;
	size_t i;

	for (i = 0; i < k->nsittings; i++) {
		if (k->sittings[i].broker != b->index)
			continue;
		if (!k->sittings[i].gone)
			checker_abandon(w, i + 1, false);
		k->sittings[i].gone = true;
		if (k->sittings[i].ended)
			continue;
		k->sittings[i].ended = true;
		k->sittings[i].sitting = 0;
		checker_end_grants(w, i + 1, false,
		    k->sittings[i].waived ? 0 : k->sittings[i].valid_us, true);
	}
	/* Holds that lived on without their client ended just now. */
	for (i = 0; i < (size_t)k->ngrants; i++) {
		g = &k->grants[i];
		if (g->detached && g->broker == b->index)
			checker_quiet_ends(
			    w, g, world_now(w) + g->delay_ms * 1000);
	}
	for (i = 0; i < CHECKER_NAMES_MAX; i++) {
		k->grounds[i].lease_us[b->index] = 0;
		k->grounds[i].given_us[b->index] = 0;
		memset(&k->grounds[i].votes[b->index], 0,
		    sizeof(k->grounds[i].votes[b->index]));
	}
	checker_hunger(w);
}

void
checker_draining(struct world *w, uint64_t sitting)
{
	w->checker.sittings[sitting - 1].draining = true;
}

bool
checker_drained(const struct world *w, uint64_t sitting)
{
	const struct sitting *s = &w->checker.sittings[sitting - 1];

	return s->draining && !s->gone && s->outstanding == 0;
}
