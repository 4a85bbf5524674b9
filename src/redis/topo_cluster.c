/*
 * The buckets of a Redis Cluster, each on whichever master has its slot.
 *
 *	bucket 0 ... 255 --> node --> pool
 *
 * Any node knows which master has which slot (the map).  It is asked for when
 * something is wrong: a call was refused for where it was sent, a node was
 * lost, a bucket has none.  What a refused call was told counts at once for
 * its bucket.  Nodes that no bucket is on any more are left when nothing is
 * under way there.
 *
 * A bucket that moves comes to another history: its guard is pending there
 * until it is blessed again (ARCHITECTURE, "The guard").  Nothing of that is
 * done here but to say that its link went down and up.
 */
#include "config.h"

#include <assert.h>
#include <event2/event.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/list.h"
#include "base/log.h"
#include "base/xmalloc.h"
#include "config/config.h"
#include "redis/cluster_map.h"
#include "redis/now.h"
#include "redis/once.h"
#include "redis/pool.h"
#include "redis/slot.h"
#include "redis/topology.h"

#define BUCKETS 256
#define RETRY_MS_MAX 1000
#define TICK_MS 250	/* while something is wrong */
#define STEADY_MS 30000 /* while all is well */
#define ASK_MS 50	/* between two questions for the map */
#define HINT_MS 1000	/* a redirection is newer than a map for so long */
#define STALE_MS 10000	/* an older view counts after so long without */
#define DOWN_MS 500	/* until a bucket that is down is tried again */
#define PARK_MS 30	/* until a call that came too early is sent again */
#define OPEN_MS 2000	/* a node may take so long to come up unneeded */
#define LINGER_MS 10000 /* a node is left when unneeded for so long */
#define REDIRECTS_MAX 16

/* One server. Owned by the topology; freed when no map names it any more. */
struct node {
	TAILQ_ENTRY(node) entry;
	struct topology *cluster;
	struct config_address address; /* owned */
	struct pool *pool;	       /* NULL: nothing is sent there */
	unsigned buckets;	       /* that are on it */
	unsigned map;		       /* number of the last map to name it */
	bool seed;		       /* of redis.nodes */
	int64_t unneeded_ms;	       /* since when it has no buckets */
	uint64_t epoch;		       /* of its view of the cluster */
};
TAILQ_HEAD(node_list, node);

/* One shard: buckets[shard]. */
struct bucket {
	unsigned slot;
	struct node *node; /* NULL: nobody has its slot */
	int64_t hint_ms;   /* when a redirection named the node; 0: a map did */
	int64_t down_ms;   /* when the node refused it as down; 0: it didn't */
	bool up;	   /* as was told */
};

struct topology {
	struct topology_env env;
	struct node_list nodes;
	struct node *next; /* to be asked for the map next */
	struct bucket buckets[BUCKETS];
	struct event *tick;
	struct event *unpark;
	struct call_list parked;
	struct once once;
	unsigned map;	  /* maps taken over */
	uint64_t epoch;	  /* of the latest view seen */
	int64_t epoch_ms; /* when it was seen last */
	int64_t ask_ms;	  /* when the map was asked for last */
	bool stale;	  /* the map is known to be wrong */
	bool degraded;	  /* some bucket is down, and that was logged */
	bool deaf;	  /* no answer is a map, and that was logged */
	bool closing;
};

/* ---- what the owner is told ---- */

static void
tell(struct topology *t, uint32_t shard, bool up, const char *why)
{
	struct bucket *b = &t->buckets[shard];

	if (b->up == up || t->closing)
		return;
	b->up = up;
	t->env.handler->link(t->env.arg, shard, up, why);
}

static void
settle(struct topology *t, uint32_t shard)
{
	const struct bucket *b = &t->buckets[shard];

	if (b->node && b->node->pool && pool_is_up(b->node->pool) &&
	    b->down_ms == 0)
		tell(t, shard, true, "");
}

static void
on_guard(void *arg, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report)
{
	struct topology *t = ((struct node *)arg)->cluster;

	t->env.handler->guard(t->env.arg, shard, sent_ms, report);
}

