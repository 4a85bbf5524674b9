/*
 * Masters of a cluster that have replicas, and how one of these takes the
 * place of its master.
 *
 * What is modelled is what brokers can tell, as with the Sentinels.  Most of
 * the masters miss one for cluster-node-timeout: then a replica that they
 * reach becomes the master, and has the buckets of the old one.  All others
 * hear of that later, and only from the new one itself; so does the old one,
 * which becomes a replica then and goes on until then.  A master that hears of
 * too few others for as long refuses calls, and so does one for a while that
 * was started, or hears of them again.  No client is disconnected.
 */
#include "config.h"

#include "world.h"

#define WATCH_US 100000
#define WRITABLE_US 2000000 /* CLUSTER_WRITABLE_DELAY */
#define REJOIN_US_MIN 500000
#define REJOIN_US_MAX 5000000
#define HEARS 150 /* of 1000 looks, how many servers hear what is new in */

static event_fn on_watch;

static struct cluster_node *
node_of(struct server *s)
{
	return &s->w->cluster.nodes[s->index];
}

static struct server *
master_of(struct world *w, int group)
{
	return &w->servers[w->cluster.groups[group].master];
}

static bool
is_there(const struct server *s, int side)
{
	return s->up && !s->frozen && s->side == side;
}

/* Are more than half of the masters on this side?  `self`, which takes itself
 * for one, counts as the master of its group; it may be NULL. */
static bool
has_most(struct world *w, int side, struct server *self)
{
	int g, n = 0;

	for (g = 0; g < w->cluster.ngroups; g++)
		n += is_there(master_of(w, g), side) ||
		     (self != NULL && self->db.master &&
			 node_of(self)->group == g);
	return n > w->cluster.ngroups / 2;
}

/* A replica of the master that could be elected; mostly the one that has most,
 * for it asks first. */
static struct server *
candidate(struct world *w, const struct server *master)
{
	struct server *s, *best = NULL;
	bool any = prng_chance(&w->prng, 150);
	uint64_t ties = 0;

	for (s = w->servers; s < w->servers + w->nservers; s++) {
		if (s->repl.master != master || !s->up || s->frozen ||
		    !has_most(w, s->side, NULL))
			continue;
		if (!any && best != NULL && s->repl.offset < best->repl.offset)
			continue;
		if (!any && best != NULL && s->repl.offset > best->repl.offset)
			ties = 0;
		if (prng_below(&w->prng, ++ties) == 0)
			best = s;
	}
	return best;
}

/*
 * It has all buckets of the old master.  One that was on its way from there
 * stays, without the keys that have gone; one that was on its way to there
 * comes here.
 */
static void
take_buckets(struct server *s, const struct server *old)
{
	struct cluster *c = &s->w->cluster;
	uint32_t i;

	for (i = 0; i < s->w->shards; i++) {
		if (c->target[i] == old->index) {
			c->target[i] = s->index;
			c->nodes[c->owner[i]].going[i] = s->index;
		}
		if (c->owner[i] != old->index)
			continue;
		c->owner[i] = node_of(s)->heard[i] = s->index;
		c->target[i] = node_of(s)->going[i] = -1;
	}
}

static bool
take_over(struct world *w, int group)
{
	struct cluster *c = &w->cluster;
	struct server *old = master_of(w, group), *s = candidate(w, old);

	if (s == NULL)
		return false;
	old->rogue = old->up && !old->frozen;
	s->rogue = false;
	replica_promote(s);
	take_buckets(s, old);
	node_of(s)->epoch = ++c->epoch;
	c->groups[group] = (struct cluster_group){ s->index, -1 };
	c->failovers++;
	checker_amnesia(w);
	return true;
}

struct server *
takeover_force(struct world *w)
{
	struct server *master;

	if (!w->replicates)
		return NULL;
	master = cluster_some_master(w);
	return take_over(w, node_of(master)->group) ? master : NULL;
}

