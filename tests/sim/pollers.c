/*
 * What pollers do, and what they are told.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "checker_state.h"
#include "world.h"

#define NAMED_LEASES 6 /* a claim that nobody has answered may run so late */

static event_fn poller_on_tick;

static void
plan(struct poller *p, int64_t least_us, int64_t most_us)
{
	struct world *w = p->w;

	p->tick++;
	events_at(&w->events,
	    world_now(w) + prng_skewed(&w->pollers.prng, least_us, most_us),
	    poller_on_tick, p, p->tick);
}

void
pollers_make(struct world *w)
{
	struct pollers *all = &w->pollers;
	int i;

	if (!w->o->tokens || w->quorum || w->replicates)
		return;
	prng_seed(&all->prng, w->o->seed ^ 0x706f6c6c);
	all->n = (int)prng_range(&all->prng, 1, POLLERS_MAX);
	for (i = 0; i < all->n; i++) {
		all->v[i].w = w;
		all->v[i].index = i;
		plan(&all->v[i], 1000, 2000000);
	}
}

void
pollers_begin(struct broker *b)
{
	struct core_event event = { .kind = CORE_OPEN };

	if (!b->w->o->tokens || b->w->quorum || b->w->replicates ||
	    (b->w->leave_us > 0 && world_now(b->w) >= b->w->leave_us))
		return;
	b->pollers = POLLERS_FIRST + b->w->pollers.sessions++;
	event.u.open.session = b->pollers;
	event.u.open.peer = "pollers";
	broker_step(b, &event);
}

/* Whoever may have the name now, nobody need be granted it. */
static void
hush(struct world *w, int name, int64_t until_us)
{
	struct ground *ground = &w->checker.grounds[name];

	if (until_us > ground->hush_us)
		ground->hush_us = until_us;
}

/* What it has asked for may be done yet, or was and nobody says so. */
static void
unanswered(struct poller *p)
{
	struct world *w = p->w;

	p->ref = 0;
	p->due = false;
	hush(w, p->name,
	    world_now(w) + (p->px_ms + NAMED_LEASES * w->lease_ms) * 1000);
	plan(p, 1000, 1000000);
}

void
pollers_end(struct broker *b)
{
	struct pollers *all = &b->w->pollers;
	int i;

	b->pollers = 0;
	for (i = 0; i < all->n; i++)
		if (all->v[i].broker == b->index &&
		    (all->v[i].due || all->v[i].ref != 0))
			unanswered(&all->v[i]);
}

/* It believes so, and nobody has forced it. */
static bool
has(const struct poller *p)
{
	return p->until_us > world_now(p->w) &&
	       p->w->checker.grounds[p->name].plain_us == p->until_us;
}

/* It lets go of it, or must. */
static void
give_up(struct poller *p)
{
	struct world *w = p->w;

	if (has(p)) {
		/* It is gone when Redis has heard of it. */
		hush(w, p->name,
		    p->until_us + NAMED_LEASES * w->lease_ms * 1000);
		checker_plain(w, p->name, 0);
	}
	p->until_us = 0;
}

void
pollers_amnesia(struct world *w)
{
	struct poller *p;
	int i;

	for (i = 0; i < w->pollers.n; i++) {
		p = &w->pollers.v[i];
		give_up(p);
		hush(w, p->name,
		    world_now(w) +
			(p->px_ms + NAMED_LEASES * w->lease_ms) * 1000);
	}
}

static void
poller_on_tick(void *object, uint64_t tag)
{
	struct poller *p = object;
	struct world *w = p->w;
	struct broker *b;

	if (tag != p->tick || p->ref != 0 || p->due)
		return;
	if (world_now(w) >= w->leave_us)
		return;
	p->broker = (int)prng_below(&w->pollers.prng, (uint64_t)w->nbrokers);
	b = &w->brokers[p->broker];
	if (!b->alive || b->stopping || b->pollers == 0) {
		plan(p, 1000, 500000);
		return;
	}
	p->due = true;
	broker_input(b, input_new(INPUT_POLLERS, 0));
}

/* What it wants of its broker now. */
static void
choose(struct poller *p)
{
	struct world *w = p->w;
	struct prng *r = &w->pollers.prng;

	p->px_ms = prng_skewed(r, 20, 3 * w->lease_ms);
	if (p->until_us > world_now(w)) {
		p->op = prng_chance(r, 500) ? TOKEN_EXTEND : TOKEN_RELEASE;
		return;
	}
	p->until_us = 0;
	p->op = TOKEN_ACQUIRE;
	/* Most go on with the token and the name that were refused. */
	if (p->token != 0 && prng_chance(r, 800))
		return;
	p->name = (int)prng_below(r, (uint64_t)w->nnames);
	p->token = ++p->next_token;
}

