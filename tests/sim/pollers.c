/*
 * What pollers do, and what they are told.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "checker_state.h"
#include "world.h"

#define AWAIT_MS 5000  /* how long one that listens waits */
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

static bool
are_there(const struct world *w)
{
	return w->o->tokens || threads_are_there(w) ||
	       ablation_of_tokens(w->o->ablation);
}

void
pollers_make(struct world *w)
{
	struct pollers *all = &w->pollers;
	struct prng listeners;
	struct poller *p;

	if (!are_there(w))
		return;
	prng_seed(&all->prng, w->o->seed ^ 0x706f6c6c);
	prng_seed(&listeners, w->o->seed ^ 0x6c697374656e);
	prng_seed(&all->presses, w->o->seed ^ 0x7072657373);
	all->press = prng_chance(&all->presses, 400) ? 200 : 0;
	all->n = (int)prng_range(&all->prng, 1, POLLERS_MAX);
	all->park_ms =
	    prng_chance(&all->prng, 800) ? prng_range(&all->prng, 20, 200) : 0;
	all->forgot_us = -1;
	all->rush = prng_chance(&all->prng, 300);
	/* Whether a place is kept shows where many want one name, and are sent
	 * away again and again. */
	if (world_ablated(w, ABLATE_PLACE)) {
		all->n = POLLERS_MAX;
		all->park_ms = 20;
		all->rush = true;
	}
	for (p = all->v; p < all->v + all->n; p++) {
		p->w = w;
		p->index = (int)(p - all->v);
		p->sticks = all->rush || prng_chance(&all->prng, 500);
		p->either = prng_chance(&all->prng, 300);
		p->common = !p->either && prng_chance(&all->prng, 200);
		p->listens = !p->common && prng_chance(&listeners, 250);
		p->ward = -1;
		plan(p, 1000, 2000000);
	}
	threads_make(w);
	orphan_make(w);
}

void
pollers_wake(struct poller *p)
{
	plan(p, 1, 20000);
}

void
pollers_begin(struct broker *b)
{
	struct core_event event = { .kind = CORE_OPEN };
	struct pollers *all = &b->w->pollers;
	int i;

	if (!are_there(b->w) ||
	    (b->w->leave_us > 0 && world_now(b->w) >= b->w->leave_us))
		return;
	b->pollers = POLLERS_FIRST + POLLERS_MAX * all->sessions++;
	for (i = 0; i < all->n; i++) {
		event.u.open.session = b->pollers + (uint64_t)i;
		event.u.open.peer = "poller";
		broker_step(b, &event);
	}
}

/*
 * It has asked to end its hold, or to have it until another time, and nobody has
 * answered: that may run after what it asks for next, as it may in a server to
 * which it spoke itself, for a token is all by which Redis knows it.
 */
static void
go_astray(struct poller *p)
{
	int64_t now_us = world_now(p->w);
	int64_t ms = p->op == TOKEN_RELEASE && !thread_keeps(p) ? 0 : p->px_ms;

	if (p->op == TOKEN_ACQUIRE && !p->either)
		return;
	if (p->stray_us > now_us && p->stray_name == p->name &&
	    p->stray_token == p->token && p->stray_ms < ms)
		ms = p->stray_ms;
	p->stray_name = p->name;
	p->stray_token = p->token;
	p->stray_ms = ms;
	p->stray_us = now_us + NAMED_LEASES * p->w->lease_ms * 1000;
}

/* What it has asked for may be done yet, or was and nobody says so. */
static void
unanswered(struct poller *p)
{
	struct world *w = p->w;

	if (p->ref != 0 && !p->awaits)
		go_astray(p);
	if (p->ref != 0 && p->thread)
		thread_unanswered(p);
	p->ref = 0;
	p->due = p->here = p->had = p->awaits = p->asleep = false;
	p->unsure = true;
	poller_hush(w, p->name,
	    world_now(w) + (p->px_ms + NAMED_LEASES * w->lease_ms) * 1000);
	plan(p, 1000, 1000000);
}

void
pollers_end(struct broker *b)
{
	struct pollers *all = &b->w->pollers;
	struct poller *p;

	b->pollers = 0;
	for (p = all->v; p < all->v + all->n; p++) {
		memset(&p->places[b->index], 0, sizeof(p->places[b->index]));
		if (p->broker == b->index &&
		    (p->due || p->ref != 0 || p->asleep))
			unanswered(p);
	}
	pollers_forsaken(b);
}

