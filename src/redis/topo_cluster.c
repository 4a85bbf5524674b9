/*
 * The buckets of a Redis Cluster, each on whichever master has its slot.
 *
 *	bucket 0 ... 255 --> node --> pool
 *
 * Any node knows which master has which slot (the map).  The topology asks for
 * the map now and then, and often when something is wrong: a node refused a
 * call as not its own, a node was lost, a bucket has none.  A redirection
 * counts at once for its bucket.  The topology leaves nodes that have no more
 * buckets when nothing is under way there.
 *
 * A bucket that moves comes to another history: its guard is pending there
 * until it is blessed again (core/kernel/guard/DESIGN).  This file only says
 * that the link of the bucket went down and up.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/cluster_map.h"
#include "redis/cluster_state.h"
#include "redis/link.h"
#include "store/refusal.h"

#define TICK_MS 250	/* while something is wrong */
#define CALM_MS 2000	/* while a node may be left */
#define STEADY_MS 30000 /* while all is well */
#define HINT_MS 1000	/* a redirection overrides maps for this long */
#define STALE_MS 10000	/* until an older view counts, if no newer came */
#define DOWN_MS 500	/* until a bucket that is down is tried again */

/* The map. */

static void on_info(void *arg, const redisReply *reply);
static void on_slots(void *arg, const redisReply *reply);

void
cluster_doubt_map(struct topology *t)
{
	int64_t in_ms = t->ask_ms + ASK_MS - io_now_ms(t->env.io);

	if (t->stale || t->closing)
		return;
	t->stale = true;
	timer_in(t->tick, in_ms > 0 ? in_ms : 0);
}

bool
cluster_ask(struct topology *t, struct node *n)
{
	struct link *l = n->pool != NULL ? pool_link(n->pool) : NULL;

	if (l == NULL)
		return false;
	t->ask_ms = io_now_ms(t->env.io);
	return link_sendf(l, 0, on_info, n, "CLUSTER INFO") &&
	       link_sendf(l, 0, on_slots, n, "CLUSTER SLOTS");
}

/* Asks another node each time: one may know what another does not know yet. */
static void
ask_next(struct topology *t)
{
	struct node *n, *first;

	n = first = t->next ? t->next : TAILQ_FIRST(&t->nodes);
	do {
		t->next = TAILQ_NEXT(n, entry);
		if (cluster_ask(t, n))
			return;
		n = t->next ? t->next : TAILQ_FIRST(&t->nodes);
	} while (n != first);
}

/* Taking a map over. */

static void
on_info(void *arg, const redisReply *reply)
{
	struct node *n = arg;

	if (reply != NULL && reply->type == REDIS_REPLY_STRING)
		n->epoch = cluster_epoch_read(reply->str, (size_t)reply->len);
}

/* A map while it is read. */
struct reading {
	struct topology *t;
	struct node *owners[BUCKETS];
};

static void
on_range(void *arg, const struct cluster_range *range)
{
	struct reading *r = arg;
	struct node *n = cluster_node_at(r->t, range->host, range->port);
	uint32_t i;

	n->map = r->t->map;
	if (!range->master)
		return;
	for (i = 0; i < BUCKETS; i++)
		if (r->t->buckets[i].slot >= range->first &&
		    r->t->buckets[i].slot <= range->last)
			r->owners[i] = n;
}

static void
log_map(const struct topology *t, const struct node *from, unsigned moved)
{
	char text[ADDRESS_SIZE];
	const struct node *n;
	int64_t masters = 0;

	TAILQ_FOREACH (n, &t->nodes, entry)
		masters += n->buckets > 0;
	LOG(NOTICE, "cluster-map",
	    LOG_S("from", address_format(&from->address, text)),
	    LOG_N("masters", masters), LOG_N("buckets_moved", moved));
}

static void
take_over(struct topology *t, const struct reading *r, const struct node *from)
{
	int64_t now = io_now_ms(t->env.io);
	struct bucket *b;
	unsigned moved = 0;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++) {
		b = &t->buckets[i];
		if (b->hint_ms != 0 && now - b->hint_ms < HINT_MS)
			continue;
		b->hint_ms = 0;
		moved += b->node != r->owners[i];
		cluster_place(t, i, r->owners[i]);
	}
	if (moved > 0)
		log_map(t, from, moved);
}

static void
complain(struct topology *t, const struct node *n, const redisReply *reply)
{
	char text[ADDRESS_SIZE], why[2 * ADDRESS_SIZE];
	struct refused refused = { .words = "no map of slots" };

	if (reply->type == REDIS_REPLY_ERROR)
		refusal_read(&refused, reply->str, (size_t)reply->len);
	snprintf(why, sizeof(why), "%s: %s; check that it is a Redis Cluster",
	    address_format(&n->address, text), refused.words);
	cluster_tell_why(t, why);
	if (t->deaf)
		return;
	t->deaf = true;
	LOG(WARNING, "cluster-no-map",
	    LOG_S("node", address_format(&n->address, text)),
	    LOG_S("error", reply->type == REDIS_REPLY_ERROR ? reply->str : ""),
	    LOG_S("advice", "check that it is a Redis Cluster and that "
			    "redis.user may run CLUSTER SLOTS"));
}