static void
ask(struct broker *b, struct poller *p)
{
	struct world *w = b->w;
	struct core_event event = { .kind = CORE_TOKEN };
	struct token_request rq;
	struct core_name name;
	char text[8], token[32];

	choose(p);
	memset(&rq, 0, sizeof(rq));
	name.n = (size_t)snprintf(text, sizeof(text), "n%d", p->name);
	name.p = text;
	rq.op = p->op;
	rq.ref = p->ref = ++w->pollers.refs;
	rq.names = &name;
	rq.nnames = 1;
	rq.token = token;
	rq.token_len = (size_t)snprintf(
	    token, sizeof(token), "p%d-%u", p->index, p->token);
	rq.ttl_ms = p->op == TOKEN_RELEASE ? 0 : p->px_ms;
	rq.park_ms = prng_chance(&w->pollers.prng, 700) ? 80 : 0;
	p->sent_us = world_now(w);
	if (p->op == TOKEN_RELEASE)
		give_up(p);
	/* It may become less. */
	if (p->op == TOKEN_EXTEND && has(p) &&
	    p->until_us > p->sent_us + p->px_ms * 990) {
		hush(w, p->name, p->until_us);
		p->until_us = p->sent_us + p->px_ms * 990;
		checker_plain(w, p->name, p->until_us);
	}
	/* While it is asked for, it may be had before that is told. */
	hush(w, p->name, world_now(w) + p->px_ms * 1010);
	TRACE(w, "poller %d asks %s, op %d, n%d, token %u, px %lld", p->index,
	    b->name, (int)p->op, p->name, p->token, (long long)p->px_ms);
	event.u.token.session = b->pollers;
	event.u.token.request = &rq;
	broker_step(b, &event);
}

void
pollers_leave(struct world *w)
{
	int i;

	for (i = 0; i < w->nbrokers; i++)
		if (w->brokers[i].alive && w->brokers[i].pollers != 0)
			broker_input(
			    &w->brokers[i], input_new(INPUT_POLLERS, 0));
}

static void
go_home(struct broker *b)
{
	struct core_event event = { .kind = CORE_GONE };

	event.u.gone.session = b->pollers;
	event.u.gone.orderly = event.u.gone.quit = true;
	pollers_end(b);
	broker_step(b, &event);
}

void
pollers_act(struct broker *b)
{
	struct pollers *all = &b->w->pollers;
	int i;

	if (b->pollers != 0 && world_now(b->w) >= b->w->leave_us) {
		go_home(b);
		return;
	}
	for (i = 0; i < all->n && !b->w->failed; i++) {
		if (!all->v[i].due || all->v[i].broker != b->index)
			continue;
		all->v[i].due = false;
		if (b->pollers != 0 && !b->stopping)
			ask(b, &all->v[i]);
		else
			plan(&all->v[i], 1000, 500000);
	}
}

static void
check_grant(struct broker *b, struct poller *p, uint64_t fence)
{
	struct world *w = b->w;
	struct ground *ground = &w->checker.grounds[p->name];
	const struct poller *other;

	for (other = w->pollers.v; other < w->pollers.v + w->pollers.n; other++)
		if (other != p && other->name == p->name && has(other))
			world_fail(w, "P1",
			    "n%d: %s grants it to poller %d (fence %llu) while"
			    " poller %d has it (fence %llu)",
			    p->name, b->name, p->index,
			    (unsigned long long)fence, other->index,
			    (unsigned long long)other->fence);
	if (fence <= ground->fence && checker_fences_rise(w) &&
	    !faults_excuse_fence(w))
		world_fail(w, "P2",
		    "n%d: fence %llu after fence %llu, by %s to poller %d",
		    p->name, (unsigned long long)fence,
		    (unsigned long long)ground->fence, b->name, p->index);
	ground->fence = fence;
	ground->shared = false;
}

/* It counts from when it has asked, by its own clock. */
static void
believe(struct poller *p)
{
	p->until_us = p->sent_us + p->px_ms * 990;
	if (p->until_us > world_now(p->w))
		checker_plain(p->w, p->name, p->until_us);
}

static void
answered(struct broker *b, struct poller *p, const struct token_result *r)
{
	struct pollers *all = &b->w->pollers;
	bool had = has(p);

	/* Its broker was stalled before it could write: that is over by now. */
	if (p->op == TOKEN_ACQUIRE && r->answer == TOKEN_DONE &&
	    world_now(b->w) >= p->sent_us + p->px_ms * 1000) {
		p->token = 0;
		return;
	}
	if (r->answer == TOKEN_DONE && p->op == TOKEN_ACQUIRE) {
		all->grants++;
		check_grant(b, p, r->fence);
		p->fence = r->fence;
		believe(p);
	} else if (r->answer == TOKEN_DONE && p->op == TOKEN_EXTEND) {
		all->extended++;
		if (had && r->fence != p->fence)
			world_fail(b->w, "P2",
			    "n%d: poller %d has extended fence %llu to %llu",
			    p->name, p->index, (unsigned long long)p->fence,
			    (unsigned long long)r->fence);
		p->fence = r->fence;
		believe(p);
	} else if (p->op == TOKEN_EXTEND) {
		/* Nobody else may have ended it. */
		if (had)
			world_fail(b->w, "P1",
			    "n%d: %s says that poller %d has not got it"
			    " (answer %d)",
			    p->name, b->name, p->index, (int)r->answer);
		p->until_us = 0;
	} else if (r->answer == TOKEN_DONE) {
		all->released++;
		p->token = 0;
	} else {
		all->refused++;
	}
}

void
pollers_tell(struct broker *b, const struct effects *fx, const struct effect *e)
{
	struct pollers *all = &b->w->pollers;
	struct poller *p;
	int i;

	if (b->pollers != e->conn || e->kind == EFFECT_EVENT)
		return;
	for (i = 0; i < all->n; i++)
		if (all->v[i].ref == e->ref && e->ref != 0)
			break;
	if (i == all->n)
		return;
	p = &all->v[i];
	TRACE(b->w, "poller %d is told: %s", i,
	    e->kind == EFFECT_TOKEN ? "answered" : "not now");
	if (e->kind != EFFECT_TOKEN) {
		unanswered(p);
		return;
	}
	p->ref = 0;
	answered(b, p, &fx->tokens[e->token]);
	plan(p, 1000, 400000);
}
