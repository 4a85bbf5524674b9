/*
 * The servers' side of a cluster: who has which bucket, and how one moves: its
 * keys one by one, each with what is left of its time, then the bucket itself.
 * Other servers hear of that later.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "redis/cluster_map.h"

#include "answer.h"
#include "cluster.h"
#include "world.h"

#define GOSSIP_US 2000000
#define PAUSE_US 20000 /* between keys that move, mostly */

static event_fn cluster_on_move;
static event_fn cluster_on_gossip;

static void
place_buckets(struct world *w)
{
	struct cluster *c = &w->cluster;
	uint32_t i;
	int s;

	for (i = 0; i < w->shards; i++) {
		c->owner[i] = (int)prng_below(&w->prng, (uint64_t)c->ngroups);
		c->target[i] = -1;
		for (s = 0; s < w->nservers; s++) {
			c->nodes[s].heard[i] = c->owner[i];
			c->nodes[s].going[i] = -1;
		}
	}
}

/*
 * From a stream of its own: fewer than three masters elect nobody.  The first
 * servers are the masters.
 */
static void
draw_replicas(struct world *w)
{
	struct cluster *c = &w->cluster;
	struct prng p;
	int i;

	prng_seed(&p, w->o->seed ^ 0x74616b656f766572);
	c->ngroups = w->nservers;
	if (prng_chance(&p, 500)) {
		w->replicates = true;
		c->ngroups = (int)prng_range(&p, 3, CLUSTER_MASTERS_MAX);
		w->members = (int)prng_range(&p, 2, 3);
		w->replicas = (unsigned)w->members - 1;
		if (prng_chance(&p, 300))
			w->replicas = (unsigned)prng_below(&p, w->replicas);
		w->nservers = c->ngroups * w->members;
		/* More than a stall, or a master that was frozen goes on. */
		c->timeout_us = (w->pad_ms + prng_range(&p, 100, 1500)) * 1000;
	}
	for (i = 0; i < w->nservers; i++)
		c->nodes[i].group = i % c->ngroups;
	for (i = 0; i < c->ngroups; i++)
		c->groups[i] = (struct cluster_group){ i, -1 };
}

void
cluster_draw(struct world *w)
{
	struct prng *p = &w->prng;

	w->nservers = (int)prng_range(p, 2, CLUSTER_MASTERS_MAX);
	w->shards = (uint32_t)prng_range(p, 2, 6);
	if (prng_chance(p, 50))
		w->shards = CLUSTER_BUCKETS_MAX;
	w->tagged = true;
	w->cluster.ask_early = prng_chance(p, 300);
	w->heal_us = w->heal_us * 2 / 3;
	draw_replicas(w);
	place_buckets(w);
}

void
cluster_make(struct world *w)
{
	struct cluster *c = &w->cluster;
	int i;

	for (i = c->ngroups; i < w->nservers; i++)
		replica_attach(&w->servers[i], &w->servers[c->nodes[i].group]);
}

struct server *
cluster_master_of(const struct server *s)
{
	const struct cluster *c = &s->w->cluster;

	return &s->w->servers[c->groups[c->nodes[s->index].group].master];
}

struct server *
cluster_some_master(struct world *w)
{
	const struct cluster *c = &w->cluster;
	uint64_t g = prng_below(&w->prng, (uint64_t)c->ngroups);

	return &w->servers[c->groups[g].master];
}

void
cluster_begin(struct broker *b)
{
	int i;

	for (i = 0; i < b->w->nservers; i++)
		broker_add_node(b, b->w->servers[i].name, NET_SERVER + i);
}

/* The map, as a server has heard of it. */

static bool
is_replica_of(const struct server *s, const struct server *master)
{
	return s->up && s->repl.master == master;
}

static redisReply *
address(const struct server *s)
{
	redisReply *node = answer_array(2);

	node->element[0] = answer_text(s->name, strlen(s->name));
	node->element[1] = answer_int(NET_SERVER + s->index);
	return node;
}

