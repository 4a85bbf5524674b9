/*
 * What pollers count on, and what they may expect of brokers.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "store/op.h"

#include "checker_state.h"
#include "world.h"

#define NAMED_LEASES 6 /* a claim that nobody has answered may run so late */
#define COMES_BACK_US 1900000 /* a token that is away no longer has its place */
#define KEPT_US 1100000	      /* KEPT_MS of core/token, and some more */
#define COMES_SOON_US 100000
#define COMES_AT_ONCE_US 15000 /* KEPT_LEAST_MS, and some less */
#define SLACK_US 100000	       /* as in checker_group.c */

/*
 * How many grants by tokens may pass a token that polls, and a LOCK.  No seed of
 * some hundreds needs half of it.
 */
#define PASSED_MAX 20

/* Faults that take away what Redis knows, or are nothing to a broker that
 * writes it again. */
#define FORGETS                                                              \
	(unsigned)(FAULT_FLUSH | FAULT_RESTART | FAULT_MESSAGE |             \
		   FAULT_CHANNEL | FAULT_FORGET | FAULT_CRASH | FAULT_STOP | \
		   FAULT_APART)

/* After these a broker may write what it decided before. */
#define STALLS (unsigned)(FAULT_FREEZE | FAULT_HICCUP | FAULT_STANDSTILL)
#define LATE_US 10000 /* turns, and milliseconds of clocks */

static event_fn on_death;

size_t
poller_token(const struct poller *p, char *text, size_t size)
{
	if (p->common)
		return (size_t)snprintf(text, size, "locked");
	if (p->thread)
		return (size_t)snprintf(
		    text, size, "j%d:%u%d", p->index / 2, p->token, p->index);
	return (size_t)snprintf(
	    text, size, "p%d-%u-%u", p->index, p->token, p->tries);
}

bool
poller_has(const struct poller *p)
{
	return p->until_us > world_now(p->w) &&
	       p->w->checker.grounds[p->name].plain_us == p->until_us;
}

void
poller_hush(struct world *w, int name, int64_t until_us)
{
	struct ground *ground = &w->checker.grounds[name];

	if (until_us > ground->hush_us)
		ground->hush_us = until_us;
}

void
pollers_busy(struct world *w, int name, int64_t until_us)
{
	if (until_us > w->pollers.busy_us[name])
		w->pollers.busy_us[name] = until_us;
}

void
poller_give_up(struct poller *p)
{
	struct world *w = p->w;

	if (poller_has(p)) {
		/* It is gone when Redis has heard of it. */
		poller_hush(w, p->name,
		    p->until_us + NAMED_LEASES * w->lease_ms * 1000);
		checker_plain(w, p->name, 0);
	}
	p->until_us = p->held_us = 0;
	p->doubtful = p->had = false;
	p->ward = -1;
}

/* What Redis forgets. */

/*
 * Does a broker write the hold again?  It must be there from now until the
 * server grants again; faults that may keep it from that excuse it.
 */
static bool
is_kept(const struct poller *p)
{
	const struct world *w = p->w;
	const struct broker *b;

	if (p->ward < 0 || p->unsure || p->ref != 0 || w->owned ||
	    w->replicates || (w->faults.on & ~FORGETS) != 0)
		return false;
	b = &w->brokers[p->ward];
	return b->alive && !b->stopping;
}

static bool
is_adopted(const struct poller *p)
{
	return p->w->pollers.orphan == ORPHAN_ADOPTED && orphan_is_left(p);
}

/* Redis has forgotten its hold, and perhaps nobody writes it again. */
static void
forget(struct poller *p)
{
	struct world *w = p->w;

	poller_give_up(p);
	poller_hush(w, p->name,
	    world_now(w) + (p->px_ms + NAMED_LEASES * w->lease_ms) * 1000);
}

void
pollers_amnesia(struct world *w)
{
	struct poller *p;
	int i;

	w->pollers.forgot_us = world_now(w);
	for (i = 0; i < w->pollers.n; i++) {
		p = &w->pollers.v[i];
		if (poller_has(p) && (is_kept(p) || is_adopted(p)))
			p->doubtful = true;
		else
			forget(p);
	}
}

bool
pollers_count_on(const struct world *w, int name)
{
	const struct poller *p = w->pollers.v;

	for (; p < w->pollers.v + w->pollers.n; p++)
		if (p->name == name && p->doubtful && poller_has(p))
			return true;
	return false;
}

