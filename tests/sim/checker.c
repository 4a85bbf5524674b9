/*
 * The record of who asked what, and who has what; and promises P1, P2, P3,
 * held against each line that a broker writes.  What only time can show (P4,
 * P5, P6) is in checker_time.c.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "checker_state.h"
#include "world.h"

void
checker_init(struct world *w)
{
	int i;

	memset(&w->checker, 0, sizeof(w->checker));
	for (i = 0; i < CHECKER_NAMES_MAX; i++)
		w->checker.grounds[i].hungry_us = -1;
	w->checker.circle_us = -1;
	checker_latch_init(w);
}

void
checker_fini(struct world *w)
{
	free(w->checker.asks);
	free(w->checker.open);
	free(w->checker.sittings);
	free(w->checker.generations);
	free(w->checker.drills);
}

/* Clients. */

void
checker_opened(struct world *w, const struct client *c)
{
	struct checker *k = &w->checker;
	struct sitting *s;

	if (k->nsittings == k->sittings_size) {
		k->sittings_size = k->sittings_size * 2 + 64;
		k->sittings = xrealloc(
		    k->sittings, k->sittings_size * sizeof(*k->sittings));
	}
	s = &k->sittings[k->nsittings++];
	assert(k->nsittings == c->sitting);
	memset(s, 0, sizeof(*s));
	s->client = c->index;
	s->broker = c->broker;
	s->proxied = w->proxies && prng_chance(&w->prng, 500);
	s->session = s->sitting = c->sitting;
}

struct client *
checker_client(struct world *w, uint64_t sitting)
{
	assert(sitting > 0 && sitting <= w->checker.nsittings);
	return &w->clients[w->checker.sittings[sitting - 1].client];
}

/* Grants. */

struct grant *
checker_grant(struct world *w, uint64_t session, int name)
{
	struct checker *k = &w->checker;
	int i;

	for (i = 0; i < k->ngrants; i++)
		if (k->grants[i].session == session &&
		    k->grants[i].name == name && !k->grants[i].orphaned &&
		    !k->grants[i].detached)
			return &k->grants[i];
	return NULL;
}

void
checker_drop(struct world *w, struct grant *g)
{
	struct checker *k = &w->checker;
	struct ground *ground = &k->grounds[g->name];
	bool gone = g->detached || g->orphaned || g->away;

	checker_drill_over(w, g,
	    gone && g->until_us < world_now(w) ? g->until_us : world_now(w));
	checker_had(w, g->broker, g->name);
	ground->changed_us = world_now(w);
	checker_set_kept(w, g);
	*g = k->grants[--k->ngrants];
}

int64_t
checker_vouched_until_us(const struct world *w, const struct grant *g)
{
	const struct ground *ground = &w->checker.grounds[g->name];

	return g->since_us < ground->given_us[g->broker]
		   ? ground->former_us[g->broker]
		   : ground->lease_us[g->broker];
}

/* A hold that ended otherwise than by UNLOCK or QUIT.  Its client may hear of
 * it late, which is nobody's fault but the network's. */
void
checker_drop_badly(struct world *w, struct grant *g)
{
	int64_t end_us = checker_vouched_until_us(w, g);

	history_note(&w->history, world_now(w), HISTORY_INFO, g->session,
	    HISTORY_DOUBT, checker_name(g->name), 0);
	/* A broker that was frozen says late when it ended.  What an UNLOCK has
	 * ended, whose answer was still to come, has ended well: no delay=. */
	if (g->depth - g->parting > 0)
		checker_set_quiet(
		    w, g, end_us < world_now(w) ? end_us : world_now(w));
	checker_drop(w, g);
}

bool
checker_vouched(struct world *w, const struct grant *g)
{
	const struct broker *b = &w->brokers[g->broker];
	int64_t end_us = checker_vouched_until_us(w, g);

	if (g->detached || g->orphaned)
		return !g->forced && !checker_forced(w, g) &&
		       world_now(w) < g->until_us && world_now(w) < g->valid_us;
	if (g->away && world_now(w) >= g->until_us)
		return false;
	if (g->depth - g->parting <= 0)
		return false;
	/* The broker may have been handed another lease since. */
	if (g->deluded && broker_unaware(b, world_now(w)))
		return false;
	/* A broker that is frozen can't say that its lease is over, and one
	 * whose clock stood still does not know it. */
	if ((checker_is_mute(w, b) || broker_unaware(b, world_now(w))) &&
	    world_now(w) >= end_us)
		return false;
	return true;
}