/* Most of the masters, if they hear of each other, look for this one. */
static void
watch_group(struct world *w, int group)
{
	struct cluster_group *g = &w->cluster.groups[group];
	int side = has_most(w, 1, NULL);

	if (!has_most(w, side, NULL))
		return;
	if (is_there(master_of(w, group), side))
		g->down_us = -1;
	else if (g->down_us < 0)
		g->down_us = world_now(w);
	else if (world_now(w) - g->down_us > w->cluster.timeout_us &&
		 prng_chance(&w->prng, 300))
		(void)take_over(w, group);
}

static int64_t
rejoin_us(const struct world *w)
{
	int64_t us = w->cluster.timeout_us;

	if (us < REJOIN_US_MIN)
		return REJOIN_US_MIN;
	return us > REJOIN_US_MAX ? REJOIN_US_MAX : us;
}

/* Does it serve?  One that wakes up does until it looks again. */
static void
watch_state(struct server *s)
{
	struct cluster_node *n = node_of(s);
	int64_t now_us = world_now(s->w);

	if (!has_most(s->w, s->side, s)) {
		n->back_us = 0;
		n->down |= now_us - n->heard_us > s->w->cluster.timeout_us;
		return;
	}
	n->heard_us = now_us;
	if (n->down && n->back_us == 0)
		n->back_us = now_us + rejoin_us(s->w);
	if (n->down && now_us >= n->back_us)
		n->down = false;
}

/* Each master tells which buckets it has, and each replica whose it is. */
static void
hear(struct server *s)
{
	struct world *w = s->w;
	struct cluster *c = &w->cluster;
	struct cluster_node *n = node_of(s);
	struct server *master = cluster_master_of(s), *owner;
	bool was_master = s->db.master;
	uint32_t i;

	for (i = 0; i < w->shards; i++) {
		owner = &w->servers[c->owner[i]];
		if (!is_there(owner, s->side))
			continue;
		n->heard[i] = owner->index;
		n->going[i] = owner == s ? c->target[i] : -1;
		if (n->epoch < node_of(owner)->epoch)
			n->epoch = node_of(owner)->epoch;
	}
	if (s == master || !is_there(master, s->side) ||
	    s->repl.master == master)
		return;
	s->rogue = false;
	replica_follow(s, master);
	if (was_master)
		checker_amnesia(w);
}

/*
 * Two masters at once, and not because one was dead or frozen: then brokers
 * may be on both.
 */
static void
watch_split(struct server *s)
{
	struct world *w = s->w;
	const struct server *master = cluster_master_of(s);

	if (s != master && s->db.master && !node_of(s)->down &&
	    (s->rogue || s->side != master->side))
		w->split_us = world_now(w) + WATCH_US;
}

static void
watch_server(struct server *s)
{
	struct world *w = s->w;

	if (s->up && !s->frozen) {
		watch_state(s);
		if (prng_chance(&w->prng, HEARS))
			hear(s);
		watch_split(s);
	}
	if (world_now(w) / 1000000 != (world_now(w) - WATCH_US) / 1000000)
		replica_cron(s);
}

static void
on_watch(void *object, uint64_t tag)
{
	struct world *w = object;
	int i;

	(void)tag;
	for (i = 0; i < w->cluster.ngroups; i++)
		watch_group(w, i);
	for (i = 0; i < w->nservers; i++)
		watch_server(&w->servers[i]);
	events_at(&w->events, world_now(w) + WATCH_US, on_watch, w, 0);
}

void
takeover_started(struct server *s)
{
	struct cluster_node *n = node_of(s);

	n->down = true;
	n->back_us = world_now(s->w) + WRITABLE_US;
}

void
takeover_watch(struct world *w)
{
	if (w->replicates)
		events_at(&w->events,
		    world_now(w) + prng_range(&w->prng, 1, WATCH_US), on_watch,
		    w, 0);
}