void
pollers_forsaken(struct broker *b)
{
	struct pollers *all = &b->w->pollers;
	struct poller *p;

	for (p = all->v; p < all->v + all->n; p++) {
		if (p->told_by == b->index)
			p->told_us = 0;
		if (p->ward != b->index)
			continue;
		p->ward = -1;
		if (p->doubtful)
			poller_give_up(p);
	}
}

/* Places. */

/* A name is kept for whoever comes first. */
static void
end_kept(const struct poller *p)
{
	struct poller *q = p->w->pollers.v;

	for (; q < p->w->pollers.v + p->w->pollers.n; q++)
		if (q != p && q->name == p->name)
			q->told_us = 0;
}

void
poller_asks(struct poller *p)
{
	struct poller_place *place = &p->places[p->broker];
	int64_t now_us = world_now(p->w);

	pollers_busy(p->w, p->name, now_us);
	end_kept(p);
	p->here = p->known = false;
	if (p->thread || p->op == TOKEN_RELEASE ||
	    (p->op == TOKEN_EXTEND && !p->either) || place->token != p->token ||
	    place->name != p->name)
		return;
	p->known = true;
	p->here = place->firm != UINT64_MAX &&
		  place->heard_us + COMES_BACK_US > now_us;
	place->heard_us = now_us;
	if (!p->here)
		place->firm = UINT64_MAX;
}

/*
 * Has another one asked for the name in the turn that tells p?  The broker may
 * have kept the name for p in an earlier step of that turn.  It keeps a name for
 * the next that asks, so the other one has taken it before p could be told.
 */
static bool
is_taken(const struct broker *b, const struct poller *p)
{
	const struct pollers *all = &b->w->pollers;
	const struct poller *q;

	for (q = all->v; q < all->v + all->n; q++)
		if (q != p && q->broker == b->index && q->name == p->name &&
		    q->op == TOKEN_ACQUIRE && q->sent_us >= b->turn_us)
			return true;
	return false;
}

/* Another thread of its program has the name, or may be getting it, perhaps at
 * another broker. */
static bool
another_comes(const struct poller *p)
{
	const struct pollers *all = &p->w->pollers;
	const struct poller *q;

	for (q = all->v; q < all->v + all->n && p->thread; q++)
		if (q != p && q->thread && q->name == p->name &&
		    q->index / 2 == p->index / 2 &&
		    (q->ref != 0 || poller_has(q)))
			return true;
	return false;
}

/* The moment that a broker keeps a name for a client; and some more, for the
 * answer to be late. */
void
poller_kept(struct broker *b, struct poller *p)
{
	struct world *w = b->w;

	p->told_by = b->index;
	p->told_us = is_taken(b, p) || another_comes(p) ? 0 : world_now(w);
	pollers_hush_kept(w, p->name);
	w->pollers.kept_us[b->index][p->name] = world_now(w) + KEPT_US;
}

void
pollers_hush_kept(struct world *w, int name)
{
	poller_hush(w, name, world_now(w) + KEPT_US);
	pollers_busy(w, name, world_now(w) + KEPT_US);
}

/* It has come back soon, and nobody else has had the name since. */
static void
check_kept(struct broker *b, struct poller *p)
{
	struct world *w = b->w;

	if (p->told_us != 0 &&
	    p->sent_us - p->told_us <
		(p->thread ? COMES_AT_ONCE_US : COMES_SOON_US) &&
	    !another_comes(p) && w->faults.on == 0 &&
	    (w->uses.on & USE_FORCE) == 0)
		world_fail(w, "tokens",
		    "n%d: %s refuses poller %d, for which it keeps it", p->name,
		    b->name, p->index);
	p->told_us = 0;
}

void
poller_refused(struct broker *b, struct poller *p)
{
	struct poller_place *place = &p->places[b->index];
	uint64_t *order = &b->w->pollers.order;

	check_kept(b, p);
	if (p->common || p->thread || b->w->pollers.park_ms == 0)
		return;
	if (place->token != p->token || place->name != p->name) {
		place->name = p->name;
		place->token = p->token;
		place->since = ++*order;
		place->firm = UINT64_MAX;
	}
	/* One that is told at once may have no place, as there are too many. */
	if (place->firm == UINT64_MAX) {
		if (world_now(b->w) - p->sent_us >= b->w->pollers.park_ms * 500)
			place->firm =
			    *order == place->since ? *order : ++*order;
		place->passed = 0;
	}
	place->heard_us = p->sent_us;
}