/* One name of an answer. */
static void
note_answer(struct world *w, const struct client *c, const struct answer *a,
    const struct ask *ask, unsigned i)
{
	const char *name = checker_name(ask->names[i]);
	struct history_event *e;

	e = history_note(&w->history, world_now(w),
	    a->status == STATUS_OK ? HISTORY_OK : HISTORY_FAIL, c->session,
	    ask->kind == ASK_LOCK ? HISTORY_LOCK : HISTORY_UNLOCK, name,
	    ask->ref);
	e->fence = a->fences[i];
	e->depth = a->depths[i];
}

void
checker_heard(struct world *w, const struct client *c, const struct answer *a,
    const struct ask *ask)
{
	const struct grant *g;
	unsigned i;

	if (a->is_event) {
		if (a->event == EVENT_LOST && a->name[0] != 's')
			history_note(&w->history, world_now(w), HISTORY_INFO,
			    c->session, HISTORY_LOST, a->name, 0);
		return;
	}
	if (ask->kind != ASK_LOCK && ask->kind != ASK_UNLOCK)
		return;
	for (i = 0; i < ask->nnames; i++)
		note_answer(w, c, a, ask, i);
	if (ask->kind != ASK_LOCK || a->status != STATUS_OK)
		return;
	/* Over before it was heard of: only a client that pings can know. */
	for (i = 0; i < ask->nnames; i++) {
		g = checker_grant(w, c->session, ask->names[i]);
		if (g == NULL || g->fence != a->fences[i] ||
		    !checker_vouched(w, g))
			history_note(&w->history, world_now(w), HISTORY_INFO,
			    c->session, HISTORY_DOUBT,
			    checker_name(ask->names[i]), 0);
	}
}

/* Both share the name: then they have the fence of one phase. */
static void
check_phase(struct world *w, const struct grant *g, const struct answer *a)
{
	if (g->fence != a->fence && !faults_excuse(w))
		world_fail(w, "P2",
		    "n%d: session %llu shares it with fence %llu, "
		    "session %llu with fence %llu",
		    g->name, (unsigned long long)a->session,
		    (unsigned long long)a->fence,
		    (unsigned long long)g->session,
		    (unsigned long long)g->fence);
}

/* P1: nobody else's grant is vouched for, but of those who share. */
static void
check_exclusion(struct world *w, const struct broker *b, const struct answer *a,
    int name, bool shared)
{
	struct checker *k = &w->checker;
	struct grant *g;
	int i;

	for (i = 0; i < k->ngrants && !w->failed; i++) {
		g = &k->grants[i];
		if (g->name != name || g->session == a->session)
			continue;
		/* Sharers of a phase don't mind each other.  One that is away
		 * may be back in the millisecond in which its grace= is
		 * over. */
		if (g->shared && shared && g->away && g->fence == a->fence)
			continue;
		if (!checker_vouched(w, g)) {
			g->doubted = true;
			history_note(&w->history, world_now(w), HISTORY_INFO,
			    g->session, HISTORY_DOUBT, checker_name(name), 0);
			continue;
		}
		if (g->shared && shared) {
			check_phase(w, g, a);
			continue;
		}
		if (faults_excuse(w))
			continue;
		world_fail(w, "P1",
		    "n%d: %s grants it to session %llu (fence %llu) while b%d "
		    "vouches for session %llu (fence %llu)%s",
		    name, b->name, (unsigned long long)a->session,
		    (unsigned long long)a->fence, g->broker,
		    (unsigned long long)g->session,
		    (unsigned long long)g->fence,
		    g->detached || g->orphaned ? ", valid= told" : "");
	}
	if (!w->failed && k->grounds[name].plain_us > world_now(w) &&
	    !faults_excuse(w))
		world_fail(w, "P1",
		    "n%d: %s grants it to session %llu while "
		    "a plain client has it",
		    name, b->name, (unsigned long long)a->session);
}

