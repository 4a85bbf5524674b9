/*
 * Which servers of a quorum vote, by the operator's will: servers are replaced
 * by fresh ones as lockbroker-admin(7) says under "Replacing a server", and one
 * broker after the other is started again with the new list.  So for a while
 * brokers go by different lists.
 */
#include "config.h"

#include <string.h>

#include "answer.h"
#include "electorate.h"
#include "world.h"

static bool
is_listed(const int *list, int n, int server)
{
	int i;

	for (i = 0; i < n; i++)
		if (list[i] == server)
			return true;
	return false;
}

/* Writes who each server votes with, for the report. */
void
electorate_trace(struct world *w)
{
	static const char *const words[] = { "HMGET", WORLD_PREFIX "@guard",
		"node", "set", "open", NULL };
	redisReply *reply;
	const char *said[3];
	int i, k;

	for (i = 0; w->trace.on && i < w->nservers; i++) {
		reply = server_command(&w->servers[i], words);
		for (k = 0; k < 3; k++)
			said[k] = reply->element[k]->str;
		TRACE(w, "%s%s is %s and votes with %s %s", w->servers[i].name,
		    is_listed(w->electorate.list, w->members, i) ? ""
								 : " (spare)",
		    said[0] ? said[0] : "-", said[1] ? said[1] : "-",
		    said[2] ? said[2] : "");
		answer_free(reply);
	}
}

/* Does the process go by another list than the latest? */
static bool
differs(const struct broker *b)
{
	const struct world *w = b->w;
	int i;

	for (i = 0; i < b->nvoters; i++)
		if (!is_listed(w->electorate.list, w->members, b->voters[i]))
			return true;
	return false;
}

static bool
all_told(const struct world *w)
{
	int i;

	for (i = 0; i < w->nbrokers; i++)
		if (differs(&w->brokers[i]))
			return false;
	return true;
}

/* Have all servers that came last been seen ready? */
static bool
are_ready(struct world *w)
{
	struct electorate *e = &w->electorate;
	int i;

	for (i = 0; i < w->nservers; i++)
		if ((e->fresh >> i & 1) != 0 &&
		    quorum_is_whole(&w->servers[i])) {
			e->fresh &= ~(1u << i);
			e->changed_us = world_now(w);
		}
	return e->fresh == 0;
}

void
electorate_part(struct world *w)
{
	struct broker *b;
	struct server *s;

	if (are_ready(w))
		return;
	for (b = w->brokers; b < w->brokers + w->nbrokers; b++)
		b->side = !differs(b);
	for (s = w->servers; s < w->servers + w->nservers; s++)
		if (!is_listed(w->electorate.list, w->members, s->index))
			s->side = 0;
		else if ((w->electorate.fresh >> s->index & 1) != 0)
			s->side = 1;
}

/* The worst time for the network to fall apart: some brokers have moved. */
void
electorate_moves(struct world *w)
{
	if (w->electorate.fresh != 0 && prng_chance(&w->prng, 20))
		faults_part_soon(w);
}

/* The order of a list does not matter. */
bool
electorate_tell(struct broker *b)
{
	struct world *w = b->w;
	int i, n = (int)w->shards, from;

	if (world_ablated(w, ABLATE_FEW)) {
		for (i = 0; i < n; i++)
			b->list[i] = (i + 2 * b->index) % w->members;
		return false;
	}
	from = w->faults.few > 0 ? 0 : (int)prng_below(&w->prng, (uint64_t)n);
	for (i = 0; i < n; i++)
		b->list[i] = w->electorate.list[(from + i) % n];
	return differs(b);
}

/* Another process goes by the new list. */
static void
on_told(void *object, uint64_t tag)
{
	struct broker *b = object;

	(void)tag;
	if (world_now(b->w) >= b->w->heal_us || !electorate_tell(b))
		return;
	TRACE(b->w, "%s is told of other servers", b->name);
	if (!broker_stalled(b) && prng_chance(&b->w->prng, 500))
		faults_stop(b);
	else
		faults_crash(b);
}