static void
on_death(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (tag == b->life && world_now(b->w) < b->w->heal_us)
		faults_crash(b);
}

/* Some brokers die while they are about something: before it is sent, on its
 * way, before the answer is told, and a little later. */
static void
strike(struct broker *b)
{
	struct world *w = b->w;
	struct prng *r = &w->pollers.prng;

	if ((w->faults.on & (unsigned)FAULT_CRASH) == 0 || !prng_chance(r, 4) ||
	    w->pollers.orphan != ORPHAN_NONE)
		return;
	events_at(&w->events,
	    world_now(w) + prng_range(r, 0, 6 * w->latency_us), on_death, b,
	    b->life);
}

void
pollers_op(struct broker *b, const struct op *op)
{
	struct pollers *all = &b->w->pollers;
	const char *client;
	struct poller *p;
	char token[32];
	size_t n, len;

	if (all->n > 0 && (op->kind == OP_CLAIM || op->kind == OP_TOKEN ||
			      op->kind == OP_PASS || op->kind == OP_RETAIN))
		strike(b);
	if (op->kind != OP_CLAIM && op->kind != OP_PASS)
		return;
	client = op->kind == OP_PASS ? op->other : op->holder;
	len = op->kind == OP_PASS ? op->other_len : op->holder_len;
	for (p = all->v; p < all->v + all->n; p++) {
		n = poller_token(p, token, sizeof(token));
		if (p->ref != 0 && p->broker == b->index &&
		    (len == n || (p->thread && len > n && client[n] == '%')) &&
		    memcmp(client, token, n) == 0) {
			p->claimed_us = p->reached_us = world_now(b->w);
			p->claim = op->id;
		}
	}
}

void
pollers_outcome(struct broker *b, uint64_t op, int64_t sent_ms)
{
	struct pollers *all = &b->w->pollers;
	struct poller *p;

	for (p = all->v; p < all->v + all->n; p++)
		if (p->broker == b->index && p->claim == op)
			p->reached_us = broker_world_us(b, sent_ms);
}

/*
 * Was q there before p?  If p waited in its place, the places say so when the
 * name was claimed for it; if it may have waited, when it came, too.
 */
static bool
is_before(const struct poller *q, const struct poller *p, int broker)
{
	bool earlier = q->places[broker].firm < p->places[broker].since;

	/* Its one script extends what Redis had granted it by a claim of which
	 * it did not await the answer. */
	if (p->either && p->claimed_us < p->sent_us)
		return earlier && q->sent_us < p->claimed_us;

	if (p->here && !p->either)
		return earlier && q->sent_us < p->claimed_us;
	return (earlier || !p->known) && q->sent_us < p->sent_us;
}

/* First come, first served, among the tokens that wait at one broker. */
static void
check_order(struct broker *b, const struct poller *p)
{
	const struct pollers *all = &b->w->pollers;
	const struct poller *q;

	if (p->common || p->thread || all->park_ms == 0 ||
	    all->kept_us[b->index][p->name] > p->sent_us)
		return;
	/* To extend a hold takes nothing from those that wait.  If it has
	 * another fence, data went back to an older hold of the token: P2 says
	 * whether they may (pollers.c). */
	if (p->op == TOKEN_EXTEND && !p->either)
		return;
	for (q = all->v; q < all->v + all->n; q++) {
		/* One that may have the name already is asked about first. */
		if (q == p || !q->here || q->either || q->broker != b->index ||
		    q->name != p->name || !is_before(q, p, b->index))
			continue;
		world_fail(b->w, "FIFO",
		    "n%d: %s grants it to poller %d before poller %d, which "
		    "waits there since before",
		    p->name, b->name, p->index, q->index);
	}
}

/* Since when others are counted that are served first. */
static int64_t
calm_us(const struct world *w)
{
	return faults_calm_us(w) + w->lease_ms * 1010 + SLACK_US;
}

/* A turn of a program is one of all its threads: which of them comes is settled
 * within the program.  Faults may have cost one its place: then it sleeps for as
 * long as it was told. */