/* A range of slots is on a server: [ first, last, [ host, port ] ], and one
 * more [ host, port ] for each replica. */
static redisReply *
range(const struct server *on, unsigned first, unsigned last)
{
	const struct server *s, *end = on->w->servers + on->w->nservers;
	size_t n = 2;
	redisReply *reply;

	for (s = on->w->servers; s < end; s++)
		n += is_replica_of(s, on);
	reply = answer_array(n + 1);
	reply->element[0] = answer_int(first);
	reply->element[1] = answer_int(last);
	reply->element[2] = address(on);
	for (s = on->w->servers; s < end; s++)
		if (is_replica_of(s, on))
			reply->element[n--] = address(s);
	return reply;
}

static int
by_slot(const void *a, const void *b)
{
	unsigned first = cluster_slot(*(const uint32_t *)a);
	unsigned second = cluster_slot(*(const uint32_t *)b);

	return (first > second) - (first < second);
}

/* Slots between those of our buckets are on the server of the one before. */
redisReply *
cluster_slots(const struct server *s)
{
	const struct world *w = s->w;
	const int *heard = w->cluster.nodes[s->index].heard;
	uint32_t order[CLUSTER_BUCKETS_MAX], i;
	redisReply *reply = answer_array(w->shards);
	unsigned first, last;

	for (i = 0; i < w->shards; i++)
		order[i] = i;
	qsort(order, w->shards, sizeof(order[0]), by_slot);
	for (i = 0; i < w->shards; i++) {
		first = i > 0 ? cluster_slot(order[i]) : 0;
		last = i + 1 < w->shards ? cluster_slot(order[i + 1]) - 1
					 : SLOTS - 1;
		reply->element[i] =
		    range(&w->servers[heard[order[i]]], first, last);
	}
	return reply;
}

redisReply *
cluster_info(const struct server *s)
{
	char text[64];
	int n = snprintf(text, sizeof(text), "cluster_current_epoch:%llu\r\n",
	    (unsigned long long)s->w->cluster.nodes[s->index].epoch + 1);

	return answer_text(text, (size_t)n);
}

/* Calls. */

/* How many of its keys are there. */
static int
keys_here(struct server *s, const struct request *r)
{
	int i, n = 0;

	s->db.now_us = server_clock_us(s);
	for (i = 0; i < r->nkeys; i++)
		n += redis_db_find(&s->db, r->words[i]) != NULL;
	return n;
}

static redisReply *
redirect(const struct world *w, const char *how, uint32_t bucket, int server)
{
	char text[48];

	snprintf(text, sizeof(text), "%s %u %s:%d", how, cluster_slot(bucket),
	    w->servers[server].name, NET_SERVER + server);
	return answer_error(text);
}

redisReply *
cluster_check(struct server *s, const struct request *r, bool asking)
{
	const struct cluster *c = &s->w->cluster;
	const struct cluster_node *n = &c->nodes[s->index];
	uint32_t at = r->shard;
	bool mine = n->heard[at] == s->index;
	int here;

	if (n->down)
		return answer_error("CLUSTERDOWN The cluster is down");
	if (mine && n->going[at] < 0)
		return NULL;
	if (!mine && !(c->target[at] == s->index && asking))
		return redirect(s->w, "MOVED", at, n->heard[at]);
	here = keys_here(s, r);
	if (here == r->nkeys)
		return NULL;
	if (mine && (here == 0 || c->ask_early))
		return redirect(s->w, "ASK", at, n->going[at]);
	return answer_error("TRYAGAIN Multiple keys request during rehashing "
			    "of slot");
}

/* Moves. */

static bool
in_bucket(const struct redis_key *key, uint32_t bucket)
{
	char head[24];

	snprintf(head, sizeof(head), WORLD_PREFIX "{%u}:", bucket);
	return strncmp(key->name, head, strlen(head)) == 0;
}