static void
on_outcome(
    void *arg, uint64_t op, int64_t sent_ms, const struct outcome *outcome)
{
	struct topology *t = ((struct node *)arg)->cluster;

	t->env.handler->outcome(t->env.arg, op, sent_ms, outcome);
}

static void
on_message(void *arg, const char *text, size_t len)
{
	struct topology *t = ((struct node *)arg)->cluster;

	if (once_accept(&t->once, arg, text, len, now_ms()))
		t->env.handler->message(t->env.arg, text, len);
}

static void
on_resubscribed(void *arg)
{
	struct topology *t = ((struct node *)arg)->cluster;

	t->env.handler->resubscribed(t->env.arg);
}

/* ---- the map ---- */

static void on_info(void *arg, const redisReply *reply);
static void on_slots(void *arg, const redisReply *reply);

static void
tick_in(struct topology *t, int64_t ms)
{
	struct timeval tv = ms_to_timeval(ms);

	(void)evtimer_add(t->tick, &tv);
}

/* The map is asked for soon, and again and again until it is right. */
static void
doubt_map(struct topology *t)
{
	int64_t in_ms = t->ask_ms + ASK_MS - now_ms();

	if (t->stale || t->closing)
		return;
	t->stale = true;
	tick_in(t, in_ms > 0 ? in_ms : 0);
}

static bool
ask(struct topology *t, struct node *n)
{
	if (!n->pool || !pool_is_up(n->pool))
		return false;
	t->ask_ms = now_ms();
	return pool_ask(n->pool, "CLUSTER INFO", on_info, n) &&
	       pool_ask(n->pool, "CLUSTER SLOTS", on_slots, n);
}

/* Another one each time: what one does not know yet another may. */
static void
ask_next(struct topology *t)
{
	struct node *n, *first;

	n = first = t->next ? t->next : TAILQ_FIRST(&t->nodes);
	do {
		t->next = TAILQ_NEXT(n, entry);
		if (ask(t, n))
			return;
		n = t->next ? t->next : TAILQ_FIRST(&t->nodes);
	} while (n != first);
}

static void
on_up(void *arg)
{
	struct node *n = arg;
	struct topology *t = n->cluster;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++)
		if (t->buckets[i].node == n)
			settle(t, i);
	if (t->stale)
		(void)ask(t, n);
}

static void
on_down(void *arg, const char *why)
{
	struct node *n = arg;
	struct topology *t = n->cluster;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++)
		if (t->buckets[i].node == n)
			tell(t, i, false, why);
	doubt_map(t);
}

/* ---- nodes ---- */

static bool on_redirected(
    void *arg, struct call *call, const redisReply *reply);

static const struct pool_handler pool_handler = {
	.store = { on_guard, on_outcome },
	.up = on_up,
	.down = on_down,
	.message = on_message,
	.resubscribed = on_resubscribed,
	.redirected = on_redirected,
};

/* Connects, unless it does already. */
static void
node_open(struct node *n)
{
	const struct topology_env *env = &n->cluster->env;
	const struct pool_config c = {
		.base = env->base,
		.resolver = env->resolver,
		.gather = env->gather,
		.redis = &env->config->redis,
		.address = &n->address,
		.client_name = env->client_name,
		.tls = env->tls,
		.lease_ms = env->config->locks.lease_ms,
		.retry_ms_max = RETRY_MS_MAX,
		.stats = env->stats,
	};

	if (n->buckets == 0)
		n->unneeded_ms = now_ms();
	if (n->pool)
		return;
	n->pool = pool_new(&c, &pool_handler, n);
	pool_start(n->pool);
}

static struct node *
node_new(struct topology *t, const struct config_address *address)
{
	struct node *n = xcalloc(1, sizeof(*n));

	n->cluster = t;
	n->address.port = address->port;
	if (address->path)
		n->address.path = xstrdup(address->path);
	else
		n->address.host = xstrdup(address->host);
	TAILQ_INSERT_TAIL(&t->nodes, n, entry);
	return n;
}

static void
node_free(struct node *n)
{
	struct topology *t = n->cluster;

	assert(n->buckets == 0 || t->closing);
	if (t->next == n)
		t->next = NULL;
	TAILQ_REMOVE(&t->nodes, n, entry);
	pool_free(n->pool);
	config_address_fini(&n->address);
	free(n);
}