static void
pass_threads(struct world *w, const struct poller *p)
{
	struct pollers *all = &w->pollers;
	struct poller *q;

	for (q = all->v; q < all->v + all->n; q++) {
		if (!q->asleep || q->name != p->name ||
		    q->sent_us < faults_calm_us(w))
			continue;
		if (q->index / 2 == p->index / 2)
			q->passed = 0;
		else if (++q->passed > PASSED_MAX)
			world_fail(w, "tokens", "n%d: thread %d starves",
			    q->name, q->index);
	}
}

/* Tokens that come back to one broker, soon each time. */
static void
pass_tokens(struct world *w, const struct poller *p)
{
	struct pollers *all = &w->pollers;
	struct poller_place *place;
	struct poller *q;

	if (world_now(w) < calm_us(w) || all->park_ms == 0)
		return;
	pass_threads(w, p);
	for (q = all->v; q < all->v + all->n; q++) {
		place = &q->places[q->broker];
		if (q == p || !q->sticks || q->common || q->name != p->name ||
		    q->until_us != 0 || place->token != q->token ||
		    place->name != q->name ||
		    place->heard_us + COMES_BACK_US < world_now(w))
			continue;
		if (++place->passed > all->passed)
			all->passed = place->passed;
		if (place->passed > PASSED_MAX)
			world_fail(w, "tokens", "n%d: poller %d starves",
			    q->name, q->index);
	}
}

/* Those that wait with LOCK: for nothing else, as those behind a request for
 * several names do. */
static void
pass_asks(struct world *w, const struct poller *p)
{
	struct checker *k = &w->checker;
	struct ask *ask;
	size_t i;

	for (i = 0; i < k->nopen && !w->groups; i++) {
		ask = &k->asks[k->open[i] - 1];
		if (ask->kind != ASK_LOCK || ask->nnames > 1 ||
		    ask->name != p->name || !checker_waits(ask) ||
		    k->sittings[ask->sitting - 1].draining ||
		    world_now(w) < calm_us(w) ||
		    world_now(w) <
			ask->received_us + w->lease_ms * 1010 + SLACK_US)
			continue;
		if (++ask->passed > w->pollers.overtaken)
			w->pollers.overtaken = ask->passed;
		if (ask->passed > PASSED_MAX)
			world_fail(w, "tokens",
			    "n%d: request %llu starves for tokens", p->name,
			    (unsigned long long)ask->ref);
	}
}

/* Grants. */

static void
check_alone(struct broker *b, const struct poller *p, uint64_t fence)
{
	struct world *w = b->w;
	const struct poller *other;

	for (other = w->pollers.v; other < w->pollers.v + w->pollers.n; other++)
		if (other != p && other->name == p->name && poller_has(other) &&
		    !faults_excuse(w))
			world_fail(w, "P1",
			    "n%d: %s grants it to poller %d (fence %llu) while"
			    " poller %d has it (fence %llu)",
			    p->name, b->name, p->index,
			    (unsigned long long)fence, other->index,
			    (unsigned long long)other->fence);
}

bool
poller_had(const struct poller *p, uint64_t fence)
{
	unsigned i;

	for (i = 0; i < POLLER_EARLIER; i++)
		if (p->earlier[i] == fence)
			return true;
	return p->fence == fence;
}

static void
was_told(struct poller *p, uint64_t fence)
{
	if (fence != p->fence)
		p->earlier[p->nearlier++ % POLLER_EARLIER] = p->fence;
	p->fence = fence;
}

/* It counts from when it has asked, by its own clock; Redis does from when it
 * was asked, which is no later than now.  Returns that nobody has answered may end
 * it yet, if they are as many as its levels. */
static void
believe(struct broker *b, struct poller *p, uint64_t fence)
{
	bool ends = p->thread && p->depth <= p->less;
	int64_t stray_ms = ends ? 0 : p->stray_ms;
	bool had = poller_has(p);

	was_told(p, fence);
	p->until_us = p->sent_us + p->px_ms * 990;
	p->ends_us = world_now(p->w) + p->px_ms * 1010;
	if (p->stray_us > p->sent_us && p->stray_name == p->name &&
	    p->stray_token == p->token && stray_ms < p->px_ms) {
		p->until_us = p->sent_us + stray_ms * 990;
		pollers_busy(p->w, p->name, world_now(p->w) + p->px_ms * 1010);
	}
	p->had = true;
	p->ward = b->index;
	p->unsure = p->doubtful = false;
	poller_hush(p->w, p->name, world_now(p->w) + p->px_ms * 1010);
	if (p->until_us <= world_now(p->w)) {
		if (had)
			checker_plain(p->w, p->name, 0);
		return;
	}
	checker_token_alone(p->w, p->name, p->sent_us);
	checker_plain(p->w, p->name, p->until_us);
}

