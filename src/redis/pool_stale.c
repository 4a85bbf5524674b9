/*
 * Connections that were lost.  The server may still run commands that they had
 * sent, so the pool kills them before it sends anything in their place.
 *
 * It sends all CLIENT KILLs of a lane on one connection, and calls may follow
 * them there at once.  If the lane is lost again meanwhile, the pool waits for
 * the answers and then sends all of them anew: it could not tell the answers of
 * two rounds apart, and the answers of one round may never come.
 */
#include "config.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"
#include "redis/pool_state.h"

static void on_killed(void *arg, const redisReply *reply);

struct lane *
pool_any_lane(struct pool *p, uint32_t first)
{
	uint32_t i;

	for (i = 0; i < p->nlanes; i++)
		if (link_is_up(p->lanes[(first + i) % p->nlanes].link))
			return &p->lanes[(first + i) % p->nlanes];
	return NULL;
}

/* A restarted server counts ids anew, so ids of another run are dropped. */
void
pool_note_stale(struct lane *lane, const struct link *l)
{
	const char *run_id = link_info(l)->run_id;

	if (strcmp(lane->stale_run_id, run_id) != 0)
		lane->nstale = 0;
	snprintf(lane->stale_run_id, sizeof(lane->stale_run_id), "%s", run_id);
	lane->stale =
	    xrealloc(lane->stale, (lane->nstale + 1) * sizeof(*lane->stale));
	lane->stale[lane->nstale++] = link_client_id(l);
	lane->more_stale = lane->kills > 0;
}

/* One connection sends them all in order, so the last answer is for all. */
static void
kill_all(struct lane *lane, const struct lane *by)
{
	unsigned i;

	assert(lane->nstale > 0 && lane->killer == NO_LANE);
	for (i = 0; i < lane->nstale; i++) {
		lane->more_stale = !link_sendf(by->link, 0, on_killed, lane,
		    "CLIENT KILL ID %llu", (unsigned long long)lane->stale[i]);
		if (lane->more_stale)
			break;
		lane->kills++;
	}
	if (lane->kills > 0)
		lane->killer = by->index;
}

/* Kills only if the server is still the same; else forgets the ids. */
void
pool_kill_stale(struct pool *p)
{
	struct lane *lane, *by;
	uint32_t i;

	for (i = 0; i < p->nlanes; i++) {
		lane = &p->lanes[i];
		by = pool_any_lane(p, i);
		if (lane->nstale == 0 || lane->killer != NO_LANE || by == NULL)
			continue;
		if (strcmp(lane->stale_run_id, link_info(by->link)->run_id))
			lane->nstale = 0;
		else
			kill_all(lane, by);
	}
}

/*
 * The old connection may live on, so its id must be kept.  The broker has lost
 * a right that it had at the greeting: the next greeting says so, too.
 */
static void
kill_refused(struct lane *lane, const redisReply *reply)
{
	char why[160];

	snprintf(why, sizeof(why), "CLIENT KILL: %s", reply->str);
	lane->more_stale = true;
	link_refuse(lane->pool->lanes[lane->killer].link, why,
	    "permit redis.user +client|kill in the ACL of Redis");
}

static void
on_killed(void *arg, const redisReply *reply)
{
	struct lane *lane = arg;

	assert(lane->kills > 0);
	if (reply != NULL && reply->type == REDIS_REPLY_ERROR)
		kill_refused(lane, reply);
	if (--lane->kills > 0)
		return; /* the last one counts */
	lane->killer = NO_LANE;
	if (reply != NULL && !lane->more_stale)
		lane->nstale = 0;
	else if (!lane->pool->closing)
		pool_kill_stale(lane->pool); /* another lane must do it */
}

struct lane *
pool_route(struct pool *p, uint32_t index)
{
	struct lane *lane = &p->lanes[index % p->nlanes];

	if (lane->nstale == 0)
		return pool_any_lane(p, lane->index);
	/* Calls must follow the CLIENT KILLs on the same connection. */
	if (lane->killer == NO_LANE || lane->more_stale ||
	    !link_is_up(p->lanes[lane->killer].link))
		return NULL;
	return &p->lanes[lane->killer];
}
