/*
 * The nodes of a cluster, and which buckets are on them.
 *
 * A node with buckets has a pool; so has a node that an ASK named, or that may
 * be asked for the map when no other node can be asked.  Only the tick frees
 * pools, never their own callbacks.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "redis/cluster_state.h"

#define RETRY_MS_MAX 1000
#define OPEN_MS 2000	/* an unneeded node may take this long to come up */
#define LINGER_MS 10000 /* a node is left when unneeded for this long */

/* Reports to the owner. */

void
cluster_tell(struct topology *t, uint32_t shard, bool up, const char *why)
{
	struct bucket *b = &t->buckets[shard];

	if (b->up == up || t->closing)
		return;
	b->up = up;
	t->env.handler->link(t->env.arg, shard, up, why);
}

void
cluster_settle(struct topology *t, uint32_t shard)
{
	const struct bucket *b = &t->buckets[shard];

	if (b->node != NULL && b->node->pool && pool_is_up(b->node->pool) &&
	    b->down_ms == 0)
		cluster_tell(t, shard, true, "");
}

void
cluster_tell_why(struct topology *t, const char *why)
{
	uint32_t i;

	for (i = 0; i < BUCKETS && !t->closing; i++)
		if (!t->buckets[i].up)
			t->env.handler->link(t->env.arg, i, false, why);
}

/* Every node of a cluster passes a message on; the owner wants it once. */
static bool
on_message(void *arg, const char *text, size_t len)
{
	struct topology *t = ((struct node *)arg)->cluster;

	return once_accept(&t->once, arg, text, len, io_now_ms(t->env.io));
}

static void
on_up(void *arg)
{
	struct node *n = arg;
	struct topology *t = n->cluster;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++)
		if (t->buckets[i].node == n)
			cluster_settle(t, i);
	if (t->stale)
		(void)cluster_ask(t, n);
}

static void
on_down(void *arg, const char *why)
{
	struct node *n = arg;
	struct topology *t = n->cluster;
	uint32_t i;

	for (i = 0; i < BUCKETS; i++)
		if (t->buckets[i].node == n)
			cluster_tell(t, i, false, why);
	once_forget(&t->once, n);
	cluster_doubt_map(t);
}

/* Nothing is known of the cluster while no node is up. */
static void
on_failed(void *arg, const char *why)
{
	struct node *n = arg;
	char text[2 * ADDRESS_SIZE], node[ADDRESS_SIZE];

	snprintf(text, sizeof(text), "%s: %s",
	    address_format(&n->address, node), why);
	if (!cluster_any_up(n->cluster))
		cluster_tell_why(n->cluster, text);
}

/* Nodes. */

static const struct pool_handler pool_handler = {
	.up = on_up,
	.down = on_down,
	.failed = on_failed,
	.message = on_message,
	.redirected = cluster_redirected,
};

void
cluster_open(struct node *n)
{
	const struct pool_config c =
	    pool_config_of(&n->cluster->env, &n->address, RETRY_MS_MAX);

	if (n->buckets == 0)
		n->unneeded_ms = io_now_ms(n->cluster->env.io);
	if (n->pool)
		return;
	n->pool = pool_new(&c, &pool_handler, n);
	pool_start(n->pool);
}

struct node *
cluster_node_new(struct topology *t, const struct address *address)
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

void
cluster_node_free(struct node *n)
{
	struct topology *t = n->cluster;

	assert(n->buckets == 0 || t->closing);
	if (t->next == n)
		t->next = NULL;
	TAILQ_REMOVE(&t->nodes, n, entry);
	once_forget(&t->once, n);
	pool_free(n->pool);
	address_fini(&n->address);
	free(n);
}

struct node *
cluster_node_at(struct topology *t, const char *host, uint16_t port)
{
	struct address address = { .port = port };
	struct node *n;

	TAILQ_FOREACH (n, &t->nodes, entry)
		if (n->address.host && n->address.port == port &&
		    strcmp(n->address.host, host) == 0)
			return n;
	address.host = xstrdup(host);
	n = cluster_node_new(t, &address);
	n->map = t->map;
	address_fini(&address);
	return n;
}

void
cluster_place(struct topology *t, uint32_t shard, struct node *n)
{
	struct bucket *b = &t->buckets[shard];
	char why[ADDRESS_SIZE + 32] = "no node has its slot";
	char text[ADDRESS_SIZE];

	if (b->node == n)
		return;
	if (n != NULL)
		snprintf(why, sizeof(why), "its slot is on %s",
		    address_format(&n->address, text));
	cluster_tell(t, shard, false, why);
	if (b->node != NULL && --b->node->buckets == 0)
		b->node->unneeded_ms = io_now_ms(t->env.io);
	b->node = n;
	b->down_ms = 0;
	if (n == NULL)
		return;
	n->buckets++;
	cluster_open(n);
	cluster_settle(t, shard);
}

bool
cluster_any_up(const struct topology *t)
{
	const struct node *n;

	TAILQ_FOREACH (n, &t->nodes, entry)
		if (n->pool && pool_is_up(n->pool))
			return true;
	return false;
}

bool
cluster_prune(struct topology *t)
{
	struct node *n, *next;
	int64_t unneeded_ms;
	bool all = true;

	if (!cluster_any_up(t) || t->map == 0)
		return false;
	TAILQ_FOREACH_SAFE (n, &t->nodes, entry, next) {
		if (n->buckets > 0)
			continue;
		unneeded_ms = io_now_ms(t->env.io) - n->unneeded_ms;
		if (n->pool && pool_is_idle(n->pool) &&
		    unneeded_ms >=
			(pool_is_up(n->pool) ? LINGER_MS : OPEN_MS)) {
			once_forget(&t->once, n);
			pool_free(n->pool);
			n->pool = NULL;
		}
		all = all && !n->pool;
		if (!n->pool && !n->seed && n->map != t->map)
			cluster_node_free(n);
	}
	return all;
}

void
cluster_open_another(struct topology *t)
{
	struct node *n;

	TAILQ_FOREACH (n, &t->nodes, entry)
		if (!n->pool) {
			cluster_open(n);
			return;
		}
}
