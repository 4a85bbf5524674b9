/*
 * The Sentinels and those who ask them.
 *
 * What is modelled is what brokers can tell: a failover takes place a while
 * after the master was last heard of, on the side of the network where most
 * Sentinels are; the replica that has most is taken; other Sentinels hear of
 * it later, replicas are told one by one, and a master that comes back is left
 * alone for a while before it is made a replica.  Each role that they change
 * disconnects all clients.
 */
#include "config.h"

#include <string.h>

#include "world.h"

#define WATCH_US 100000
#define POLL_MS 1000 /* as redis/sentinels.c */
#define HURRY_MS 200

static event_fn on_watch;
static event_fn on_poll;
static event_fn on_answers;

int
sentinels_side(const struct world *w)
{
	int i, n = 0;

	for (i = 0; i < SENTINELS; i++)
		n += w->sentinels.v[i].side;
	return n > SENTINELS / 2;
}

static bool
is_there(const struct world *w, const struct server *s)
{
	return s->up && !s->frozen && s->side == sentinels_side(w);
}

/* The replica that has most; where several have, any of them. */
static struct server *
best_replica(struct world *w)
{
	struct server *s, *best = NULL;
	uint64_t ties = 0;

	for (s = w->servers; s < w->servers + w->nservers; s++) {
		if (s == w->sentinels.master || !is_there(w, s) ||
		    s->repl.master == NULL || s->humble)
			continue;
		if (best != NULL && s->repl.offset < best->repl.offset)
			continue;
		if (best == NULL || s->repl.offset > best->repl.offset)
			ties = 0;
		if (prng_below(&w->prng, ++ties) == 0)
			best = s;
	}
	return best;
}

/*
 * A spare server takes the place of the old master, which never comes back, so
 * that there are no more of them than redis.replicas says.  It joins the new
 * master while the old one may still go on: never the old one, which would have
 * enough replicas then.
 */
static void
call_spare(struct world *w, struct server *old)
{
	struct server *s;

	if (old->retiring || !prng_chance(&w->prng, 500))
		return;
	for (s = w->servers; s < w->servers + w->nservers; s++) {
		if (!s->spare || !s->up)
			continue;
		s->spare = false;
		old->retiring = true;
		replica_follow(s, w->sentinels.master);
		return;
	}
}

bool
sentinels_failover(struct world *w)
{
	struct sentinels *all = &w->sentinels;
	struct server *old = all->master, *s = best_replica(w);
	int leader = (int)prng_below(&w->prng, SENTINELS);

	if (s == NULL)
		return false;
	/* It goes on, for those who do not hear of it; and where nobody asks
	 * Sentinels, for those who were there before it froze. */
	old->rogue =
	    (old->up && !old->frozen) || w->o->topology->locate != NULL;
	replica_promote(s);
	s->rogue = false;
	all->master = s;
	all->failovers++;
	call_spare(w, old);
	checker_amnesia(w);
	all->down_us = -1;
	if (all->v[leader].side == sentinels_side(w))
		all->v[leader].says = s;
	return true;
}

static void
watch_master(struct world *w)
{
	struct sentinels *all = &w->sentinels;

	if (is_there(w, all->master) && all->master->db.master)
		all->down_us = -1;
	else if (all->down_us < 0)
		all->down_us = world_now(w);
	else if (world_now(w) - all->down_us > all->down_after_us &&
		 prng_chance(&w->prng, 300))
		sentinels_failover(w);
}

/* One that says that it is a master is left alone for a while. */
static void
watch_server(struct world *w, struct server *s)
{
	struct sentinels *all = &w->sentinels;

	if (s->spare || !is_there(w, s) || s->repl.master == all->master) {
		s->master_us = -1;
		return;
	}
	if (s->repl.master != NULL) {
		if (prng_chance(&w->prng, 200))
			replica_follow(s, all->master);
		return;
	}
	if (s->master_us < 0)
		s->master_us = world_now(w);
	if (world_now(w) - s->master_us < all->demote_us)
		return;
	s->master_us = -1;
	s->rogue = false;
	if (s->retiring)
		replica_retire(s);
	else
		replica_follow(s, all->master);
	checker_amnesia(w);
}

/*
 * Two masters at once, and not because one was dead or frozen: then brokers
 * may be on both.
 */
static void
watch_split(struct world *w)
{
	const struct server *s;

	for (s = w->servers; s < w->servers + w->nservers; s++)
		if (s != w->sentinels.master && s->db.master && s->up &&
		    !s->frozen && (s->rogue || s->side != sentinels_side(w)))
			w->split_us = world_now(w) + WATCH_US;
}

