/*
 * A broker's side of a cluster, as src/redis has it (cluster_calls.c,
 * cluster_nodes.c, topo_cluster.c): which pool takes the calls of a bucket, and
 * what becomes of calls that were refused for where they were sent.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "cluster.h"
#include "world.h"

#define PARK_MS 30 /* until a call that came too early is sent again */
#define REDIRECTS_MAX 16
#define HINT_US 1000000	  /* a redirection is newer than a map for so long */
#define TICK_US 250000	  /* between looks at the map, while it is wrong */
#define STEADY_US 3000000 /* and else; a tenth of what it really is */

static event_fn cluster_on_unpark;
static event_fn cluster_on_tick;

static void
tell(struct broker *b, uint32_t shard, bool up)
{
	struct core_event event = { .kind = CORE_LINK };

	event.u.link.shard = shard;
	event.u.link.up = up;
	broker_step(b, &event);
}

/* The bucket is there from now on. */
static void
place(struct broker *b, uint32_t shard, struct pool *p)
{
	struct route *r = &b->routes.of[shard];

	if (r->pool == p)
		return;
	TRACE(b->w, "%s: bucket %u is on %s", b->name, shard, p->server->name);
	tell(b, shard, false);
	r->pool = p;
	if (pool_is_up(p))
		tell(b, shard, true);
}

/* The map. */

static void
tick_in(struct broker *b, int64_t us)
{
	if (b->routes.tick_due)
		return;
	b->routes.tick_due = true;
	events_at(
	    &b->w->events, world_now(b->w) + us, cluster_on_tick, b, b->life);
}

static void
doubt_map(struct broker *b)
{
	b->routes.stale = true;
}

/* Takes over what a server that can be reached has heard of. */
static void
cluster_on_tick(void *object, uint64_t tag)
{
	struct broker *b = object;
	struct world *w = b->w;
	struct routes *all = &b->routes;
	struct pool *p;
	struct route *r;
	uint32_t i;

	if (!b->alive || tag != b->life)
		return;
	all->tick_due = false;
	p = &b->pools[prng_below(&w->prng, (uint64_t)b->npools)];
	if (pool_is_up(p) && !p->server->frozen && !broker_stalled(b)) {
		all->stale = false;
		for (i = 0; i < w->shards; i++) {
			r = &all->of[i];
			if (r->hint_us != 0 &&
			    world_now(w) - r->hint_us < HINT_US)
				continue;
			r->hint_us = 0;
			place(b, i,
			    &b->pools[w->cluster.heard[p->server->index][i]]);
			all->stale |= !pool_is_up(r->pool);
		}
		broker_wake(b);
	}
	tick_in(b, all->stale ? TICK_US : STEADY_US);
}

/* Calls. */

static void
park(struct broker *b, struct call *call)
{
	TAILQ_INSERT_TAIL(&b->routes.parked, call, entry);
	if (b->routes.unpark_due)
		return;
	b->routes.unpark_due = true;
	events_at(&b->w->events, world_now(b->w) + PARK_MS * 1000,
	    cluster_on_unpark, b, b->life);
}

static void
send_again(struct broker *b, struct call *call)
{
	call->asking = false;
	pool_send(b, call);
}

static void
cluster_on_unpark(void *object, uint64_t tag)
{
	struct broker *b = object;
	struct call_list calls = TAILQ_HEAD_INITIALIZER(calls);
	struct call *call;

	if (!b->alive || tag != b->life)
		return;
	b->routes.unpark_due = false;
	if (broker_stalled(b)) {
		b->routes.unpark_due = true;
		events_at(&b->w->events, world_now(b->w) + PARK_MS * 1000,
		    cluster_on_unpark, b, b->life);
		return;
	}
	TAILQ_CONCAT(&calls, &b->routes.parked, entry);
	while ((call = TAILQ_FIRST(&calls)) != NULL) {
		TAILQ_REMOVE(&calls, call, entry);
		send_again(b, call);
	}
}

static void
on_moved(struct pool *p, struct call *call, int server)
{
	struct broker *b = p->broker;
	struct route *r = &b->routes.of[call->shard];
	struct pool *target = &b->pools[server];

	doubt_map(b);
	/* A node that has it no longer may know less than we do. */
	if (r->pool == p && target != p) {
		r->hint_us = world_now(b->w);
		place(b, call->shard, target);
	}
	if (r->pool == p)
		park(b, call);
	else
		send_again(b, call);
}

static void
on_ask(struct pool *p, struct call *call, int server)
{
	struct broker *b = p->broker;
	struct pool *target = &b->pools[server];

	call->asking = true;
	if (pool_is_up(target))
		pool_send_to(target, call);
	else
		park(b, call);
}

/*
 * It has gone to and fro for as long as it may.  What is left of that is all
 * that the next node has.
 */
static bool
is_spent(const struct broker *b, struct call *call)
{
	int64_t limit_ms = b->w->reply_timeout_ms;

	if (call->redirects++ == 0) {
		if (call->timeout_ms < limit_ms)
			limit_ms = call->timeout_ms;
		call->until_ms = call->sent_ms + limit_ms;
	}
	call->timeout_ms = call->until_ms - broker_clock_ms(b);
	return call->timeout_ms <= PARK_MS;
}

bool
cluster_redirected(struct pool *p, struct call *call, const redisReply *reply)
{
	struct broker *b = p->broker;
	unsigned bucket;
	char word[12];
	int server = -1;

	if (reply->type != REDIS_REPLY_ERROR ||
	    sscanf(reply->str, "%11s %u %d", word, &bucket, &server) < 1 ||
	    (strcmp(word, "TRYAGAIN") != 0 && server < 0))
		return false;
	call->asking = false;
	if (is_spent(b, call) || call->redirects >= REDIRECTS_MAX)
		return false;
	if (strcmp(word, "MOVED") == 0)
		on_moved(p, call, server);
	else if (strcmp(word, "ASK") == 0)
		on_ask(p, call, server);
	else
		park(b, call);
	return true;
}

/* Life. */

void
cluster_link(struct pool *p, bool up)
{
	if (!up)
		doubt_map(p->broker);
}

void
cluster_begin(struct broker *b)
{
	struct world *w = b->w;
	uint32_t i;
	int asked = (int)prng_below(&w->prng, (uint64_t)w->nservers), k;

	b->npools = w->nservers;
	for (k = 0; k < b->npools; k++)
		b->pools[k].server = &w->servers[k];
	memset(&b->routes, 0, sizeof(b->routes));
	TAILQ_INIT(&b->routes.parked);
	for (i = 0; i < w->shards; i++)
		b->routes.of[i].pool = &b->pools[w->cluster.heard[asked][i]];
	tick_in(b, TICK_US);
}

struct pool *
cluster_route(struct broker *b, uint32_t shard)
{
	return b->routes.of[shard].pool;
}

void
cluster_forget(struct broker *b)
{
	struct call *call;

	while ((call = TAILQ_FIRST(&b->routes.parked)) != NULL) {
		TAILQ_REMOVE(&b->routes.parked, call, entry);
		call_free(call);
	}
}
