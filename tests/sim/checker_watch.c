/*
 * Promises about what is told and done from outside: a watcher hears of the
 * present state at once and of each change within a lease, or soon, where it is
 * one of its own broker; UNLOCK-FORCE is answered OK when whoever had the name
 * has lost it, and nobody loses a name by force who was not forced.
 */
#include "config.h"

#include "checker_state.h"
#include "world.h"

#define SLACK_US 50000 /* a force is noticed this much late */

static struct watching *
watching_of(struct world *w, uint64_t session, int name)
{
	return &w->checker.sittings[session - 1].watches[name];
}

/* WATCH and UNWATCH. */

void
checker_watch_answered(
    struct world *w, const struct answer *a, const struct ask *ask)
{
	struct watching *at;

	if (ask->kind != ASK_WATCH && ask->kind != ASK_UNWATCH)
		return;
	at = watching_of(w, ask->session, ask->name);
	if (a->status == STATUS_OK) {
		at->on = ask->kind == ASK_WATCH;
		at->known = false;
		at->since_us = world_now(w);
		at->welcome = at->on;
		return;
	}
	if (ask->kind == ASK_UNWATCH && at->on)
		world_fail(w, "watch",
		    "session %llu watches n%d, and is told that it does not",
		    (unsigned long long)ask->session, ask->name);
}

/* Right behind its OK a watcher is told what is. */
void
checker_watch_line(
    struct world *w, const struct broker *b, const struct answer *a)
{
	bool news =
	    a->is_event && (a->event == EVENT_HELD || a->event == EVENT_FREE);
	struct watching *at;
	int i;

	for (i = 0; i < CHECKER_NAMES_MAX; i++) {
		at = watching_of(w, a->session, i);
		if (at->welcome && !(news && a->name[1] - '0' == i))
			world_fail(w, "watch",
			    "%s does not tell session %llu at once how n%d is",
			    b->name, (unsigned long long)a->session, i);
	}
}

void
checker_watch_event(
    struct world *w, const struct broker *b, const struct answer *a)
{
	struct watching *at = watching_of(w, a->session, a->name[1] - '0');

	if (!at->on) {
		world_fail(w, "watch",
		    "%s tells session %llu of %s, which it does not watch",
		    b->name, (unsigned long long)a->session, a->name);
		return;
	}
	at->welcome = false;
	at->known = true;
	at->unsure = at->unwritten == 0;
	at->unwritten -= at->unwritten > 0;
	at->held = a->event == EVENT_HELD;
	at->fence = a->fence;
	at->by_broker = a->broker;
}

/*
 * A request has come: what was told before has arrived.  The SESSION that asks
 * for a grace= is the first after which events are kept: what its broker decided
 * before that, and writes only at the end of the turn, is not told again.
 */
void
checker_watch_sure(struct world *w, const struct broker *b, uint64_t session)
{
	bool keeps = w->checker.sittings[session - 1].grace_ms > 0;
	struct watching *at;
	int i;

	for (i = 0; i < CHECKER_NAMES_MAX; i++) {
		at = watching_of(w, session, i);
		at->unsure = false;
		at->unwritten =
		    keeps ? 0 : broker_has_news(b, session, checker_name(i));
	}
}

/* What may not have arrived must be told again. */
void
checker_watch_resumed(struct world *w, uint64_t session)
{
	struct watching *at;
	int i;

	for (i = 0; i < CHECKER_NAMES_MAX; i++) {
		at = watching_of(w, session, i);
		if (!at->on || !at->unsure)
			continue;
		at->known = false;
		at->since_us = world_now(w);
	}
}

/* How a name is, as far as it is certain. */
struct view {
	bool held, free; /* neither: nobody can say */
	bool here;	 /* the broker at hand has it */
	bool shared;
	int broker; /* its place, which its name tells */
	uint64_t fence;
};