/* The node of that address; a new one where there is none. */
static struct node *
node_at(struct topology *t, const char *host, uint16_t port)
{
	struct config_address address = { .port = port };
	struct node *n;

	TAILQ_FOREACH (n, &t->nodes, entry)
		if (n->address.host && n->address.port == port &&
		    strcmp(n->address.host, host) == 0)
			return n;
	address.host = xstrdup(host);
	n = node_new(t, &address);
	n->map = t->map;
	config_address_fini(&address);
	return n;
}

static void
set_node(struct topology *t, uint32_t shard, struct node *n)
{
	struct bucket *b = &t->buckets[shard];
	char why[CONFIG_ADDRESS_SIZE + 32] = "nobody has its slot";
	char text[CONFIG_ADDRESS_SIZE];

	if (b->node == n)
		return;
	if (n)
		(void)snprintf(why, sizeof(why), "its slot is on %s",
		    config_address_format(&n->address, text));
	tell(t, shard, false, why);
	if (b->node && --b->node->buckets == 0)
		b->node->unneeded_ms = now_ms();
	b->node = n;
	b->down_ms = 0;
	if (!n)
		return;
	n->buckets++;
	node_open(n);
	settle(t, shard);
}

/* Is there anybody who can be asked? */
static bool
any_up(const struct topology *t)
{
	const struct node *n;

	TAILQ_FOREACH (n, &t->nodes, entry)
		if (n->pool && pool_is_up(n->pool))
			return true;
	return false;
}

/*
 * Leaves nodes that are not needed, and forgets those nobody names.  False
 * while there are some that may still be needed.
 */
static bool
prune(struct topology *t)
{
	struct node *n, *next;
	int64_t unneeded_ms;
	bool all = true;

	if (!any_up(t) || t->map == 0)
		return false;
	TAILQ_FOREACH_SAFE (n, &t->nodes, entry, next) {
		if (n->buckets > 0)
			continue;
		unneeded_ms = now_ms() - n->unneeded_ms;
		if (n->pool && pool_is_idle(n->pool) &&
		    unneeded_ms >=
			(pool_is_up(n->pool) ? LINGER_MS : OPEN_MS)) {
			pool_free(n->pool);
			n->pool = NULL;
		}
		all = all && !n->pool;
		if (!n->pool && !n->seed && n->map != t->map)
			node_free(n);
	}
	return all;
}

/* Nobody can be asked: one more of all that were ever named. */
static void
open_another(struct topology *t)
{
	struct node *n;

	TAILQ_FOREACH (n, &t->nodes, entry)
		if (!n->pool) {
			node_open(n);
			return;
		}
}

/* ---- the map, taken over ---- */

static void
on_info(void *arg, const redisReply *reply)
{
	struct node *n = arg;

	if (reply && reply->type == REDIS_REPLY_STRING)
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
	struct node *n = node_at(r->t, range->host, range->port);
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
	char text[CONFIG_ADDRESS_SIZE];
	const struct node *n;
	int64_t masters = 0;

	TAILQ_FOREACH (n, &t->nodes, entry)
		masters += n->buckets > 0;
	LOG(NOTICE, "cluster-map",
	    LOG_S("from", config_address_format(&from->address, text)),
	    LOG_N("masters", masters), LOG_N("buckets_moved", moved));
}

static void
take_over(struct topology *t, const struct reading *r, const struct node *from)
{
	int64_t now = now_ms();
	struct bucket *b;
	unsigned moved = 0;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++) {
		b = &t->buckets[i];
		if (b->hint_ms != 0 && now - b->hint_ms < HINT_MS)
			continue;
		b->hint_ms = 0;
		moved += b->node != r->owners[i];
		set_node(t, i, r->owners[i]);
	}
	if (moved > 0)
		log_map(t, from, moved);
}

static void
complain(struct topology *t, const struct node *n, const redisReply *reply)
{
	char text[CONFIG_ADDRESS_SIZE];

	if (t->deaf)
		return;
	t->deaf = true;
	LOG(WARNING, "cluster-no-map",
	    LOG_S("node", config_address_format(&n->address, text)),
	    LOG_S("error", reply->type == REDIS_REPLY_ERROR ? reply->str : ""),
	    LOG_S("advice", "is it a Redis Cluster, and may redis.user run"
			    " CLUSTER SLOTS?"));
}

