/*
 * What the checker notes when a session ends: by itself, because its client is
 * gone, or with its broker.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "checker_state.h"
#include "world.h"

/* The requests of a session that nobody will read the answers to. */
static void
abandon_asks(struct world *w, uint64_t session)
{
	struct checker *k = &w->checker;
	struct ask *ask;
	size_t i = 0;

	while (i < k->nopen) {
		if (k->asks[k->open[i] - 1].session != session) {
			i++;
			continue;
		}
		ask = &k->asks[k->open[i] - 1];
		ask->gone = true;
		ask->ended_us = world_now(w);
		k->open[i] = k->open[--k->nopen];
		checker_latch_gone(w, ask);
		checker_barrier_gone(w, ask);
	}
}

/* The grants of a session whose connection has ended. */
static void
end_grants(struct world *w, uint64_t session, bool quit, int64_t valid_us,
    bool orphaned)
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

bool
checker_sitting_gone(const struct world *w, uint64_t session)
{
	assert(session > 0 && session <= w->checker.nsittings);
	return w->checker.sittings[session - 1].gone;
}

void
checker_gone(struct world *w, const struct broker *b, uint64_t session,
    bool orderly, bool quit)
{
	struct sitting *s = &w->checker.sittings[session - 1];

	TRACE(w, "%s: session %llu is gone%s", b->name,
	    (unsigned long long)session, orderly ? " in order" : "");
	s->gone = true;
	abandon_asks(w, session);
	end_grants(w, session, quit, orderly ? 0 : s->valid_us, false);
	checker_hunger(w);
}

void
checker_crashed(struct world *w, const struct broker *b)
{
	struct checker *k = &w->checker;
	struct ground *ground;
	size_t i;

	for (i = 0; i < k->nsittings; i++) {
		if (k->sittings[i].gone || k->sittings[i].broker != b->index)
			continue;
		k->sittings[i].gone = true;
		abandon_asks(w, i + 1);
		end_grants(w, i + 1, false, k->sittings[i].valid_us, true);
	}
	/* Holds that lived on without their client ended just now. */
	for (i = 0; i < (size_t)k->ngrants; i++) {
		ground = &k->grounds[k->grants[i].name];
		if (k->grants[i].detached && k->grants[i].broker == b->index &&
		    ground->quiet_session == k->grants[i].session)
			ground->quiet_us =
			    world_now(w) + k->grants[i].delay_ms * 1000;
	}
	for (i = 0; i < CHECKER_NAMES_MAX; i++) {
		k->grounds[i].lease_us[b->index] = 0;
		memset(&k->grounds[i].votes[b->index], 0,
		    sizeof(k->grounds[i].votes[b->index]));
	}
	checker_hunger(w);
}

void
checker_draining(struct world *w, uint64_t session)
{
	w->checker.sittings[session - 1].draining = true;
}

bool
checker_drained(const struct world *w, uint64_t session)
{
	const struct sitting *s = &w->checker.sittings[session - 1];

	return s->draining && !s->gone && s->outstanding == 0;
}