static struct view
look_at(struct world *w, int name, int broker)
{
	const struct checker *k = &w->checker;
	const struct ground *ground = &k->grounds[name];
	struct view v = { .free = true };
	const struct grant *g;
	int i;

	for (i = 0; i < k->ngrants; i++) {
		g = &k->grants[i];
		if (g->name != name)
			continue;
		v.free = false;
		if (g->detached || g->orphaned || g->away || g->forced ||
		    g->depth - g->parting <= 0 ||
		    broker_stalled(&w->brokers[g->broker]) ||
		    (v.here && g->broker != broker))
			continue;
		v.held = true;
		v.here = v.here || g->broker == broker;
		v.shared = g->shared;
		v.broker = g->broker % w->places;
		v.fence = g->fence;
	}
	/* The key may be there for a group that waits for more, or for some
	 * keep= that nobody else knows of. */
	if (checker_quiet_us(ground) > world_now(w) ||
	    ground->hush_us > world_now(w) || ground->plain_us > world_now(w) ||
	    w->groups)
		v.free = false;
	return v;
}

/*
 * When a broker last had the name from Redis.  If that was for a client that had
 * gone by then, nobody was granted it; but a broker that looked before it was
 * given back saw that it is held.
 */
static int64_t
taken_us(const struct ground *ground)
{
	int64_t t = 0;
	int i;

	for (i = 0; i < CHECKER_BROKERS_MAX; i++) {
		if (t < ground->began_us[i])
			t = ground->began_us[i];
		if (t < ground->given_us[i])
			t = ground->given_us[i];
	}
	return t;
}

/* Since when it is so. */
static int64_t
since_us(const struct world *w, int name, const struct watching *at,
    const struct view *v)
{
	const struct ground *ground = &w->checker.grounds[name];
	int64_t t = at->since_us;

	if (t < ground->changed_us)
		t = ground->changed_us;
	if (v->free && t < taken_us(ground))
		t = taken_us(ground);
	if (t < checker_quiet_us(ground))
		t = checker_quiet_us(ground);
	if (t < ground->plain_us)
		t = ground->plain_us;
	if (t < ground->hush_us)
		t = ground->hush_us;
	if (t < faults_calm_us(w))
		t = faults_calm_us(w);
	return t;
}

static bool
is_right(const struct watching *at, const struct view *v)
{
	if (!at->known || at->held != v->held)
		return false;
	if (!v->held)
		return true;
	/* Another broker knows a fence of the lease, not of the hold. */
	if (v->here && at->fence != v->fence)
		return false;
	return v->shared || at->by_broker == v->broker;
}

static void
look_at_watcher(struct world *w, uint64_t session, int name)
{
	const struct sitting *s = &w->checker.sittings[session - 1];
	const struct watching *at = watching_of(w, session, name);
	struct view v = look_at(w, name, s->broker);
	int64_t bound_us = faults_patience_us(w);
	int64_t for_us = world_now(w) - since_us(w, name, at, &v);

	if ((!v.held && !v.free) || is_right(at, &v))
		return;
	if (!v.here)
		bound_us += w->lease_ms * 1010;
	if (for_us > bound_us)
		world_fail(w, "watch",
		    "n%d is %s for %lld ms, and session %llu was told %s, "
		    "fence %llu, by b%d",
		    name, v.held ? "held" : "free", (long long)for_us / 1000,
		    (unsigned long long)session,
		    !at->known ? "nothing"
		    : at->held ? "!HELD"
			       : "!FREE",
		    (unsigned long long)at->fence, at->by_broker);
}

void
checker_watch_look(struct world *w)
{
	const struct checker *k = &w->checker;
	const struct sitting *s;
	size_t i;
	int name;

	for (i = 0; i < k->nsittings && uses_has(w, USE_WATCH); i++) {
		s = &k->sittings[i];
		if (s->ended || s->sitting == 0 ||
		    broker_stalled(&w->brokers[s->broker]) ||
		    w->brokers[s->broker].stopping)
			continue;
		for (name = 0; name < w->nnames; name++)
			if (s->watches[name].on)
				look_at_watcher(w, i + 1, name);
	}
}

/* UNLOCK-FORCE. */

/* From now on, nobody counts on it who can't be told. */
void
checker_force_received(struct world *w, const struct ask *ask)
{
	struct checker *k = &w->checker;
	struct ground *ground;
	int i;

	if (ask->kind != ASK_FORCE)
		return;
	ground = &k->grounds[ask->name];
	ground->force_us = ground->meant_us = world_now(w);
	ground->jumped_us = w->servers[0].jumped_us;
	checker_hush_all(ground);
	if (ground->plain_us > ground->hush_us)
		ground->hush_us = ground->plain_us;
	ground->plain_us = 0;
	for (i = 0; i < k->ngrants; i++)
		if (k->grants[i].name == ask->name)
			k->grants[i].forced = true;
}

