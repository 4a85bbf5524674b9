/*
 * Threads of programs with Redisson (--redisson).  A thread is a poller
 * (pollers.c) whose hold is counted: it takes what it has once more, gives back
 * one level, and renews.  Two threads are one program, which listens: who is
 * refused sleeps until its program is told that it has its turn, or until a time
 * that heals what is lost.
 *
 * The depth that an answer shows must be the one that the thread knows of, more
 * or less by its requests that nobody has answered: they may have been done, or
 * may be yet.  Who listens where, and the latches of unlocks that are sent
 * again, are the daemon's (daemon/resp/resp_audience.c, resp_redisson.c) and not
 * here.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "checker_state.h"
#include "world.h"

#define DEPTH_MAX 3
#define SURE_MS 10000	/* a thread sleeps so long ... */
#define UNSURE_MS 500	/* ... or so */
#define SLACK_US 100000 /* as in checker_group.c */

/* Audiences: all programs, with the name. */
#define AUDIENCE (UINT64_C(1) << 8)

bool
threads_are_there(const struct world *w)
{
	return w->o->redisson || (w->o->ablation != NULL &&
				     w->o->ablation->off >= ABLATE_THREADS);
}

void
threads_make(struct world *w)
{
	struct prng prng;
	struct poller *p;

	if (!threads_are_there(w))
		return;
	prng_seed(&prng, w->o->seed ^ 0x6a766d);
	for (p = w->pollers.v; p < w->pollers.v + w->pollers.n; p++) {
		p->thread = p->index < 2 || prng_chance(&prng, 700);
		if (!p->thread)
			continue;
		p->either = true;
		p->common = p->listens = false;
		p->sure = prng_chance(&prng, 800);
	}
}

/* Returns the length. */
static size_t
program_of(const struct poller *p, char *text, size_t size)
{
	return (size_t)snprintf(text, size, "j%d", p->index / 2);
}

/* What it does about a hold that it has. */
void
thread_chooses(struct poller *p)
{
	struct prng *r = &p->w->pollers.prng;

	p->renews = false;
	if (p->op != TOKEN_EXTEND)
		return;
	p->renews = p->depth >= DEPTH_MAX || prng_chance(r, 400);
}

/* Is it sure to have the name though it gives back a level? */
bool
thread_keeps(const struct poller *p)
{
	return p->thread && p->depth > p->less + 1;
}

void
thread_asks(const struct poller *p, struct token_request *rq, char program[8])
{
	rq->match = TOKEN_COUNTED;
	if (rq->op == TOKEN_RELEASE)
		rq->ttl_ms = p->px_ms;
	if (rq->op != TOKEN_ACQUIRE)
		return;
	rq->program = program_of(p, program, 8);
	rq->audience = AUDIENCE | (uint64_t)p->name;
	rq->park_ms = p->sure ? SURE_MS : UNSURE_MS;
}

/* It has another token, or its hold may be over. */
void
thread_begins(struct poller *p)
{
	p->depth = p->deepest = p->more = p->less = 0;
	p->passed = 0;
}

void
thread_unanswered(struct poller *p)
{
	if (p->op == TOKEN_RELEASE)
		p->less++;
	else if (!p->renews)
		p->more++;
}

/*
 * If it is not sure that it had its hold when it was carried out, that may be a
 * new one, or one that has been there all the time.
 */
void
thread_counts(struct poller *p, const struct token_result *r)
{
	const struct world *w = p->w;
	int step = p->op == TOKEN_RELEASE ? -1 : p->renews ? 0 : 1;
	int least = p->depth - p->less + step;
	int most = p->depth + p->more + step;
	int depth = (int)r->depth;

	if (p->held_us <= world_now(w) ||
	    w->checker.grounds[p->name].force_us > p->sent_us)
		least = p->op == TOKEN_RELEASE ? 0 : 1;
	/* Data went back, or a broker that was away when it was forced has
	 * written it again: perhaps to when it was deeper. */
	if ((w->pollers.forgot_us > p->since_us ||
		(w->faults.on != 0 &&
		    w->checker.grounds[p->name].force_us > p->since_us)) &&
	    r->fence == p->fence && most < p->deepest + step)
		most = p->deepest + step;
	/* Or to an older hold of the token. */
	if (w->pollers.forgot_us > p->since_us && r->fence < p->fence)
		most = DEPTH_MAX + 1;

	TRACE(p->w, "poller %d has depth %d, of %d to %d", p->index, depth,
	    least, most);
	if ((depth < least || depth > (most > 1 ? most : 1)) &&
	    !faults_excuse_fence(p->w) && !faults_deposed(p->w))
		world_fail(p->w, "depth",
		    "n%d: poller %d has depth %d, and not %d to %d", p->name,
		    p->index, depth, least, most);
	if (r->fence != p->fence || depth > p->deepest)
		p->deepest = depth;
	p->depth = depth;
	p->passed = 0;
}