/* If the broker was stalled between its decision and its writing, and Redis has
 * forgotten the hold by then, it is as if it had written before that.  It may
 * write the hold again. */
static bool
is_forgotten(const struct broker *b)
{
	return b->w->pollers.forgot_us >= b->turn_us;
}

static void
was_told_late(struct poller *p, uint64_t fence)
{
	was_told(p, fence);
	forget(p);
}

/*
 * Redis may have granted it the name, or a hold that was kept for it, before
 * the name was forced; others may have been told of their grants since.
 */
void
poller_granted(struct broker *b, struct poller *p, uint64_t fence)
{
	struct world *w = b->w;
	struct ground *ground = &w->checker.grounds[p->name];
	bool forced = checker_forced_since(w, p->name, p->sent_us);
	bool forgotten = is_forgotten(b);

	if (!forgotten)
		check_alone(b, p, fence);
	check_order(b, p);
	end_kept(p);
	p->told_us = 0;
	if (fence <= ground->fence && !forgotten && !forced &&
	    checker_fences_rise(w) && !faults_excuse_fence(w))
		world_fail(w, "P2",
		    "n%d: fence %llu after fence %llu, by %s to poller %d",
		    p->name, (unsigned long long)fence,
		    (unsigned long long)ground->fence, b->name, p->index);
	if (fence > ground->fence || (!forced && !forgotten)) {
		ground->fence = fence;
		ground->shared = false;
	}
	pass_tokens(w, p);
	pass_asks(w, p);
	memset(&p->places[b->index], 0, sizeof(p->places[b->index]));
	p->since_us = world_now(w);
	if (forgotten) {
		was_told_late(p, fence);
		return;
	}
	believe(b, p, fence);
	orphan_granted(b, p);
}

/*
 * Others may have had the name since, and not every client looks at its clock.
 * So a broker tells nobody of a hold that is over, unless it was stalled before
 * it could write; it counts from when it asked the server that has carried the
 * claim out, which may be late, and later than the checker knows if a crowd is
 * in its way.
 */
void
poller_late(struct broker *b, const struct poller *p)
{
	struct world *w = b->w;
	int64_t over_us = p->reached_us + p->px_ms * 1010 + LATE_US;

	/* Redis counts from when the broker has asked. */
	poller_hush(w, p->name, world_now(w) + p->px_ms * 1010);
	pollers_busy(w, p->name, world_now(w) + p->px_ms * 1010);
	end_kept(p);
	/* Its one script may have extended the hold since. */
	if ((w->faults.on & STALLS) == 0 && w->crowd.n == 0 && !p->either &&
	    p->claimed_us >= p->sent_us && world_now(w) > over_us)
		world_fail(b->w, "tokens",
		    "n%d: %s grants it to poller %d %lld ms after its end",
		    p->name, b->name, p->index,
		    (long long)(world_now(w) - over_us) / 1000);
}

/*
 * Was the hold forced, and is there yet?  It may have been forced after its
 * broker had extended it; and a broker that was away then, and so was told
 * nothing, writes it again in the next grace period.
 */
static bool
outlives_force(const struct world *w, const struct poller *p)
{
	return checker_forced_since(w, p->name, p->sent_us) ||
	       (w->faults.on != 0 &&
		   w->checker.grounds[p->name].force_us > p->since_us);
}

/* What came back with old data may be extended, too. */
void
poller_extended(struct broker *b, struct poller *p, uint64_t fence)
{
	struct world *w = b->w;
	const struct ground *ground = &w->checker.grounds[p->name];
	bool forgotten = is_forgotten(b);

	if (!forgotten)
		check_alone(b, p, fence);
	if (fence < ground->fence && w->pollers.forgot_us < p->since_us &&
	    !outlives_force(w, p) && checker_fences_rise(w) &&
	    !faults_excuse_fence(w))
		world_fail(w, "P2",
		    "n%d: poller %d extends fence %llu after fence %llu",
		    p->name, p->index, (unsigned long long)fence,
		    (unsigned long long)ground->fence);
	memset(&p->places[b->index], 0, sizeof(p->places[b->index]));
	if (forgotten)
		was_told_late(p, fence);
	else
		believe(b, p, fence);
}
