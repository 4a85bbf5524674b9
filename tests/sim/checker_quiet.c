/*
 * Promises about keep= and delay=: how long nobody else is granted a name after
 * a hold of it has ended.  What one of those who shared it asked for keeps away
 * who wants it alone; whether others come to share it is left open.
 */
#include "config.h"

#include <assert.h>

#include "checker_state.h"
#include "world.h"

#define KEEP_SLACK_US 60000

/* A broker that stops gives its clients a second; by any clock, and some
 * more. */
#define GIVES_BACK_US 1100000

static struct quiet *
quiet_of(struct ground *ground, uint64_t session)
{
	int i;

	for (i = 0; i < CHECKER_QUIETS_MAX; i++)
		if (ground->quiets[i].session == session)
			return &ground->quiets[i];
	return NULL;
}

/* One that is over, or was never used. */
static struct quiet *
quiet_new(struct world *w, struct ground *ground)
{
	int i;

	for (i = 0; i < CHECKER_QUIETS_MAX; i++)
		if (ground->quiets[i].until_us <= world_now(w))
			return &ground->quiets[i];
	assert(false);
	return NULL;
}

static void
quiet_note(struct world *w, const struct grant *g, int64_t until_us)
{
	struct ground *ground = &w->checker.grounds[g->name];
	struct quiet *q = quiet_of(ground, g->session);

	if (q == NULL || q->until_us <= world_now(w)) {
		q = q == NULL ? quiet_new(w, ground) : q;
		q->session = g->session;
		q->until_us = q->back_us = 0;
	}
	if (until_us <= q->until_us)
		return;
	q->until_us = until_us;
	q->shared = g->shared;
}

/* delay=: nobody else for so long after a bad end. */
void
checker_set_quiet(struct world *w, const struct grant *g, int64_t end_us)
{
	struct ground *ground = &w->checker.grounds[g->name];
	int64_t until_us = end_us + g->delay_ms * 1000;

	if (checker_forced(w, g)) {
		if (until_us > ground->hush_us)
			ground->hush_us = until_us;
	} else if (g->delay_ms > 0) {
		quiet_note(w, g, until_us);
	}
}

void
checker_set_kept(struct world *w, const struct grant *g)
{
	struct ground *ground = &w->checker.grounds[g->name];

	if (checker_forced(w, g)) {
		if (g->keep_us > ground->hush_us)
			ground->hush_us = g->keep_us;
	} else if (g->keep_us > world_now(w)) {
		quiet_note(w, g, g->keep_us);
	}
}

void
checker_quiet_ends(struct world *w, const struct grant *g, int64_t until_us)
{
	struct quiet *q = quiet_of(&w->checker.grounds[g->name], g->session);

	/* Unless it was forced. */
	if (q != NULL && q->until_us > world_now(w))
		q->until_us = until_us;
}

void
checker_quiet_leaves(struct world *w, const struct grant *g)
{
	struct quiet *q = quiet_of(&w->checker.grounds[g->name], g->session);

	if (q == NULL)
		return;
	q->back_us = world_now(w) + GIVES_BACK_US;
	q->keep_us = g->keep_us;
}

void
checker_quiets_back(struct world *w, uint64_t session)
{
	struct quiet *q;
	int i;

	for (i = 0; i < CHECKER_NAMES_MAX; i++) {
		q = quiet_of(&w->checker.grounds[i], session);
		if (q != NULL && q->back_us > world_now(w) &&
		    q->until_us > q->keep_us)
			q->until_us = q->keep_us;
	}
}

int64_t
checker_take_quiet(struct world *w, int name, uint64_t session)
{
	struct quiet *q = quiet_of(&w->checker.grounds[name], session);
	int64_t until_us;

	if (q == NULL)
		return 0;
	until_us = q->until_us;
	q->until_us = 0;
	return until_us;
}

int64_t
checker_quiet_us(const struct ground *ground)
{
	int64_t most_us = 0;
	int i;

	for (i = 0; i < CHECKER_QUIETS_MAX; i++)
		if (ground->quiets[i].until_us > most_us)
			most_us = ground->quiets[i].until_us;
	return most_us;
}

void
checker_hush_all(struct ground *ground)
{
	int64_t most_us = checker_quiet_us(ground);
	int i;

	if (most_us > ground->hush_us)
		ground->hush_us = most_us;
	for (i = 0; i < CHECKER_QUIETS_MAX; i++)
		ground->quiets[i].until_us = 0;
}

/* Has the session whose keep= it is asked to share the name? */
static bool
shares_keep(const struct world *w, const struct ask *ask, uint64_t session)
{
	const struct checker *k = &w->checker;
	const struct ask *other;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		other = &k->asks[k->open[i] - 1];
		if (other->kind == ASK_LOCK && other->shared &&
		    checker_asks_for(other, ask->name) &&
		    other->session == session)
			return true;
	}
	return false;
}

/* keep= and delay=, where nothing is lost that remembers them. */
void
checker_check_quiet(struct world *w, const struct ask *ask)
{
	const struct ground *ground = &w->checker.grounds[ask->name];
	const struct quiet *q = ground->quiets;

	for (; q < ground->quiets + CHECKER_QUIETS_MAX; q++) {
		if (faults_forget(w) || ask->session == q->session ||
		    world_now(w) + KEEP_SLACK_US >= q->until_us)
			continue;
		if (ask->shared && (q->shared || ground->shared ||
				       shares_keep(w, ask, q->session)))
			continue;
		world_fail(w, "keep",
		    "n%d: granted to session %llu %lld ms before the keep= or "
		    "delay= of session %llu is over%s",
		    ask->name, (unsigned long long)ask->session,
		    (long long)(q->until_us - world_now(w)) / 1000,
		    (unsigned long long)q->session,
		    q->shared ? ", which shared it" : "");
	}
}