/* First come, first served, within a broker. */
static void
check_order(struct world *w, const struct ask *ask)
{
	struct checker *k = &w->checker;
	const uint64_t place = checker_place(k, ask);
	const struct ask *other;
	size_t i;

	/* Who had it may lock it again while its keep= lasts. */
	if (ask->privileged || ask->nnames > 1 ||
	    (w->brokers[ask->broker].stood_ms > 0 &&
		((k->sittings[ask->session - 1].kept >> ask->name) & 1)))
		return;
	for (i = 0; i < k->nopen; i++) {
		other = &k->asks[k->open[i] - 1];
		if (other->kind != ASK_LOCK || other->name != ask->name ||
		    other->broker != ask->broker || other->gone ||
		    other->cancelled || other->wait_ms == 0 ||
		    other->nnames > 1 || other->order >= place ||
		    other->session == ask->session ||
		    k->sittings[other->sitting - 1].draining)
			continue;
		if (other->wait_ms != CORE_WAIT_FOREVER &&
		    other->received_us + other->wait_ms * 995 <=
			world_now(w) + w->brokers[ask->broker].stood_ms * 5)
			continue;
		world_fail(w, "FIFO",
		    "n%d: request %llu is granted before request %llu, which "
		    "came before it to b%d",
		    ask->name, (unsigned long long)ask->ref,
		    (unsigned long long)other->ref, ask->broker);
		return;
	}
}

/*
 * Its lease is over, and it can't know that yet, for its clock stood still: it
 * may grant what another broker has, and with a lower fence.
 */
static bool
is_deluded(struct world *w, const struct broker *b, int name)
{
	const struct ground *ground = &w->checker.grounds[name];
	int64_t now_us = world_now(w), end_us = ground->lease_us[b->index];
	bool deluded;

	/* The name was handed to it meanwhile.  It may act on the lease which it
	 * had, or, once it hears of that, on the new one: both may be over. */
	if (now_us - ground->given_us[b->index] < b->slept_ms * 1000 &&
	    end_us > ground->former_us[b->index])
		end_us = ground->former_us[b->index];
	deluded = broker_unaware(b, now_us) && now_us >= end_us;
	w->checker.excused += deluded;
	return deluded;
}

static void
set_terms(struct world *w, struct grant *g, const struct ask *ask)
{
	/* A keep= counts from the decision, before the broker's hiccup. */
	int64_t keep_us = w->brokers[g->broker].turn_us + ask->keep_ms * 1000;
	/* So does the hold= of an EXTEND; that of a grant from when it is told. */
	int64_t from_us =
	    ask->kind == ASK_EXTEND ? ask->received_us : world_now(w);

	g->reentered = g->reentered || g->depth > 1;
	if (ask->has_hold) {
		g->bound_us = ask->hold_ms == 0 ? INT64_MAX
						: from_us + ask->hold_ms * 1000;
		g->slack_us = CLOCK_SLACK_US + ask->hold_ms * 5;
	}
	if (ask->keep_ms > 0 && keep_us > g->keep_us)
		g->keep_us = keep_us;
	if (ask->delay_ms > g->delay_ms)
		g->delay_ms = ask->delay_ms;
	if (ask->keep_ms > 0 || ask->delay_ms > 0)
		w->checker.sittings[ask->session - 1].kept |= 1u << ask->name;
	g->deluded = is_deluded(w, &w->brokers[g->broker], g->name);
	if (g->deluded)
		g->keep_us = g->delay_ms = 0;
}

/* Its session has the name: what else it waits for may pass the others. */
static void
lets_pass(struct world *w, const struct ask *ask)
{
	struct checker *k = &w->checker;
	struct ask *other;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		other = &k->asks[k->open[i] - 1];
		if (other->kind != ASK_LOCK || other->session != ask->session ||
		    !checker_asks_for(other, ask->name))
			continue;
		if (other->nnames > 1 && other->keep_ms == 0 &&
		    other->delay_ms == 0)
			continue;
		other->ahead |= 1u << ask->name;
		other->privileged = other->nnames == 1;
	}
}

