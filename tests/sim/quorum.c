/*
 * Quorum: three to nine servers that know nothing of each other, with a shard
 * for each.
 *
 * Fences must rise whatever time it is: in some runs the wall clocks of the
 * brokers are days apart, and then no more is lost than a quorum can bear
 * (faults.c).  In the other runs they are right within G, because after the
 * loss of everything nothing else is left.
 */
#include "config.h"

#include <string.h>

#include "answer.h"
#include "topology.h"
#include "world.h"

#define DAY_US 86400000000
#define SPARES_MAX 3

void
quorum_draw(struct world *w)
{
	static const int sizes[] = { 3, 3, 3, 3, 3, 3, 4, 5, 5, 5, 7, 9 };
	size_t at = prng_below(&w->prng, sizeof(sizes) / sizeof(sizes[0]));
	int i;

	w->nservers = w->members = sizes[at];
	w->shards = (uint32_t)w->members;
	if (world_ablated(w, ABLATE_FEW))
		w->shards -= 2;
	w->quorum = true;
	/* ERR unsupported. */
	w->shares = false;
	w->permits[0] = 0;
	w->clocks_apart = prng_chance(&w->prng, 500);
	if (w->o->ablation == NULL && prng_chance(&w->prng, 300))
		w->faults.few = (w->members - 1) / 2;
	/* The servers answer one after the other, so brokers overtake each
	 * other. */
	w->latency_us = prng_skewed(&w->prng, 20, 20000);
	/* Each server costs as much time as a world with one. */
	w->heal_us /= 2;
	w->nservers += (int)prng_range(&w->prng, 1, SPARES_MAX);
	for (i = 0; i < w->members; i++)
		w->electorate.list[i] = i;
}

/* The wall clock outlives the process. */
static void
set_wall(struct broker *b)
{
	struct world *w = b->w;
	int64_t most_us = w->clocks_apart ? DAY_US : w->grace_ms * 400;

	b->wall_us = w->servers[0].zero_us + DAY_US +
		     prng_range(&w->prng, -most_us, most_us);
}

void
quorum_begin(struct broker *b)
{
	int i;

	if (b->wall_us == 0)
		set_wall(b);
	b->nvoters = (int)b->w->shards;
	for (i = 0; i < b->nvoters; i++) {
		b->voters[i] = b->list[i];
		broker_add_node(
		    b, b->w->servers[b->list[i]].name, NET_SERVER + b->list[i]);
	}
}

/* Does it know all that was ever granted on it? */
bool
quorum_is_whole(struct server *s)
{
	static const char *const words[] = { "HGET", WORLD_PREFIX "@guard",
		"id", NULL };
	redisReply *reply = server_command(s, words);
	bool whole = s->up && !s->frozen && reply->type == REDIS_REPLY_STRING &&
		     strcmp(reply->str, s->db.replid) == 0;

	answer_free(reply);
	return whole;
}

bool
quorum_bears(struct world *w, const struct server *lost)
{
	int i;

	for (i = 0; i < w->members; i++)
		if (&w->servers[w->electorate.list[i]] != lost &&
		    !quorum_is_whole(&w->servers[w->electorate.list[i]]))
			return false;
	return true;
}