static void
poller_on_tick(void *object, uint64_t tag)
{
	struct poller *p = object;
	struct world *w = p->w;
	struct prng *r = &w->pollers.prng;
	struct broker *b;

	if (tag != p->tick || p->ref != 0 || p->due)
		return;
	if (world_now(w) >= w->leave_us)
		return;
	if (w->warmth.left > 0) {
		plan(p, 5000, 20000);
		return;
	}
	/* Others may have the same token by the time that it is heard. */
	if (p->common && p->until_us > world_now(w)) {
		plan(p, p->until_us - world_now(w), w->lease_ms * 2000);
		return;
	}
	p->asleep = false;
	if ((!p->sticks && !p->listens && !p->thread) || p->token == 0)
		p->broker = (int)prng_below(r, (uint64_t)w->nbrokers);
	if (orphan_is_left(p)) {
		plan(p, p->until_us - world_now(w), w->lease_ms * 2000);
		return;
	}
	b = leaving_find(w, p->broker,
	    (p->sticks || p->listens || p->thread) && p->token != 0);
	if (b == NULL) {
		plan(p, 1000, 100000);
		return;
	}
	p->broker = b->index;
	if (!b->alive || b->stopping || b->pollers == 0) {
		p->broker = (int)prng_below(r, (uint64_t)w->nbrokers);
		p->awaits = false;
		plan(p, 1000, 500000);
		return;
	}
	p->due = true;
	broker_input(b, input_new(INPUT_POLLERS, 0));
}

bool
pollers_claim(struct world *w, int name, int broker)
{
	struct pollers *all = &w->pollers;
	struct broker *b = &w->brokers[broker];
	struct poller *p;

	if (!b->alive || b->stopping || b->pollers == 0)
		return false;
	for (p = all->v; p < all->v + all->n; p++) {
		if (p->common || p->thread || p->listens || p->either ||
		    p->ref != 0 || p->due || p->token != 0 ||
		    orphan_px_ms(p) > 0)
			continue;
		p->name = name;
		p->token = ++p->next_token;
		p->broker = broker;
		p->woken = p->due = true;
		w->warmth.claims = p;
		broker_input(b, input_new(INPUT_POLLERS, 0));
		return true;
	}
	return false;
}

/* What it wants of its broker now. */
static void
choose(struct poller *p)
{
	struct world *w = p->w;
	struct prng *r = &w->pollers.prng;
	bool has = p->until_us > world_now(w);

	p->px_ms = prng_skewed(r, 20, w->lease_ms * (w->pollers.rush ? 1 : 3));
	/* Some outlast a grace period. */
	if (!w->pollers.rush && prng_chance(r, 150))
		p->px_ms = prng_range(r, 2 * w->lease_ms, 8 * w->lease_ms);
	/* Some notice too late that their time is over. */
	if (has || (p->had && !p->common && prng_chance(r, 150))) {
		p->op = prng_chance(r, 500) ? TOKEN_EXTEND : TOKEN_RELEASE;
		p->had = has;
		if (p->thread)
			thread_chooses(p);
		return;
	}
	/* Redis counts from when the broker has asked, which it may have waited
	 * to do. */
	if (p->until_us > 0)
		pollers_busy(w, p->name, p->ends_us);
	p->until_us = 0;
	p->had = p->renews = false;
	p->op = TOKEN_ACQUIRE;
	/* Most go on with the token and the name that were refused. */
	if (orphan_px_ms(p) > 0)
		p->px_ms = orphan_px_ms(p);
	if (p->token != 0 &&
	    (p->woken || (orphan_px_ms(p) == 0 &&
			     prng_chance(r, p->sticks ? 980 : 800))))
		return;
	p->told_us = 0;
	p->name = w->pollers.rush ? 0 : (int)prng_below(r, (uint64_t)w->nnames);
	p->token = p->common ? 1 : ++p->next_token;
	p->fence = 0;
	thread_begins(p);
}

