/*
 * Promises about semaphores: never more permits out than the limit, over all
 * brokers (P1); !LOST only to who has some (P3); what is given back, or was of
 * a session that ended, goes to who waits (P5).
 */
#include "config.h"

#include <string.h>

#include "base/times.h"
#include "checker_state.h"
#include "world.h"

#define BOUND_SLACK_US 15000 /* clocks, and their milliseconds */

static struct stake *
stake_find(struct world *w, uint64_t session)
{
	struct checker *k = &w->checker;
	int i;

	for (i = 0; i < k->nstakes; i++)
		if (k->stakes[i].session == session && !k->stakes[i].alone)
			return &k->stakes[i];
	return NULL;
}

static void
stake_drop(struct world *w, struct stake *s)
{
	struct checker *k = &w->checker;

	*s = k->stakes[--k->nstakes];
}

void
checker_permits(struct world *w, const struct broker *b, int64_t sent_ms)
{
	int64_t *until_us = &w->checker.permits_us[b->index];
	int64_t end_us =
	    broker_world_us(b, sent_ms + times_vouch_ms(w->lease_ms));

	if (end_us > *until_us)
		*until_us = end_us;
}

/* How many nobody else may have, now. */
static uint64_t
vouched(const struct world *w, const struct stake *s)
{
	const struct broker *b = &w->brokers[s->broker];

	if (s->alone)
		return world_now(w) < s->until_us && world_now(w) < s->valid_us
			   ? s->n
			   : 0;
	if (s->away && world_now(w) >= s->until_us)
		return 0;
	/* A broker that is frozen can't say that its lease is over. */
	if (checker_is_mute(w, b) &&
	    world_now(w) >= w->checker.permits_us[s->broker])
		return 0;
	return s->n - s->parting;
}

void
checker_permits_received(struct world *w, const struct ask *ask)
{
	struct stake *s;

	if (ask->kind != ASK_RELEASE)
		return;
	s = stake_find(w, ask->session);
	if (s != NULL)
		s->parting = ask->number < s->n ? ask->number : s->n;
}

static uint64_t
permits_out(const struct world *w)
{
	const struct checker *k = &w->checker;
	uint64_t sum = 0;
	int i;

	for (i = 0; i < k->nstakes; i++)
		sum += vouched(w, &k->stakes[i]);
	return sum;
}

/* Too many of two masters are too many until some of them are given back. */
static void
check_sum(struct world *w, const struct broker *b, uint64_t session)
{
	struct checker *k = &w->checker;
	uint64_t sum = permits_out(w);

	if (sum > w->permits && faults_excuse(w))
		k->too_many = true;
	else if (sum > w->permits && k->too_many)
		k->excused++;
	else if (sum > w->permits)
		world_fail(w, "P1",
		    "%s grants permits to session %llu, and %llu of %llu are "
		    "out",
		    b->name, (unsigned long long)session,
		    (unsigned long long)sum, (unsigned long long)w->permits);
}

static void
on_acquired(struct world *w, const struct broker *b, const struct answer *a,
    const struct ask *ask)
{
	struct checker *k = &w->checker;
	struct stake *s = stake_find(w, ask->session);

	if (s == NULL) {
		s = &k->stakes[k->nstakes++];
		memset(s, 0, sizeof(*s));
		s->session = ask->session;
		s->broker = b->index;
		s->bound_us = INT64_MAX;
	}
	s->n += ask->number;
	s->valid_us = 0; /* which of them it is for, nobody knows */
	if (ask->has_hold)
		s->bound_us = world_now(w) + ask->hold_ms * 995;
	if (a->permits != s->n)
		world_fail(w, "P2",
		    "session %llu is told %llu permits for %llu",
		    (unsigned long long)ask->session,
		    (unsigned long long)a->permits, (unsigned long long)s->n);
	check_sum(w, b, ask->session);
}

static void
on_released(struct world *w, const struct answer *a, const struct ask *ask)
{
	struct stake *s = stake_find(w, ask->session);

	if (s == NULL)
		return;
	if (a->status == STATUS_OK)
		s->n -= s->parting;
	s->parting = 0;
	if (s->n == 0)
		stake_drop(w, s);
}