/* Some brokers soon, some long after a grace period: meanwhile their lists
 * differ. */
static void
tell_all(struct world *w)
{
	int64_t most_ms;
	int i;

	for (i = 0; i < w->nbrokers; i++) {
		most_ms = prng_chance(&w->prng, 500) ? 100 : 8 * w->lease_ms;
		events_at(&w->events,
		    world_now(w) + prng_range(&w->prng, 1, most_ms) * 1000,
		    on_told, &w->brokers[i], 0);
	}
}

/* A server that has voted before forgets with whom; or forgets everything. */
static void
make_empty(struct server *s)
{
	static const char *const guard[] = { "DEL", WORLD_PREFIX "@guard",
		NULL };
	static const char *const all[] = { "FLUSHALL", NULL };

	answer_free(
	    server_command(s, prng_chance(&s->w->prng, 500) ? guard : all));
	checker_amnesia(s->w);
}

/* A server that is in no list; NULL: none can be used. */
static struct server *
spare(struct world *w, const int *old)
{
	int at = (int)prng_below(&w->prng, (uint64_t)w->nservers), i, k;

	for (i = 0; i < w->nservers; i++) {
		k = (at + i) % w->nservers;
		if (!is_listed(w->electorate.list, w->members, k) &&
		    !is_listed(old, w->members, k) && w->servers[k].up &&
		    !w->servers[k].frozen)
			return &w->servers[k];
	}
	return NULL;
}

/* Do the servers of the list vote?  They began to when all could be reached. */
static bool
has_begun(struct world *w)
{
	static const char *const words[] = { "HMGET", WORLD_PREFIX "@guard",
		"set", "open", NULL };
	redisReply *reply;
	int i, n = 0;

	for (i = 0; i < w->members; i++) {
		reply =
		    server_command(&w->servers[w->electorate.list[i]], words);
		n += reply->element[0]->str != NULL &&
		     reply->element[1]->str == NULL;
		answer_free(reply);
	}
	return n > w->members / 2;
}

/* How many servers of the list may have forgotten something, if this one
 * does. */
static int
count_lost(struct world *w, const struct server *lost)
{
	const struct server *s;
	int i, n = 0;

	for (i = 0; i < w->members; i++) {
		s = &w->servers[w->electorate.list[i]];
		n += s == lost || !quorum_is_whole(&w->servers[s->index]);
	}
	return n;
}

bool
electorate_may_lose(
    struct world *w, const struct server *lost, enum server_data data)
{
	if (!are_ready(w))
		return data != SERVER_SAVED &&
		       count_lost(w, lost) <= (w->members - 1) / 2;
	return data != SERVER_SAVED ||
	       lost->saved_us > w->electorate.changed_us ||
	       w->electorate.changed_us == 0;
}

/* Replaces less than a majority at once, and only if the others are up. */
void
electorate_replace(struct world *w)
{
	int n = (int)prng_range(&w->prng, 1, (w->members - 1) / 2);
	int before[WORLD_SERVERS_MAX], at;
	struct server *s, *old;

	if (!all_told(w) || !are_ready(w) || !has_begun(w))
		return;
	memcpy(before, w->electorate.list, sizeof(before));
	while (n-- > 0 && (s = spare(w, before)) != NULL) {
		at = (int)prng_below(&w->prng, (uint64_t)w->members);
		old = &w->servers[w->electorate.list[at]];
		if (!is_listed(before, w->members, old->index) ||
		    count_lost(w, old) > (w->members - 1) / 2 ||
		    (w->clocks_apart && !quorum_bears(w, old)))
			break;
		TRACE(w, "%s is to take the place of %s", s->name, old->name);
		make_empty(s);
		w->electorate.fresh |= 1u << s->index;
		w->electorate.changed_us = world_now(w);
		w->electorate.list[at] = s->index;
	}
	if (w->electorate.fresh != 0)
		tell_all(w);
}