static void
on_slots(void *arg, const redisReply *reply)
{
	struct node *n = arg;
	struct topology *t = n->cluster;
	struct reading r = { .t = t };
	int64_t now = io_now_ms(t->env.io);

	if (reply == NULL || t->closing)
		return;
	if (n->epoch < t->epoch && now - t->epoch_ms < STALE_MS)
		return; /* the node has been cut off from the others */
	if (reply->type == REDIS_REPLY_ARRAY)
		t->map++;
	if (!cluster_slots_read(reply, n->address.host, on_range, &r)) {
		complain(t, n, reply);
		return;
	}
	t->deaf = t->stale = false;
	t->epoch = n->epoch;
	t->epoch_ms = now;
	take_over(t, &r, n);
}

/* Time. */

/* Counts buckets that are down, and tries those refused as down again. */
static unsigned
count_down(struct topology *t)
{
	int64_t now = io_now_ms(t->env.io);
	unsigned down = 0;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++) {
		down += !t->buckets[i].up;
		if (t->buckets[i].down_ms == 0 ||
		    now - t->buckets[i].down_ms < DOWN_MS)
			continue;
		t->buckets[i].down_ms = 0;
		cluster_settle(t, i);
	}
	return down;
}

static void
log_down(struct topology *t, unsigned down)
{
	char why[80];

	if (t->map == 0)
		return;
	snprintf(why, sizeof(why),
	    "%u of %u buckets have no master in the cluster", down, BUCKETS);
	if (down == BUCKETS && cluster_any_up(t))
		cluster_tell_why(t, why);
	if ((down > 0) == t->degraded)
		return;
	t->degraded = down > 0;
	if (down > 0)
		LOG(WARNING, "cluster-degraded", LOG_N("buckets_down", down),
		    LOG_N("buckets", BUCKETS));
	else
		LOG(NOTICE, "cluster-whole", LOG_N("buckets", BUCKETS));
}

static void
on_tick(void *arg)
{
	struct topology *t = arg;
	unsigned down;
	bool calm;

	calm = cluster_prune(t);
	down = count_down(t);
	log_down(t, down);
	if (!cluster_any_up(t))
		cluster_open_another(t);
	ask_next(t);
	if (down > 0 || t->stale)
		timer_in(t->tick, TICK_MS);
	else
		timer_in(t->tick, calm ? STEADY_MS : CALM_MS);
}

/* Life. */

static void
cluster_free(struct topology *t)
{
	struct call *call;

	t->closing = true;
	while (!TAILQ_EMPTY(&t->nodes))
		cluster_node_free(TAILQ_FIRST(&t->nodes));
	while ((call = TAILQ_FIRST(&t->parked)) != NULL) {
		TAILQ_REMOVE(&t->parked, call, entry);
		gather_drop(t->env.gather, call);
	}
	timer_free(t->tick);
	timer_free(t->unpark);
	free(t);
}

static struct topology *
cluster_new(const struct topology_env *env, char *why, size_t why_size)
{
	const struct config_nodes *seeds = &env->config->redis.nodes;
	struct topology *t;
	size_t i;

	if (seeds->n == 0) {
		snprintf(why, why_size,
		    "redis.mode cluster needs some of redis.nodes");
		return NULL;
	}
	t = xcalloc(1, sizeof(*t));
	t->env = *env;
	t->stale = true;
	TAILQ_INIT(&t->nodes);
	TAILQ_INIT(&t->parked);
	t->tick = timer_new(env->io, on_tick, t);
	t->unpark = timer_new(env->io, cluster_unpark, t);
	for (i = 0; i < BUCKETS; i++)
		t->buckets[i].slot = cluster_slot((uint32_t)i);
	for (i = 0; i < seeds->n; i++)
		cluster_node_new(t, &seeds->v[i])->seed = true;
	return t;
}

static void
cluster_start(struct topology *t)
{
	struct node *n;

	TAILQ_FOREACH (n, &t->nodes, entry)
		cluster_open(n);
	timer_in(t->tick, TICK_MS);
}

static struct pool *
cluster_route(struct topology *t, uint32_t shard)
{
	const struct bucket *b = &t->buckets[shard];

	return b->up ? b->node->pool : NULL;
}

static void
cluster_flush(struct topology *t)
{
	struct node *n;

	TAILQ_FOREACH (n, &t->nodes, entry)
		if (n->pool)
			pool_flush(n->pool);
}

const struct topology_ops topo_cluster = { cluster_new, cluster_start,
	cluster_free, cluster_route, cluster_flush, NULL, NULL, NULL };