static void
on_slots(void *arg, const redisReply *reply)
{
	struct node *n = arg;
	struct topology *t = n->cluster;
	struct reading r = { .t = t };
	int64_t now = now_ms();

	if (!reply || t->closing)
		return;
	if (n->epoch < t->epoch && now - t->epoch_ms < STALE_MS)
		return; /* it has been cut off from the others */
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

/* ---- time ---- */

/* How many buckets are down; those refused as down are tried again. */
static unsigned
count_down(struct topology *t)
{
	int64_t now = now_ms();
	unsigned down = 0;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++) {
		down += !t->buckets[i].up;
		if (t->buckets[i].down_ms == 0 ||
		    now - t->buckets[i].down_ms < DOWN_MS)
			continue;
		t->buckets[i].down_ms = 0;
		settle(t, i);
	}
	return down;
}

static void
log_down(struct topology *t, unsigned down)
{
	if (t->map == 0 || (down > 0) == t->degraded)
		return;
	t->degraded = down > 0;
	if (down > 0)
		LOG(WARNING, "cluster-degraded", LOG_N("buckets_down", down),
		    LOG_N("buckets", BUCKETS));
	else
		LOG(NOTICE, "cluster-whole", LOG_N("buckets", BUCKETS));
}

static void
on_tick(evutil_socket_t fd, short what, void *arg)
{
	struct topology *t = arg;
	unsigned down;
	bool calm;

	(void)fd;
	(void)what;
	calm = prune(t);
	down = count_down(t);
	log_down(t, down);
	if (!any_up(t))
		open_another(t);
	ask_next(t);
	if (down > 0 || t->stale)
		tick_in(t, TICK_MS);
	else
		tick_in(t, calm ? STEADY_MS : OPEN_MS);
}

/* ---- calls that were refused for where they were sent ---- */

static void
finish(struct topology *t, struct call *call, const redisReply *reply)
{
	static const struct store_handler none;
	struct store_handler store = none;

	store.guard = t->env.handler->guard;
	store.outcome = t->env.handler->outcome;
	if (!reply)
		call->sent_ms = 0;
	(void)call_finish(
	    t->env.gather, call, reply, reply == NULL, &store, t->env.arg);
}

/* Sends it to whoever has the bucket now. */
static void
send_again(struct topology *t, struct call *call)
{
	struct node *n = t->buckets[call->shard].node;

	call->asking = false;
	if (!t->buckets[call->shard].up || !pool_send(n->pool, call))
		finish(t, call, NULL);
}

static void
on_unpark(evutil_socket_t fd, short what, void *arg)
{
	struct topology *t = arg;
	struct call_list calls = TAILQ_HEAD_INITIALIZER(calls);
	struct call *call;

	(void)fd;
	(void)what;
	TAILQ_CONCAT(&calls, &t->parked, entry);
	while ((call = TAILQ_FIRST(&calls))) {
		TAILQ_REMOVE(&calls, call, entry);
		send_again(t, call);
	}
}

static void
park(struct topology *t, struct call *call)
{
	struct timeval tv = ms_to_timeval(PARK_MS);

	if (TAILQ_EMPTY(&t->parked))
		(void)evtimer_add(t->unpark, &tv);
	TAILQ_INSERT_TAIL(&t->parked, call, entry);
}

static void
on_moved(struct node *n, struct call *call, const struct redirect *r)
{
	struct topology *t = n->cluster;
	struct bucket *b = &t->buckets[call->shard];
	struct node *target;

	doubt_map(t);
	if (r->host[0] == '\0' || r->slot != b->slot) {
		park(t, call);
		return;
	}
	target = node_at(t, r->host, r->port);
	/* A node that has it no longer may know less than we do. */
	if (b->node == n && target != n) {
		b->hint_ms = now_ms();
		set_node(t, call->shard, target);
		if (now_ms() - t->ask_ms >= ASK_MS)
			(void)ask(t, target);
	}
	if (b->node == n)
		park(t, call);
	else
		send_again(t, call);
}

