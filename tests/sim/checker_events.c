/*
 * What the checker does with events: holds that are lost, sessions that end with
 * their broker; and P3 and P5 for them.
 */
#include "config.h"

#include "checker_state.h"
#include "world.h"

/* A hold= that was not told yet may be over already. */
static bool
awaits_bound(const struct world *w, const struct grant *g)
{
	const struct checker *k = &w->checker;
	const struct ask *ask;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->session == g->session && ask->name == g->name &&
		    ask->has_hold)
			return true;
	}
	return false;
}

/* It was held until the turn that says so, or its lease was over: an UNLOCK
 * that was read meanwhile came too late. */
void
checker_drop_lost(struct world *w, const struct broker *b, struct grant *g)
{
	int64_t end_us = checker_vouched_until_us(w, g);

	checker_set_quiet(w, g, end_us < b->turn_us ? end_us : b->turn_us);
	g->delay_ms = 0;
	checker_drop_badly(w, g);
}

/* !LOST of a name. */
static void
on_lost(struct world *w, const struct broker *b, const struct answer *a)
{
	struct grant *g;
	bool drilled;

	g = checker_grant(w, a->session, a->name[1] - '0');
	drilled = g != NULL && g->drill > 0;
	if (checker_told_again(w, a, g == NULL || drilled ? 0 : g->fence))
		return;
	if (g == NULL || drilled) {
		world_fail(w, "P3",
		    "%s tells session %llu !LOST %s, which it "
		    "does not hold%s",
		    b->name, (unsigned long long)a->session, a->name,
		    drilled ? ", as it was told" : "");
		return;
	}
	if (a->drilled) {
		w->checker.lost++;
		checker_told_lost(w, a);
		checker_drill_told(w, b, a);
		return;
	}
	if (a->forced && !checker_forced(w, g))
		world_fail(w, "force",
		    "%s tells session %llu !LOST %s by force, which nobody "
		    "has used since",
		    b->name, (unsigned long long)a->session, a->name);
	/* What is forced ends at once, whatever it asked for. */
	if (a->forced) {
		g->keep_us = 0;
		g->delay_ms = 0;
	} else if (faults_none(w) && world_now(w) < g->bound_us - g->slack_us &&
		   !awaits_bound(w, g))
		world_fail(w, "P5",
		    "%s tells session %llu !LOST %s, and nothing is wrong",
		    b->name, (unsigned long long)a->session, a->name);
	w->checker.lost++;
	checker_told_lost(w, a);
	checker_drop_lost(w, b, g);
}

/*
 * A server of a quorum that loses its data votes under another id.  Until a
 * broker has learned that, which takes it several round trips, the other
 * servers refuse its renewals.  Two such losses in a row may take all the time
 * between a renewal and half of the lease.
 */
static bool
may_be_at_risk(const struct world *w)
{
	int64_t before_us = w->checker.forgot_us[1];

	return !faults_none(w) || (before_us != 0 && world_now(w) - before_us <
							 w->lease_ms * 1000);
}

void
checker_event(struct world *w, const struct broker *b, const struct answer *a)
{
	if (a->event == EVENT_SHUTDOWN && a->sitting == 0) {
		checker_ends_away(w, a->session);
		return;
	}
	if (a->event == EVENT_SHUTDOWN) {
		checker_leaves(w, a->session);
		return;
	}
	if (a->event == EVENT_LEAVING) {
		if (b->part != PART_LEAVING && b->back_us < b->turn_us)
			world_fail(w, "P5", "%s says that it leaves", b->name);
		return;
	}
	if (a->event == EVENT_HELD || a->event == EVENT_FREE) {
		checker_watch_event(w, b, a);
		return;
	}
	if (a->event != EVENT_LOST) {
		if (!may_be_at_risk(w))
			world_fail(w, "P5",
			    "%s tells session %llu !ATRISK, and nothing "
			    "is wrong",
			    b->name, (unsigned long long)a->session);
		return;
	}
	/* Its broker stops, and it may still give back. */
	if (a->drilled && w->checker.sittings[a->session - 1].leaving) {
		checker_drill_told(w, b, a);
		return;
	}
	if (checker_gives_back(w, a->session, true))
		return;
	if (a->name[0] == 's') {
		checker_permits_lost(w, b, a);
		return;
	}
	on_lost(w, b, a);
}
