/*
 * Promises about semaphores: never more permits out than the limit, over all
 * brokers, and all of them with one limit (P1); !LOST only to who has some (P3);
 * what is given back, or was of a session that ended, goes to who waits (P5), in
 * the order of arrival within a broker (FIFO), by turns between brokers.
 */
#include "config.h"

#include <assert.h>
#include <string.h>

#include "base/times.h"
#include "checker_state.h"
#include "world.h"

#define BOUND_SLACK_US 15000 /* clocks, and their milliseconds */

static struct stake *
stake_find(struct world *w, uint64_t session, int semaphore)
{
	struct checker *k = &w->checker;
	int i;

	for (i = 0; i < k->nstakes; i++)
		if (k->stakes[i].session == session &&
		    k->stakes[i].semaphore == semaphore && !k->stakes[i].alone)
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
checker_permits(
    struct world *w, const struct broker *b, int semaphore, int64_t sent_ms)
{
	int64_t *until_us =
	    &w->checker.semaphores[semaphore].lease_us[b->index];
	int64_t end_us =
	    broker_world_us(b, sent_ms + times_vouch_ms(w->lease_ms));

	if (end_us > *until_us)
		*until_us = end_us;
}

void
checker_permits_taken(struct world *w, const struct broker *b, int semaphore)
{
	struct semaphore_facts *facts = &w->checker.semaphores[semaphore];

	facts->took_us[b->index] = world_now(w);
	facts->took_place_us[b->index] = facts->place_us[b->index];
	facts->place_us[b->index] = world_now(w);
}

/* How many nobody else may have, now. */
static uint64_t
vouched(const struct world *w, const struct stake *s)
{
	const struct broker *b = &w->brokers[s->broker];
	const struct semaphore_facts *facts =
	    &w->checker.semaphores[s->semaphore];

	if (s->alone)
		return world_now(w) < s->until_us && world_now(w) < s->valid_us
			   ? s->n
			   : 0;
	if (s->away && world_now(w) >= s->until_us)
		return 0;
	/* A broker that is frozen can't say that its lease is over. */
	if (checker_is_mute(w, b) && world_now(w) >= facts->lease_us[s->broker])
		return 0;
	return s->n - s->parting;
}

void
checker_permits_received(struct world *w, const struct ask *ask)
{
	struct stake *s;

	if (ask->kind != ASK_RELEASE)
		return;
	s = stake_find(w, ask->session, ask->object);
	if (s != NULL)
		s->parting = ask->number < s->n ? ask->number : s->n;
}

static uint64_t
permits_out(const struct world *w, int semaphore)
{
	const struct checker *k = &w->checker;
	uint64_t sum = 0;
	int i;

	for (i = 0; i < k->nstakes; i++)
		if (k->stakes[i].semaphore == semaphore)
			sum += vouched(w, &k->stakes[i]);
	return sum;
}

/* Are some out that were asked for with another limit?  If `limit` is 0: were
 * those that are out asked for with several limits? */
static bool
is_mixed(const struct world *w, int semaphore, uint64_t limit)
{
	const struct checker *k = &w->checker;
	const struct stake *s;
	int i;

	for (i = 0; i < k->nstakes; i++) {
		s = &k->stakes[i];
		if (s->semaphore != semaphore || vouched(w, s) == 0)
			continue;
		if (limit != 0 && s->limit != limit)
			return true;
		limit = s->limit;
	}
	return false;
}

/*
 * If two masters grant too many permits, that stays so until some of them are
 * given back, and permits with several limits until all are, also after one of the
 * masters has gone: brokers write again what their clients use.
 */
static void
check_sum(struct world *w, const struct broker *b, const struct ask *ask)
{
	struct checker *k = &w->checker;
	struct semaphore_facts *facts = &k->semaphores[ask->object];
	uint64_t sum = permits_out(w, ask->object);
	bool mixed = is_mixed(w, ask->object, ask->limit);

	if (sum <= ask->limit && !mixed)
		return;
	if (faults_excuse(w)) {
		facts->too_many |= sum > ask->limit;
		facts->mixed |= mixed;
	} else if (facts->mixed || (facts->too_many && !mixed)) {
		k->excused++;
	} else {
		world_fail(w, "P1",
		    "%s grants permits of s%d to session %llu, and %llu of "
		    "%llu are out%s",
		    b->name, ask->object, (unsigned long long)ask->session,
		    (unsigned long long)sum, (unsigned long long)ask->limit,
		    mixed ? ", with several limits" : "");
	}
}

/*
 * A slot is told only with slot=yes, is below the limit, and nobody else has it.  If
 * two masters give the same one, that stays so until one of the two is told.
 */
static void
check_slot(struct world *w, const struct broker *b, const struct ask *ask,
    const struct stake *own, int64_t slot)
{
	struct checker *k = &w->checker;
	struct semaphore_facts *facts = &k->semaphores[ask->object];
	const struct stake *s;

	if (ask->slot != (slot >= 0) || slot >= (int64_t)ask->limit)
		world_fail(w, "P2", "session %llu is told slot %lld of %llu",
		    (unsigned long long)ask->session, (long long)slot,
		    (unsigned long long)ask->limit);
	for (s = k->stakes; s < k->stakes + k->nstakes; s++) {
		if (slot < 0 || s == own || s->semaphore != ask->object ||
		    s->slot != slot || vouched(w, s) == 0)
			continue;
		if (faults_excuse(w))
			facts->doubled = true;
		else if (facts->doubled)
			k->excused++;
		else
			world_fail(w, "P1",
			    "%s grants slot %lld of s%d to session %llu, and "
			    "session %llu has it",
			    b->name, (long long)slot, ask->object,
			    (unsigned long long)ask->session,
			    (unsigned long long)s->session);
	}
}

/* It waits, and may be served before others that came later. */
static bool
awaits_permits(const struct world *w, const struct ask *ask, int semaphore)
{
	return ask->kind == ASK_ACQUIRE && ask->object == semaphore &&
	       ask->wait_ms != 0 && !ask->cancelled &&
	       !w->checker.sittings[ask->sitting - 1].draining;
}

/*
 * Brokers take turns: while the first that waits at another broker has waited
 * for long, for no more than others can give back, a broker takes nothing but
 * what it has waited for as long, and gives it to its own clients for no longer
 * than a lease.
 */
static bool
is_out_of_turn(const struct world *w, int broker, const struct ask *other)
{
	const struct semaphore_facts *facts =
	    &w->checker.semaphores[other->object];
	int64_t bound_us = 2 * w->lease_ms * 1010 + faults_patience_us(w);
	int64_t late_us = other->idle_us;

	if (late_us < faults_calm_us(w))
		late_us = faults_calm_us(w);
	late_us += bound_us;
	return world_now(w) > late_us &&
	       (facts->took_place_us[broker] > late_us ||
		   world_now(w) > facts->took_us[broker] + bound_us);
}

/* Has its broker asked for permits, so that the answer may be under way? */
static bool
is_asking(const struct world *w, const struct ask *ask)
{
	const struct broker *b = &w->brokers[ask->broker];
	const struct flight *f;

	for (f = b->flights; f < b->flights + b->nflights; f++)
		if (f->kind == OP_TAKE && f->name[0] == 's' &&
		    f->name[1] == '0' + ask->object)
			return true;
	return false;
}

/* First come, first served, within a broker; by turns between brokers. */
static void
check_turn(struct world *w, const struct broker *b, const struct ask *ask)
{
	const struct checker *k = &w->checker;
	const struct ask *other;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		other = &k->asks[k->open[i] - 1];
		if (!awaits_permits(w, other, ask->object) ||
		    other->order > ask->order)
			continue;
		if (other->wait_ms != CORE_WAIT_FOREVER &&
		    other->received_us + other->wait_ms * 995 <= world_now(w))
			continue;
		if (other->broker == b->index)
			world_fail(w, "FIFO",
			    "s%d: request %llu is granted before request %llu, "
			    "which came before it to %s",
			    ask->object, (unsigned long long)ask->ref,
			    (unsigned long long)other->ref, b->name);
		else if (is_out_of_turn(w, b->index, other) &&
			 !is_asking(w, other))
			world_fail(w, "P5",
			    "s%d: request %llu is granted out of turn, before "
			    "request %llu of b%d",
			    ask->object, (unsigned long long)ask->ref,
			    (unsigned long long)other->ref, other->broker);
	}
}