void
checker_permits_answered(struct world *w, const struct broker *b,
    const struct answer *a, const struct ask *ask)
{
	if (ask->kind == ASK_ACQUIRE && a->status == STATUS_OK)
		on_acquired(w, b, a, ask);
	else if (ask->kind == ASK_RELEASE)
		on_released(w, a, ask);
}

void
checker_permits_lost(
    struct world *w, const struct broker *b, const struct answer *a)
{
	struct stake *s = stake_find(w, a->session);

	if (checker_told_again(w, a, UINT64_MAX))
		return;
	checker_told_lost(w, a);
	if (s == NULL)
		world_fail(w, "P3",
		    "%s tells session %llu !LOST of permits, of which it has "
		    "none",
		    b->name, (unsigned long long)a->session);
	else if (faults_none(w) && s->bound_us == INT64_MAX)
		world_fail(w, "P5",
		    "%s tells session %llu !LOST of permits, and nothing is "
		    "wrong",
		    b->name, (unsigned long long)a->session);
	else
		stake_drop(w, s);
}

/* A RELEASE was carried out whose answer nobody will read. */
void
checker_permits_settle(struct world *w, uint64_t session)
{
	struct stake *s = stake_find(w, session);

	if (s == NULL)
		return;
	s->n -= s->parting;
	s->parting = 0;
	if (s->n == 0)
		stake_drop(w, s);
}

/* Nobody is there until until_us at the latest; or somebody is again. */
void
checker_permits_away(
    struct world *w, uint64_t session, bool away, int64_t until_us)
{
	struct stake *s = stake_find(w, session);

	if (s == NULL)
		return;
	s->away = away;
	s->until_us = until_us;
}

uint64_t
checker_permits_of(struct world *w, uint64_t session)
{
	const struct stake *s = stake_find(w, session);

	return s == NULL ? 0 : s->n;
}

void
checker_permits_valid(struct world *w, uint64_t session, int64_t valid_us)
{
	struct stake *s = stake_find(w, session);

	if (s != NULL)
		s->valid_us = valid_us;
}

/* The connection is gone; what was promised over it may go on. */
void
checker_permits_end(struct world *w, uint64_t session, int64_t valid_us)
{
	struct stake *s = stake_find(w, session);

	if (s == NULL)
		return;
	if (s->bound_us != INT64_MAX && valid_us > s->bound_us - BOUND_SLACK_US)
		valid_us = s->bound_us - BOUND_SLACK_US;
	s->n -= s->parting;
	s->parting = 0;
	s->alone = true;
	s->until_us = valid_us;
	if (valid_us <= world_now(w) || s->n == 0)
		stake_drop(w, s);
}

/* What lived on for a valid= is given back after all. */
void
checker_permits_back(struct world *w, uint64_t session)
{
	struct checker *k = &w->checker;
	int i;

	for (i = k->nstakes - 1; i >= 0; i--)
		if (k->stakes[i].session == session && k->stakes[i].alone)
			stake_drop(w, &k->stakes[i]);
}

static bool
is_wanted(const struct world *w)
{
	const struct checker *k = &w->checker;
	const struct ask *ask;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind == ASK_ACQUIRE && ask->wait_ms != 0 &&
		    !w->brokers[ask->broker].frozen)
			return true;
	}
	return false;
}

void
checker_permits_look(struct world *w)
{
	struct checker *k = &w->checker;
	int64_t since_us;
	int i;

	for (i = k->nstakes - 1; i >= 0; i--)
		if (k->stakes[i].alone && world_now(w) >= k->stakes[i].until_us)
			stake_drop(w, &k->stakes[i]);
	if (k->too_many && permits_out(w) <= w->permits)
		k->too_many = false;
	if (k->nstakes > 0 || !is_wanted(w))
		k->hungry_us = world_now(w);
	since_us = k->hungry_us;
	if (since_us < faults_calm_us(w))
		since_us = faults_calm_us(w);
	if (world_now(w) - since_us >
	    faults_patience_us(w) + w->lease_ms * 1000)
		world_fail(w, "P5", "permits are free and wanted for %lld ms",
		    (long long)(world_now(w) - since_us) / 1000);
}