/* Then it may have put back, in a grace period, what others have had since. */
static bool
has_slept(struct world *w, const struct broker *b)
{
	w->checker.excused += b->stood_ms > 0;
	return b->stood_ms > 0;
}

static void
check_grant(struct world *w, const struct broker *b, const struct answer *a,
    const struct ask *ask, bool joins)
{
	const struct ground *ground = &w->checker.grounds[ask->name];

	check_exclusion(w, b, a, ask->name, ask->shared);
	checker_check_quiet(w, ask);
	if (a->fence <= ground->fence && !joins && checker_fences_rise(w) &&
	    !faults_excuse_fence(w) && !has_slept(w, b))
		world_fail(w, "P2", "n%d: fence %llu after fence %llu, by %s",
		    ask->name, (unsigned long long)a->fence,
		    (unsigned long long)ground->fence, b->name);
	if (world_now(w) >= ground->lease_us[b->index] + CLOCK_SLACK_US)
		world_fail(w, "P1", "n%d: %s grants it without a lease",
		    ask->name, b->name);
}

static void
on_new_grant(struct world *w, const struct broker *b, const struct answer *a,
    const struct ask *ask)
{
	struct checker *k = &w->checker;
	struct ground *ground = &k->grounds[ask->name];
	struct grant *g;
	int64_t keep_us;
	bool deluded = is_deluded(w, b, ask->name);
	bool joins = ask->shared && ground->shared && a->fence == ground->fence;

	if (!deluded)
		check_grant(w, b, a, ask, joins);
	check_order(w, ask);
	lets_pass(w, ask);
	checker_passes(w, ask);
	checker_had(w, b->index, ask->name);
	if (joins)
		checker_joins(w, ask);
	else
		ground->phase_us = world_now(w);
	if (a->fence > ground->fence || b->stood_ms == 0)
		ground->fence = a->fence;
	ground->shared = ask->shared;
	ground->grants++;
	/* A keep= goes on over another grant of the session that has it. */
	keep_us = checker_take_quiet(w, ask->name, ask->session);

	assert(k->ngrants < CHECKER_HOLDS_MAX);
	g = &k->grants[k->ngrants++];
	memset(g, 0, sizeof(*g));
	g->name = ask->name;
	g->broker = b->index;
	g->shared = ask->shared;
	g->session = ask->session;
	g->fence = a->fence;
	g->depth = 1;
	g->bound_us = INT64_MAX;
	g->since_us = g->had_us = ground->changed_us = world_now(w);
	g->keep_us = keep_us;
	g->either =
	    ((k->sittings[ask->session - 1].kept >> ask->name) & 1) != 0;
	set_terms(w, g, ask);
}

/* Who shared the name has it alone now. */
static void
on_upgrade(struct world *w, const struct broker *b, const struct answer *a,
    const struct ask *ask, struct grant *g)
{
	struct ground *ground = &w->checker.grounds[ask->name];

	check_exclusion(w, b, a, ask->name, false);
	checker_check_quiet(w, ask);
	if (a->fence <= ground->fence && !faults_excuse_fence(w))
		world_fail(w, "P2",
		    "n%d: an upgrade has fence %llu after fence %llu",
		    ask->name, (unsigned long long)a->fence,
		    (unsigned long long)ground->fence);
	ground->fence = g->fence = a->fence;
	ground->shared = g->shared = false;
	g->since_us = ground->changed_us = world_now(w);
	ground->grants++;
	g->depth++;
	set_terms(w, g, ask);
}

/* The UNLOCK that came first of those that may have let this go. */
static struct ask *
first_unlock(struct world *w, const struct grant *g)
{
	struct checker *k = &w->checker;
	struct ask *ask, *first = NULL;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind == ASK_UNLOCK && ask->session == g->session &&
		    checker_asks_for(ask, g->name) &&
		    !((ask->again >> g->name) & 1) &&
		    (first == NULL || ask->order < first->order))
			first = ask;
	}
	return first;
}