static void
on_acquired(struct world *w, const struct broker *b, const struct answer *a,
    const struct ask *ask)
{
	struct checker *k = &w->checker;
	struct stake *s = stake_find(w, ask->session, ask->object);

	if (s == NULL) {
		assert(k->nstakes < CHECKER_HOLDS_MAX);
		s = &k->stakes[k->nstakes++];
		memset(s, 0, sizeof(*s));
		s->session = ask->session;
		s->semaphore = ask->object;
		s->limit = ask->limit;
		s->broker = b->index;
		s->bound_us = INT64_MAX;
		s->slot = -1;
	}
	check_slot(w, b, ask, s, a->slot);
	if (ask->slot && s->slot >= 0)
		world_fail(w, "P2", "session %llu has two slots of s%d",
		    (unsigned long long)ask->session, ask->object);
	if (ask->slot)
		s->slot = a->slot;
	s->n += ask->number;
	s->valid_us = 0; /* which of them it is for, nobody knows */
	if (ask->has_hold)
		s->bound_us = world_now(w) + ask->hold_ms * 995;
	if (a->permits != s->n)
		world_fail(w, "P2",
		    "session %llu is told %llu permits for %llu",
		    (unsigned long long)ask->session,
		    (unsigned long long)a->permits, (unsigned long long)s->n);
	check_sum(w, b, ask);
	check_turn(w, b, ask);
	k->semaphores[ask->object].hungry_us = world_now(w);
}