static void
send(struct broker *b, struct poller *p, enum token_op op, int64_t park_ms)
{
	struct world *w = b->w;
	struct core_event event = { .kind = CORE_TOKEN };
	struct token_request rq;
	struct core_name name;
	char text[8], token[32], program[8];

	memset(&rq, 0, sizeof(rq));
	name.n = (size_t)snprintf(text, sizeof(text), "n%d", p->name);
	name.p = text;
	rq.either = p->either && op != TOKEN_RELEASE && !p->renews;
	rq.op = rq.either ? TOKEN_ACQUIRE : op;
	rq.ref = ++w->pollers.refs;
	rq.names = &name;
	rq.nnames = 1;
	rq.token = token;
	rq.token_len = poller_token(p, token, sizeof(token));
	rq.ttl_ms = op == TOKEN_RELEASE ? 0 : p->px_ms;
	rq.park_ms = park_ms;
	if (p->thread)
		thread_asks(p, &rq, program);
	event.u.token.session = b->pollers + (uint64_t)p->index;
	event.u.token.request = &rq;
	broker_step(b, &event);
}

/* It may become less. */
static void
shorten(struct poller *p)
{
	struct world *w = p->w;

	if (!poller_has(p) || p->until_us <= p->sent_us + p->px_ms * 990)
		return;
	poller_hush(w, p->name, p->until_us);
	p->until_us = p->sent_us + p->px_ms * 990;
	checker_plain(w, p->name, p->until_us);
}

/*
 * It asks to be told when the name is free.  Nobody knows with which token it
 * comes then: what is kept for its user goes to the first of the user's clients
 * that asks, so it isn't counted how many of them pass it.
 */
static void
await(struct broker *b, struct poller *p)
{
	struct core_event event = { .kind = CORE_TOKEN };
	struct token_request rq = { .op = TOKEN_ACQUIRE,
		.nnames = 1,
		.awaits = true,
		.park_ms = AWAIT_MS };
	struct core_name name;
	char text[8];

	name.n = (size_t)snprintf(text, sizeof(text), "n%d", p->name);
	name.p = text;
	rq.names = &name;
	p->awaits = true;
	p->here = p->known = false;
	p->places[b->index].passed = 0;
	p->ref = rq.ref = ++b->w->pollers.refs;
	TRACE(b->w, "poller %d awaits n%d at %s", p->index, p->name, b->name);
	event.u.token.session = b->pollers + (uint64_t)p->index;
	event.u.token.request = &rq;
	broker_step(b, &event);
}

static void
ask(struct broker *b, struct poller *p)
{
	struct world *w = b->w;

	if (p->awaits) {
		await(b, p);
		return;
	}
	choose(p);
	p->woken = false;
	/* Ablated: the broker does not know a token that comes back. */
	if (world_ablated(w, ABLATE_PLACE) && p->index == 0 &&
	    p->op == TOKEN_ACQUIRE)
		p->tries++;
	p->ref = w->pollers.refs + 1;
	p->sent_us = world_now(w);
	p->held_us = poller_has(p) ? p->until_us : 0;
	if (p->op == TOKEN_RELEASE && !thread_keeps(p))
		poller_give_up(p);
	else if (p->op != TOKEN_ACQUIRE)
		shorten(p);
	/* While it is asked for, it may be had before that is told. */
	poller_hush(w, p->name, world_now(w) + p->px_ms * 1010);
	TRACE(w, "poller %d asks %s, op %d%s, n%d, token %u, px %lld", p->index,
	    b->name, (int)p->op, p->either ? " (either)" : "", p->name,
	    p->token, (long long)p->px_ms);
	poller_asks(p);
	w->checker.ops = 0;
	send(b, p, p->op, w->pollers.park_ms);
}

/* Ablated: a broker that stops ends the holds that it looks after. */
static void
end_all(struct broker *b)
{
	struct pollers *all = &b->w->pollers;
	struct poller *p;

	for (p = all->v; p < all->v + all->n; p++)
		if (p->ward == b->index && poller_has(p))
			send(b, p, TOKEN_RELEASE, 0);
}

void
pollers_stop(struct broker *b)
{
	if (world_ablated(b->w, ABLATE_STOP) && b->pollers != 0)
		end_all(b);
	pollers_forsaken(b);
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

	uint64_t first = b->pollers;
	int i;

	pollers_end(b);
	for (i = 0; i < b->w->pollers.n; i++) {
		event.u.gone.session = first + (uint64_t)i;
		event.u.gone.orderly = event.u.gone.quit = true;
		broker_step(b, &event);
	}
}

/* More has come over its connection while it waits for an answer. */
static void
press(struct broker *b, const struct poller *p)
{
	struct core_event event = { .kind = CORE_PRESS };

	if (p->ref == 0 || p->awaits ||
	    !prng_chance(&b->w->pollers.presses, b->w->pollers.press))
		return;
	TRACE(b->w, "poller %d has more to ask", p->index);
	event.u.gone.session = b->pollers + (uint64_t)p->index;
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
		if (all->v[i].broker != b->index)
			continue;
		if (b->pollers != 0 && !b->stopping)
			press(b, &all->v[i]);
		if (!all->v[i].due)
			continue;
		all->v[i].due = false;
		if (b->pollers != 0 && !b->stopping)
			ask(b, &all->v[i]);
		else
			plan(&all->v[i], 1000, 500000);
	}
}