/* One of its keys, or NULL. */
static struct redis_key *
some_key(struct server *s, uint32_t bucket)
{
	struct redis_key *key, *found = NULL;
	unsigned n = 0;

	s->db.now_us = server_clock_us(s);
	redis_db_expire(&s->db);
	TAILQ_FOREACH (key, &s->db.keys, in_all)
		if (in_bucket(key, bucket) && prng_below(&s->w->prng, ++n) == 0)
			found = key;
	return found;
}

/* MIGRATE: it has as long to live there as it had here. */
static void
move_key(struct server *from, struct server *to, struct redis_key *key)
{
	struct text name = { key->name, key->name_len };
	struct redis_key *old;

	to->db.now_us = server_clock_us(to);
	old = redis_db_find(&to->db, name);
	if (old != NULL)
		redis_db_delete(&to->db, old);
	redis_db_take(&from->db, key);
	if (key->end_ms >= 0)
		key->end_ms += (to->db.now_us - from->db.now_us) / 1000;
	redis_db_put(&to->db, key);
	replica_put(to, key);
	replica_gone(from, key);
}

static void
cluster_on_gossip(void *object, uint64_t tag)
{
	struct server *s = object;
	struct cluster *c = &s->w->cluster;

	c->nodes[s->index].heard[tag] = c->owner[tag];
	c->nodes[s->index].epoch = c->epoch;
}

static void
settle(struct world *w, uint32_t bucket)
{
	struct cluster *c = &w->cluster;
	int from = c->owner[bucket], i;

	c->owner[bucket] = c->target[bucket];
	c->target[bucket] = c->nodes[from].going[bucket] = -1;
	c->epoch++;
	TRACE(w, "bucket %u is on r%d", bucket, c->owner[bucket]);
	for (i = 0; i < w->nservers; i++)
		if (i == from || i == c->owner[bucket]) {
			c->nodes[i].heard[bucket] = c->owner[bucket];
			c->nodes[i].epoch = c->epoch;
		} else if (!w->replicates)
			events_at(&w->events,
			    world_now(w) +
				prng_skewed(&w->prng, 1000, GOSSIP_US),
			    cluster_on_gossip, &w->servers[i], bucket);
}

static void
cluster_on_move(void *object, uint64_t tag)
{
	struct world *w = object;
	struct cluster *c = &w->cluster;
	struct server *from = &w->servers[c->owner[tag]], *to;
	struct redis_key *key;
	uint32_t bucket = (uint32_t)tag;

	if (c->target[bucket] < 0)
		return;
	to = &w->servers[c->target[bucket]];
	if (from->up && to->up && !from->frozen && !to->frozen) {
		key = some_key(from, bucket);
		if (key == NULL) {
			settle(w, bucket);
			return;
		}
		TRACE(w, "%s moves to %s", key->name, to->name);
		move_key(from, to, key);
	}
	events_at(&w->events,
	    world_now(w) + prng_skewed(&w->prng, 100, PAUSE_US * 10),
	    cluster_on_move, w, bucket);
}

void
cluster_move(struct world *w)
{
	struct cluster *c = &w->cluster;
	uint32_t bucket = (uint32_t)prng_below(&w->prng, w->shards);
	int to = cluster_some_master(w)->index;

	if (c->target[bucket] >= 0 || c->owner[bucket] == to)
		return;
	c->target[bucket] = to;
	c->nodes[c->owner[bucket]].going[bucket] = to;
	TRACE(w, "bucket %u begins to move from r%d to r%d", bucket,
	    c->owner[bucket], to);
	/* Without its keys; what was there before is there again. */
	if (faults_forget(w) && prng_chance(&w->prng, 300)) {
		settle(w, bucket);
		checker_amnesia(w);
		return;
	}
	events_at(
	    &w->events, world_now(w) + PAUSE_US, cluster_on_move, w, bucket);
}