static void
on_released(struct world *w, const struct answer *a, const struct ask *ask)
{
	struct stake *s = stake_find(w, ask->session, ask->object);

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

/* Has the session asked for a bound, and was not told yet that it has it?  It may
 * be over already. */
static bool
awaits_bound(const struct world *w, const struct stake *s)
{
	const struct checker *k = &w->checker;
	const struct ask *ask;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind == ASK_ACQUIRE && ask->session == s->session &&
		    ask->object == s->semaphore && ask->has_hold)
			return true;
	}
	return false;
}

void
checker_permits_lost(
    struct world *w, const struct broker *b, const struct answer *a)
{
	struct stake *s = stake_find(w, a->session, a->name[1] - '0');

	if (checker_told_again(w, a, UINT64_MAX))
		return;
	checker_told_lost(w, a);
	if (s == NULL)
		world_fail(w, "P3",
		    "%s tells session %llu !LOST of permits, of which it has "
		    "none",
		    b->name, (unsigned long long)a->session);
	else if (faults_none(w) && s->bound_us == INT64_MAX &&
		 !awaits_bound(w, s))
		world_fail(w, "P5",
		    "%s tells session %llu !LOST of permits, and nothing is "
		    "wrong",
		    b->name, (unsigned long long)a->session);
	else if (a->slot != s->slot)
		world_fail(w, "P3",
		    "%s tells session %llu that it lost slot %lld, not %lld",
		    b->name, (unsigned long long)a->session, (long long)a->slot,
		    (long long)s->slot);
	else if (a->slot >= 0 && a->permits < s->n - s->parting) {
		s->n -= a->permits;
		s->slot = -1;
	} else {
		stake_drop(w, s);
	}
}

/* A RELEASE was carried out whose answer nobody will read. */
void
checker_permits_settle(struct world *w, const struct ask *ask)
{
	struct stake *s = stake_find(w, ask->session, ask->object);

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
	struct stake *s;
	int i;

	for (i = 0; i < CHECKER_SEMAPHORES_MAX; i++) {
		s = stake_find(w, session, i);
		if (s == NULL)
			continue;
		s->away = away;
		s->until_us = until_us;
	}
}

uint64_t
checker_permits_of(struct world *w, uint64_t session, int semaphore)
{
	const struct stake *s = stake_find(w, session, semaphore);

	return s == NULL ? 0 : s->n;
}

void
checker_permits_valid(struct world *w, uint64_t session, int64_t valid_us)
{
	struct stake *s;
	int i;

	for (i = 0; i < CHECKER_SEMAPHORES_MAX; i++) {
		s = stake_find(w, session, i);
		if (s != NULL)
			s->valid_us = valid_us;
	}
}

static void
stake_end(struct world *w, struct stake *s, int64_t valid_us)
{
	if (s->bound_us != INT64_MAX && valid_us > s->bound_us - BOUND_SLACK_US)
		valid_us = s->bound_us - BOUND_SLACK_US;
	s->n -= s->parting;
	s->parting = 0;
	s->alone = true;
	s->until_us = valid_us;
	if (valid_us <= world_now(w) || s->n == 0)
		stake_drop(w, s);
}