/* Does anybody hold it who did when it was to be forced? */
static const struct grant *
survivor(struct world *w, const struct ask *ask)
{
	const struct checker *k = &w->checker;
	const struct grant *g;
	int i;

	for (i = 0; i < k->ngrants; i++) {
		g = &k->grants[i];
		if (g->name == ask->name && g->since_us < ask->received_us &&
		    checker_vouched(w, g))
			return g;
	}
	return NULL;
}

/* Nobody is told of the end of a hold whose client is gone, so the checker waits
 * for its valid= to run out; but its keep= and delay= have ended (UNLOCK-FORCE in
 * lockbroker-protocol(7)). */
static void
end_terms(struct world *w, const struct ask *ask)
{
	struct checker *k = &w->checker;
	struct grant *g;
	int i;

	for (i = 0; i < k->ngrants; i++) {
		g = &k->grants[i];
		if (g->name == ask->name && g->since_us < ask->received_us &&
		    (g->detached || g->orphaned))
			g->keep_us = g->delay_ms = 0;
	}
}

void
checker_force_answered(struct world *w, const struct broker *b,
    const struct answer *a, const struct ask *ask)
{
	const struct grant *g;

	if (ask->kind != ASK_FORCE)
		return;
	w->checker.grounds[ask->name].done_us = world_now(w);
	if (a->status == STATUS_OK)
		end_terms(w, ask);
	g = survivor(w, ask);
	if (g == NULL || faults_excuse(w))
		return;
	if (a->status == STATUS_OK)
		world_fail(w, "force",
		    "%s says that n%d is forced, and session %llu still holds "
		    "it",
		    b->name, ask->name, (unsigned long long)g->session);
	else if (w->faults.on == 0 && ask->received_us > faults_calm_us(w))
		world_fail(w, "force",
		    "%s can't force n%d, nothing is wrong, and session %llu "
		    "still holds it",
		    b->name, ask->name, (unsigned long long)g->session);
}

/*
 * Nobody is asked when who forces it has given up: after a reply timeout, by
 * the clock of a server that the broker knows as well as the slowest answer was
 * fast, which took one more.  Where there are several servers, or clocks that
 * jump, a broker may not know when that is.
 */
void
checker_forces(struct world *w, const char *name)
{
	struct ground *ground = &w->checker.grounds[name[1] - '0'];
	/* By its clock the server knows when that is: it may have stood still. */
	int64_t late_us = world_now(w) - ground->force_us +
			  w->servers[0].jumped_us - ground->jumped_us;

	ground->meant_us = world_now(w);
	if (w->nservers == 1 && !(w->faults.on & FAULT_CLOCK) &&
	    late_us > w->reply_timeout_ms * 2020 + SLACK_US)
		world_fail(w, "force", "%s is forced after %lld ms", name,
		    (long long)late_us / 1000);
}

/*
 * How wrong a broker may be about when another was asked: by as long as a call
 * has taken, which is a stall at most.  What was granted in a turn may be told
 * much later.
 */
static int64_t
blur_us(const struct world *w)
{
	if (w->faults.on == 0)
		return 50000 + 20 * w->latency_us;
	if (w->faults.on & FAULT_CLOCK)
		return INT64_MAX / 2;
	return (w->pad_ms + 10 +
		   (w->faults.on & FAULT_HICCUP ? w->lease_ms : 0)) *
	       1010;
}

/* Was the name forced just now, when it was held already?  The message may have
 * been late. */
bool
checker_forced(const struct world *w, const struct grant *g)
{
	const struct ground *ground = &w->checker.grounds[g->name];

	if (ground->force_us == 0 || g->had_us > ground->meant_us + blur_us(w))
		return false;
	return world_now(w) - ground->force_us <
	       faults_patience_us(w) + w->reply_timeout_ms * 1000;
}

bool
checker_forced_since(const struct world *w, int name, int64_t us)
{
	const struct checker *k = &w->checker;
	const struct ask *ask;
	size_t i;

	for (i = 0; i < k->nopen; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind == ASK_FORCE && ask->name == name &&
		    ask->received)
			return true;
	}
	return k->grounds[name].force_us >= us ||
	       k->grounds[name].done_us >= us;
}