/* Returns for how long it sleeps, in microseconds; 0: it polls. */
int64_t
thread_sleeps_us(struct poller *p, const struct token_result *r)
{
	int64_t ms = p->sure ? SURE_MS : UNSURE_MS;

	p->asleep = r->answer == TOKEN_BUSY && r->listed;
	if (!p->asleep)
		return 0;
	p->slept_us = world_now(p->w);
	if (r->left_ms > 0 && r->left_ms < ms)
		ms = r->left_ms;
	return ms * 1000;
}

/* Returns a thread of the program that sleeps there; NULL: none does. */
static struct poller *
find_sleeper(const struct broker *b, int name, int program)
{
	struct pollers *all = &b->w->pollers;
	struct poller *p, *found = NULL;

	for (p = all->v; p < all->v + all->n; p++)
		if (p->thread && p->asleep && p->broker == b->index &&
		    p->name == name && p->index / 2 == program &&
		    (found == NULL || prng_chance(&all->prng, 500)))
			found = p;
	return found;
}

/* It is kept for another thread of the program, or no more. */
static void
not_for(const struct broker *b, int name)
{
	struct pollers *all = &b->w->pollers;
	struct poller *p;

	for (p = all->v; p < all->v + all->n; p++)
		if (p->thread && p->told_by == b->index && p->name == name)
			p->told_us = 0;
}

/* One of the programs has its turn, or has not come: a thread of each looks. */
bool
threads_told(struct broker *b, const struct effects *fx, const struct effect *e)
{
	int name = (int)(e->ref & (AUDIENCE - 1)), i;
	const struct token_result *r;
	const char *text;
	char program[8];
	struct poller *p;

	if (e->kind != EFFECT_TOKEN || e->session != 0)
		return false;
	r = &fx->tokens[e->token];
	text = buf_data(&fx->text) + r->token;
	TRACE(b->w, "those who listen are told of n%d, answer %d", name,
	    (int)r->answer);
	pollers_hush_kept(b->w, name);
	if (r->answer != TOKEN_DONE)
		not_for(b, name);
	for (i = 0; i < POLLERS_MAX / 2; i++) {
		p = find_sleeper(b, name, i);
		if (p == NULL || world_ablated(b->w, ABLATE_TOLD))
			continue;
		if (r->answer == TOKEN_DONE &&
		    r->token_len == 2 + program_of(p, program, 8) &&
		    memcmp(text + 2, program, r->token_len - 2) == 0)
			poller_kept(b, p);
		p->asleep = false;
		p->woken = true;
		pollers_wake(p);
	}
	return true;
}

/* Has it the name, by what it knows, or does it ask for it, or is it about to? */
static bool
keeps_busy(const struct poller *p)
{
	const struct world *w = p->w;

	if (p->due || p->woken || (p->ref != 0 && !p->awaits))
		return true;
	return p->until_us > 0 && p->ends_us + SLACK_US > world_now(w);
}

static void
note_busy(struct world *w)
{
	struct pollers *all = &w->pollers;
	const struct poller *p;

	for (p = all->v; p < all->v + all->n; p++)
		if (keeps_busy(p))
			pollers_busy(w, p->name, world_now(w));
}

/*
 * A name that is free: whose turn it is was told, or is told now.  What is asked
 * for together with others may have to wait for those; and a name that is forced
 * may be kept for somebody of whom the checker knows no more.
 */
void
threads_look(struct world *w)
{
	int64_t bound_us = faults_names_patience_us(w) + SLACK_US, since_us;
	const struct pollers *all = &w->pollers;
	const struct poller *p;

	if (!threads_are_there(w) || w->groups || (w->uses.on & USE_FORCE) != 0)
		return;
	/* A key that a successor has looked after lives for a pad more. */
	if (w->leaves)
		bound_us += w->pad_ms * 1010;
	note_busy(w);
	for (p = all->v; p < all->v + all->n; p++) {
		if (!p->asleep || broker_stalled(&w->brokers[p->broker]))
			continue;
		since_us = faults_names_calm_us(w);
		if (since_us < p->slept_us)
			since_us = p->slept_us;
		if (since_us < all->busy_us[p->name])
			since_us = all->busy_us[p->name];
		if (since_us < w->checker.grounds[p->name].changed_us)
			since_us = w->checker.grounds[p->name].changed_us;
		if (world_now(w) - since_us > bound_us &&
		    !checker_had_since(w, p->name, since_us))
			world_fail(w, "tokens",
			    "n%d is free for %lld ms, and thread %d sleeps",
			    p->name,
			    (long long)(world_now(w) - since_us) / 1000,
			    p->index);
	}
}