/* It has the name, or has it for longer.  What it extends may be an older hold
 * of its token, to which data went back. */
static void
done(struct broker *b, struct poller *p, const struct token_result *r)
{
	struct pollers *all = &b->w->pollers;

	if (p->either ? poller_had(p, r->fence)
		      : p->op == TOKEN_EXTEND && r->fence == p->fence) {
		all->extended++;
		poller_extended(b, p, r->fence);
		return;
	}
	if (p->op == TOKEN_EXTEND && poller_has(p) &&
	    !faults_excuse_fence(b->w))
		world_fail(b->w, "P2",
		    "n%d: poller %d has extended fence %llu to %llu", p->name,
		    p->index, (unsigned long long)p->fence,
		    (unsigned long long)r->fence);
	all->grants++;
	poller_granted(b, p, r->fence);
}

static void
answered(struct broker *b, struct poller *p, const struct token_result *r)
{
	struct pollers *all = &b->w->pollers;

	if (p->thread && r->answer == TOKEN_DONE)
		thread_counts(p, r);
	else if (p->thread && world_now(b->w) >= p->sent_us + p->px_ms * 1000)
		thread_unanswered(p); /* it was done, and over by then */
	if (r->answer == TOKEN_DONE && p->op == TOKEN_RELEASE &&
	    r->depth == 0) {
		all->released++;
		p->token = 0;
	} else if (r->answer == TOKEN_DONE &&
		   world_now(b->w) >= p->sent_us + p->px_ms * 1000) {
		poller_late(b, p);
		p->token = 0;
		p->until_us = 0;
	} else if (r->answer == TOKEN_DONE && p->op == TOKEN_RELEASE) {
		poller_extended(b, p, r->fence);
	} else if (r->answer == TOKEN_DONE) {
		done(b, p, r);
	} else if (p->op == TOKEN_EXTEND || thread_keeps(p)) {
		/* Nobody else may have ended it.  A former master may not know
		 * of it, which stops its client and nobody else. */
		if (poller_has(p) && !faults_deposed(b->w) &&
		    (!p->thread || r->answer != TOKEN_BUSY))
			world_fail(b->w, "P1",
			    "n%d: %s says that poller %d has not got it"
			    " (answer %d)",
			    p->name, b->name, p->index, (int)r->answer);
		p->until_us = 0;
	} else {
		all->refused++;
	}
	warmth_told(p, r->answer);
	if (r->answer == TOKEN_BUSY)
		poller_refused(b, p);
}

/* It tries again at once, or goes on as others do. */
static void
told_free(struct broker *b, struct poller *p, const struct token_result *r)
{
	if (r->answer == TOKEN_DONE) {
		poller_kept(b, p);
		plan(p, 1, 20000);
	} else {
		plan(p, 1000, 400000);
	}
}

void
pollers_tell(struct broker *b, const struct effects *fx, const struct effect *e)
{
	struct pollers *all = &b->w->pollers;
	struct poller *p;
	int64_t sleep_us;
	int i;

	if (b->pollers == 0 || threads_told(b, fx, e) || e->conn < b->pollers ||
	    e->conn >= b->pollers + POLLERS_MAX || e->kind == EFFECT_EVENT)
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
	if (b->w->quorum)
		world_fail(
		    b->w, "P7", "%s answers a token over a quorum", b->name);
	p->ref = 0;
	if (p->awaits) {
		p->awaits = false;
		told_free(b, p, &fx->tokens[e->token]);
		return;
	}
	answered(b, p, &fx->tokens[e->token]);
	p->here = false;
	p->awaits = p->listens && p->op == TOKEN_ACQUIRE &&
		    fx->tokens[e->token].answer == TOKEN_BUSY;
	sleep_us = thread_sleeps_us(p, &fx->tokens[e->token]);
	if (sleep_us > 0)
		plan(p, sleep_us, sleep_us + 1000);
	else if (p->awaits)
		plan(p, 1, 1000);
	else if (p->sticks && p->until_us == 0)
		plan(p, 1000, 60000);
	else
		plan(p, 1000, 400000);
}