/* The connection is gone; what was promised over it may go on. */
void
checker_permits_end(struct world *w, uint64_t session, int64_t valid_us)
{
	struct stake *s;
	int i;

	for (i = 0; i < CHECKER_SEMAPHORES_MAX; i++) {
		s = stake_find(w, session, i);
		if (s != NULL)
			stake_end(w, s, valid_us);
	}
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

/* What a semaphore has for those who wait for it. */
struct supply {
	uint64_t free;
	uint64_t used[CHECKER_BROKERS_MAX];
	uint64_t needs[CHECKER_BROKERS_MAX]; /* of the first at each broker */
	uint64_t orders[CHECKER_BROKERS_MAX];
	bool wanted, odd; /* odd: nothing can be said */
};

static void
supply_count(const struct world *w, int semaphore, struct supply *s)
{
	const struct checker *k = &w->checker;
	const struct stake *stake;
	int i;

	s->free = w->permits[semaphore];
	for (i = 0; i < k->nstakes; i++) {
		stake = &k->stakes[i];
		if (stake->semaphore != semaphore)
			continue;
		if (stake->n > s->free || stake->limit != w->permits[semaphore])
			s->odd = true;
		else
			s->free -= stake->n;
		s->used[stake->broker] += stake->n;
	}
}

static void
supply_want(const struct world *w, int semaphore, struct supply *s)
{
	const struct checker *k = &w->checker;
	const struct ask *ask;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (!awaits_permits(w, ask, semaphore))
			continue;
		s->wanted = true;
		if (w->brokers[ask->broker].frozen ||
		    ask->limit != w->permits[semaphore])
			s->odd = true;
		if (s->needs[ask->broker] != 0 &&
		    ask->order > s->orders[ask->broker])
			continue;
		s->needs[ask->broker] = ask->number;
		s->orders[ask->broker] = ask->order;
	}
}

/* Could each broker serve the first that waits there? */
static bool
is_hungry(const struct world *w, const struct supply *s)
{
	int i;

	for (i = 0; i < w->nbrokers; i++)
		if (s->needs[i] > s->free)
			return false;
	return s->wanted && !s->odd;
}

/* Only the first of a broker waits in the queue of the brokers; and only if
 * others have what it needs. */
static void
look_at_places(struct world *w, int semaphore, const struct supply *s)
{
	struct checker *k = &w->checker;
	struct semaphore_facts *facts = &k->semaphores[semaphore];
	struct ask *ask;
	size_t i;
	int b;

	for (b = 0; b < w->nbrokers; b++)
		if (s->needs[b] == 0)
			facts->place_us[b] = world_now(w);
	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		b = ask->broker;
		if (awaits_permits(w, ask, semaphore) &&
		    (s->odd || broker_stalled(&w->brokers[b]) ||
			ask->order != s->orders[b] ||
			s->used[b] + ask->number > w->permits[semaphore]))
			ask->idle_us = world_now(w);
	}
}

static void
look_at_semaphore(struct world *w, int semaphore)
{
	struct semaphore_facts *facts = &w->checker.semaphores[semaphore];
	int64_t bound_us = faults_patience_us(w), since_us;
	struct supply s = { .wanted = false };

	/* A broker that is told to come may be frozen, or gone. */
	if (w->faults.on != 0)
		bound_us += w->lease_ms * 1000;
	if (facts->too_many &&
	    permits_out(w, semaphore) <= w->permits[semaphore])
		facts->too_many = false;
	/* Redis knows only the limit that was written last. */
	facts->mixed = facts->mixed && permits_out(w, semaphore) > 0;
	facts->doubled = facts->doubled && permits_out(w, semaphore) > 0;
	supply_count(w, semaphore, &s);
	supply_want(w, semaphore, &s);
	look_at_places(w, semaphore, &s);
	if (!is_hungry(w, &s))
		facts->hungry_us = world_now(w);
	since_us = facts->hungry_us;
	if (since_us < faults_calm_us(w))
		since_us = faults_calm_us(w);
	if (world_now(w) - since_us > bound_us)
		world_fail(w, "P5",
		    "permits of s%d are free and wanted for %lld ms", semaphore,
		    (long long)(world_now(w) - since_us) / 1000);
}

void
checker_permits_look(struct world *w)
{
	struct checker *k = &w->checker;
	int i;

	for (i = k->nstakes - 1; i >= 0; i--)
		if (k->stakes[i].alone && world_now(w) >= k->stakes[i].until_us)
			stake_drop(w, &k->stakes[i]);
	for (i = 0; i < CHECKER_SEMAPHORES_MAX; i++)
		if (w->permits[i] > 0)
			look_at_semaphore(w, i);
}