/*
 * The session let the name go and was granted it again before the UNLOCK is
 * answered, which may wait for other names: its answer says nothing of the new
 * grant.  Answers to tagged requests come in any order.
 */
static void
on_grant_again(struct world *w, const struct broker *b, const struct answer *a,
    const struct ask *ask, struct grant *g)
{
	int parting = g->parting - (int)g->depth;
	struct ask *unlock;
	int64_t i;

	for (i = 0; i < g->depth; i++) {
		unlock = first_unlock(w, g);
		if (unlock != NULL)
			unlock->again |= 1u << g->name;
	}
	checker_drop(w, g);
	on_new_grant(w, b, a, ask);
	checker_grant(w, ask->session, ask->name)->parting = parting;
}

static void
on_lock_ok(struct world *w, const struct broker *b, const struct answer *a,
    const struct ask *ask)
{
	struct grant *g =
	    checker_drill_regrant(w, checker_grant(w, ask->session, ask->name));

	if (a->depth == 1 && g == NULL) {
		on_new_grant(w, b, a, ask);
		return;
	}
	if (a->depth == 1 && g->depth - g->parting <= 0) {
		on_grant_again(w, b, a, ask, g);
		return;
	}
	if (g != NULL && g->shared && !ask->shared &&
	    !(g->either && a->fence == g->fence)) {
		on_upgrade(w, b, a, ask, g);
		return;
	}
	if (g == NULL || a->fence != g->fence) {
		world_fail(w, "P2",
		    "n%d: session %llu re-enters with depth %llu and fence "
		    "%llu; it %s",
		    ask->name, (unsigned long long)ask->session,
		    (unsigned long long)a->depth, (unsigned long long)a->fence,
		    g == NULL ? "holds nothing" : "has another fence");
		return;
	}
	g->depth++;
	set_terms(w, g, ask);
}

static void
on_unlock(struct world *w, const struct answer *a, const struct ask *ask)
{
	struct grant *g = checker_grant(w, ask->session, ask->name);

	if (g == NULL || ((ask->again >> ask->name) & 1) != 0)
		return;
	if (g->parting > 0)
		g->parting--;
	/* All or nothing: another of its names was not held. */
	if (a->status != STATUS_OK && ask->nnames > 1) {
		if (checker_let_go(w, g))
			g->depth = g->parting;
		return;
	}
	g->depth--;
	/* What is told here may count re-entries that are told later. */
	if (a->status != STATUS_OK || a->depth == 0)
		checker_drop(w, g);
}

/* P3: a session that holds what is lost hears of that first; but what was
 * decided before its broker froze may stand before it in the same write. */
static void
check_warned(struct world *w, const struct broker *b, const struct answer *a)
{
	struct checker *k = &w->checker;
	const struct grant *g;
	int64_t now_us = a->early_us != 0 ? a->early_us : world_now(w);
	int i;

	if (broker_unaware(b, world_now(w)))
		return;
	for (i = 0; i < k->ngrants && !w->failed; i++) {
		g = &k->grants[i];
		if (g->session != a->session || g->detached || g->orphaned ||
		    g->depth - g->parting <= 0 || g->drill > 0)
			continue;
		if ((g->doubted && a->early_us == 0) ||
		    now_us >=
			k->grounds[g->name].lease_us[b->index] + CLOCK_SLACK_US)
			world_fail(w, "P3",
			    "%s writes to session %llu, which has lost n%d, "
			    "before !LOST",
			    b->name, (unsigned long long)a->session, g->name);
	}
}

/* What a reply says of each of several names. */
static void
on_names(struct world *w, const struct broker *b, const struct answer *a,
    const struct ask *ask)
{
	struct answer part = *a;
	struct ask one = *ask;
	unsigned i;

	for (i = 0; i < ask->nnames && !w->failed; i++) {
		one.name = ask->names[i];
		part.fence = a->fences[i];
		part.depth = a->depths[i];
		if (ask->kind == ASK_UNLOCK)
			on_unlock(w, &part, &one);
		else
			on_lock_ok(w, b, &part, &one);
	}
}

