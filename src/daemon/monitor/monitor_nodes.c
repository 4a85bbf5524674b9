/*
 * The servers that the guards are on, each listed once.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "config/config.h"
#include "daemon/monitor/monitor_state.h"

static struct monitor_node *
find(struct monitor_node *nodes, size_t n, const char *address)
{
	size_t i;

	for (i = 0; i < n; i++)
		if (strcmp(nodes[i].address, address) == 0)
			return &nodes[i];
	return NULL;
}

static void
add(struct monitor_node *node, const struct core_guard *guard)
{
	node->up = node->up && guard->up;
	node->shards++;
	node->ready += guard->ready;
	if (guard->plain.until_s > node->plain.until_s)
		node->plain = guard->plain;
	if (guard->ready || node->why[0] != '\0')
		return;
	node->left_ms = guard->left_ms;
	snprintf(node->why, sizeof(node->why), "%s", guard->why);
}

/* Returns what the configuration says of a server that was never reached. */
static const char *
configured(
    const struct config_redis *redis, unsigned shard, char text[ADDRESS_SIZE])
{
	switch (redis->mode) {
	case CONFIG_MODE_STANDALONE:
	case CONFIG_MODE_QUORUM:
		return address_format(&redis->nodes.v[shard], text);
	case CONFIG_MODE_SENTINEL:
		return redis->master;
	case CONFIG_MODE_EMBEDDED:
		return "embedded";
	default:
		return "not found yet";
	}
}

/* Returns the address of the server, or its last one if it is away. */
static const char *
address_of(struct monitor *m, unsigned shard, char text[ADDRESS_SIZE])
{
	const char *now = redis_node(m->broker->redis, shard);
	const char *last = m->nodes[shard];

	if (now[0] == '\0')
		return last != NULL
			   ? last
			   : configured(&m->broker->config->redis, shard, text);
	if (last == NULL || strcmp(last, now) != 0) {
		free(m->nodes[shard]);
		m->nodes[shard] = xstrdup(now);
	}
	return m->nodes[shard];
}

size_t
monitor_nodes(struct monitor *m, struct monitor_node nodes[MONITOR_NODES])
{
	unsigned shards = redis_shards(m->broker->config), i;
	struct monitor_node *node;
	struct core_guard guard;
	char text[ADDRESS_SIZE];
	const char *address;
	size_t n = 0;

	for (i = 0; i < shards; i++) {
		address = address_of(m, i, text);
		core_guard(m->broker->core, i, &guard);
		node = find(nodes, n, address);
		if (node == NULL && n < MONITOR_NODES) {
			node = &nodes[n++];
			memset(node, 0, sizeof(*node));
			node->up = true;
			snprintf(node->address, sizeof(node->address), "%s",
			    address);
		}
		if (node != NULL)
			add(node, &guard);
	}
	return n;
}