static void
on_watch(void *object, uint64_t tag)
{
	struct world *w = object;
	struct sentinel *one;
	struct server *s;

	(void)tag;
	watch_master(w);
	for (s = w->servers; s < w->servers + w->nservers; s++) {
		if (s != w->sentinels.master)
			watch_server(w, s);
		if (world_now(w) / 1000000 !=
		    (world_now(w) - WATCH_US) / 1000000)
			replica_cron(s);
	}
	for (one = w->sentinels.v; one < w->sentinels.v + SENTINELS; one++)
		if (one->side == sentinels_side(w) &&
		    prng_chance(&w->prng, 300))
			one->says = w->sentinels.master;
	watch_split(w);
	events_at(&w->events, world_now(w) + WATCH_US, on_watch, w, 0);
}

void
sentinels_init(struct world *w)
{
	struct sentinels *all = &w->sentinels;
	struct prng *p = &w->prng;
	int i;

	/* More than a stall, or a master that was frozen goes on. */
	all->down_after_us =
	    (w->pad_ms + prng_range(p, 100, 1500)) * 1000 + WATCH_US;
	all->demote_us = prng_range(p, 500, 8000) * 1000;
	all->master = &w->servers[0];
	all->down_us = -1;
	for (i = 0; i < SENTINELS; i++)
		all->v[i].says = all->master;
	for (i = 1; i < w->members; i++)
		replica_attach(&w->servers[i], all->master);
	for (; i < w->nservers; i++)
		replica_retire(&w->servers[i]);
	/* It counts for WAIT all the same. */
	if (w->members > 2 && prng_chance(p, 300))
		w->servers[w->members - 1].humble = true;
}

void
sentinels_start(struct world *w)
{
	events_at(&w->events, world_now(w) + prng_range(&w->prng, 1, WATCH_US),
	    on_watch, w, 0);
}

/* Following. */

static void
poll_in(struct broker *b, int64_t ms)
{
	events_at(&b->w->events, world_now(b->w) + ms * 1000, on_poll, b,
	    ++b->follower.polls);
}

static void
hurry(struct broker *b, bool on)
{
	if (on && !b->follower.hurry)
		poll_in(b, 0);
	b->follower.hurry = on;
}

static unsigned
votes_for(const struct follower *f, const struct server *s)
{
	unsigned votes = 0;
	int i;

	for (i = 0; i < SENTINELS; i++)
		votes += s != NULL && f->said[i] == s;
	return votes;
}

/* As sentinels_answer() and on_decide() of src/redis. */
static void
decide(struct broker *b)
{
	struct follower *f = &b->follower;
	struct pool *p = &b->pools[0];
	struct server *best = NULL;
	unsigned votes = 0, answers = 0;
	int i;

	for (i = 0; i < SENTINELS; i++) {
		answers += f->said[i] != NULL;
		if (votes_for(f, f->said[i]) > votes) {
			best = f->said[i];
			votes = votes_for(f, best);
		}
	}
	if (best == NULL || best == p->server || votes <= answers / 2)
		return;
	if (votes <= SENTINELS / 2 && pool_is_up(p) && !f->refused)
		return;
	TRACE(
	    b->w, "%s follows %u Sentinels to %s", b->name, votes, best->name);
	f->refused = false;
	pool_move(p, best);
	hurry(b, true);
	broker_wake(b);
}

static void
on_answers(void *object, uint64_t tag)
{
	struct broker *b = object;
	struct follower *f = &b->follower;
	const struct sentinel *one = b->w->sentinels.v;
	int i;

	if (!b->alive || tag != b->life)
		return;
	if (broker_stalled(b)) {
		events_at(
		    &b->w->events, world_now(b->w) + 10000, on_answers, b, tag);
		return;
	}
	for (i = 0; i < SENTINELS; i++) {
		if (one[i].side == b->side) {
			f->said[i] = one[i].says;
			f->heard_us[i] = world_now(b->w);
		} else if (world_now(b->w) - f->heard_us[i] >
			   b->w->reply_timeout_ms * 1000) {
			f->said[i] = NULL;
		}
	}
	decide(b);
}

static void
on_poll(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (!b->alive || tag != b->follower.polls)
		return;
	events_at(&b->w->events, world_now(b->w) + 2 * world_delay_us(b->w),
	    on_answers, b, b->life);
	poll_in(b, b->follower.hurry ? HURRY_MS : POLL_MS);
}

void
follower_begin(struct broker *b)
{
	uint64_t polls = b->follower.polls;

	memset(&b->follower, 0, sizeof(b->follower));
	b->follower.polls = polls;
	b->follower.hurry = true;
	poll_in(b, 0);
}

void
follower_link(struct pool *p, bool up)
{
	if (up)
		p->broker->follower.refused = false;
	hurry(p->broker, !up);
}

void
follower_refused(struct pool *p, bool refused)
{
	p->broker->follower.refused = refused;
	hurry(p->broker, refused || !pool_is_up(p));
	if (refused)
		events_at(&p->broker->w->events, world_now(p->broker->w),
		    on_answers, p->broker, p->broker->life);
}