/* A PING's answer is for what the session has; not for what comes later. */
static void
on_valid(struct world *w, const struct ask *ask, int64_t valid_us)
{
	struct checker *k = &w->checker;
	int i;

	k->sittings[ask->session - 1].valid_us = valid_us;
	for (i = 0; i < k->ngrants; i++)
		if (k->grants[i].session == ask->session)
			k->grants[i].valid_us = valid_us;
	checker_permits_valid(w, ask->session, valid_us);
}

static void
on_reply(struct world *w, const struct broker *b, const struct answer *a)
{
	struct checker *k = &w->checker;
	struct ask *ask;
	struct grant *g;

	assert(a->ref > 0 && a->ref <= k->nasks);
	ask = &k->asks[a->ref - 1];
	if (ask->answered ||
	    (ask->session != a->session && ask->kind != ASK_RESUME)) {
		world_fail(w, "P7", "request %llu is answered twice",
		    (unsigned long long)a->ref);
		return;
	}
	checker_close_ask(w, ask);
	k->timeouts += a->status == STATUS_TIMEOUT;
	k->unavailable += a->code == ERR_UNAVAILABLE;
	checker_permits_answered(w, b, a, ask);
	if (faults_split(w))
		checker_amnesia(w);
	checker_watch_answered(w, a, ask);
	checker_force_answered(w, b, a, ask);
	checker_drill_answered(w, b, a, ask);
	checker_latch_answered(w, b, a, ask);
	checker_barrier_answered(w, b, a, ask);
	if ((ask->kind == ASK_LOCK && a->status == STATUS_BUSY) ||
	    (ask->kind == ASK_STATUS && a->taken) ||
	    (ask->kind == ASK_FORCE && a->status == STATUS_OK))
		checker_tried(w, ask);
	if (ask->kind == ASK_LOCK && a->code == ERR_DEADLOCK)
		checker_refused_circle(w, ask);
	if ((ask->kind == ASK_LOCK && a->status == STATUS_OK) ||
	    ask->kind == ASK_UNLOCK)
		on_names(w, b, a, ask);
	else if (ask->kind == ASK_RESUME)
		checker_resume_answered(w, a, ask);
	else if (ask->kind == ASK_EXTEND && a->status == STATUS_OK) {
		g = checker_grant(w, ask->session, ask->name);
		if (g != NULL)
			set_terms(w, g, ask);
	} else if (ask->kind == ASK_PING && a->valid_ms >= 0 &&
		   !broker_unaware(b, world_now(w)))
		on_valid(w, ask, ask->sent_us + a->valid_ms * 995);
}

void
checker_line(struct world *w, const struct broker *b, const struct answer *a)
{
	static const char *const statuses[] = { "OK", "BUSY", "TIMEOUT",
		"CANCELLED", "ERR" };
	static const char *const events[] = {
#define EVENT(id, word) "!" word,
		EVENTS(EVENT)
#undef EVENT
	};

	if (a->is_event)
		TRACE(w, "%s to %llu: %s %s fence=%llu", b->name,
		    (unsigned long long)a->session, events[a->event], a->name,
		    (unsigned long long)a->fence);
	else
		TRACE(w,
		    "%s to %llu: @%llu %s %s fence=%llu depth=%llu count=%llu "
		    "index=%llu generation=%llu",
		    b->name, (unsigned long long)a->session,
		    (unsigned long long)a->ref, statuses[a->status],
		    err_word(a->code), (unsigned long long)a->fence,
		    (unsigned long long)a->depth, (unsigned long long)a->count,
		    (unsigned long long)a->index,
		    (unsigned long long)a->generation);
	w->checker.told++;
	w->checker.ops = 0;
	checker_session_line(w, b, a);
	checker_watch_line(w, b, a);
	/* That a drill was lost in earnest is told among what else is lost. */
	if ((!a->is_event || a->event != EVENT_LOST) && a->sitting != 0 &&
	    (a->is_event || a->code != ERR_LOST ||
		checker_ask(w, a->ref)->kind != ASK_DRILL))
		check_warned(w, b, a);
	if (w->failed)
		return;
	if (a->is_event)
		checker_event(w, b, a);
	else
		on_reply(w, b, a);
	checker_hunger(w);
}