static void
on_ask(struct node *n, struct call *call, const struct redirect *r)
{
	struct topology *t = n->cluster;
	struct node *target;

	if (r->host[0] == '\0') {
		park(t, call);
		return;
	}
	target = node_at(t, r->host, r->port);
	node_open(target);
	call->asking = true;
	if (!pool_is_up(target->pool) || !pool_send(target->pool, call))
		park(t, call);
}

static void
on_tryagain(struct node *n, struct call *call, const struct redirect *r)
{
	(void)r;
	park(n->cluster, call);
}

static void (*const redirects[REDIRECT_MAX])(
    struct node *n, struct call *call, const struct redirect *r) = {
	[REDIRECT_MOVED] = on_moved,
	[REDIRECT_ASK] = on_ask,
	[REDIRECT_TRYAGAIN] = on_tryagain,
};

/* It has gone to and fro for as long as it may. */
static bool
is_spent(const struct topology *t, const struct call *call)
{
	int64_t limit_ms = t->env.config->redis.reply_timeout_ms;

	if (call->timeout_ms < limit_ms)
		limit_ms = call->timeout_ms;
	return now_ms() + PARK_MS - call->since_ms >= limit_ms;
}

static bool
on_redirected(void *arg, struct call *call, const redisReply *reply)
{
	struct node *n = arg;
	struct topology *t = n->cluster;
	struct bucket *b = &t->buckets[call->shard];
	struct redirect r;

	if (!redirect_read(&r, reply->str, n->address.host))
		return false;
	if (call->redirects++ == 0)
		call->since_ms = call->sent_ms;
	call->asking = false;
	if (redirects[r.kind] && !is_spent(t, call) &&
	    (r.kind != REDIRECT_MOVED || call->redirects < REDIRECTS_MAX)) {
		redirects[r.kind](n, call, &r);
		return true;
	}
	if (r.kind == REDIRECT_DOWN && b->node == n) {
		b->down_ms = now_ms();
		tell(t, call->shard, false, reply->str);
		doubt_map(t);
	}
	finish(t, call, reply);
	return true;
}

/* ---- life ---- */

static void
cluster_free(struct topology *t)
{
	struct call *call;

	t->closing = true;
	while (!TAILQ_EMPTY(&t->nodes))
		node_free(TAILQ_FIRST(&t->nodes));
	while ((call = TAILQ_FIRST(&t->parked))) {
		TAILQ_REMOVE(&t->parked, call, entry);
		gather_drop(t->env.gather, call);
	}
	event_free(t->tick);
	event_free(t->unpark);
	free(t);
}

static struct topology *
cluster_new(const struct topology_env *env, char *why, size_t why_size)
{
	const struct config_nodes *seeds = &env->config->redis.nodes;
	struct topology *t;
	size_t i;

	if (seeds->n == 0) {
		(void)snprintf(why, why_size,
		    "redis.mode cluster needs some of redis.nodes");
		return NULL;
	}
	t = xcalloc(1, sizeof(*t));
	t->env = *env;
	t->stale = true;
	if (env->config->redis.replicas == 0)
		LOG(WARNING, "replicas-none",
		    LOG_S("advice",
			"with redis.replicas 0 a failover can grant a lock"
			" twice: set it to the number of replicas that each"
			" master has, or check fences"));
	TAILQ_INIT(&t->nodes);
	TAILQ_INIT(&t->parked);
	t->tick = evtimer_new(env->base, on_tick, t);
	t->unpark = evtimer_new(env->base, on_unpark, t);
	if (!t->tick || !t->unpark)
		abort();
	for (i = 0; i < BUCKETS; i++)
		t->buckets[i].slot = slot_of_bucket((uint32_t)i);
	for (i = 0; i < seeds->n; i++)
		node_new(t, &seeds->v[i])->seed = true;
	return t;
}

static void
cluster_start(struct topology *t)
{
	struct node *n;

	TAILQ_FOREACH (n, &t->nodes, entry)
		node_open(n);
	tick_in(t, TICK_MS);
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
	cluster_free, cluster_route, cluster_flush };
