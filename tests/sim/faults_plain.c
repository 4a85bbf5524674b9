/*
 * A plain client, which locks a name with SET NX PX and knows no broker.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "faults_parts.h"
#include "world.h"

/* The plain client lets go, if it still has the name. */
static void
plain_ends(void *object, uint64_t tag)
{
	struct world *w = object;
	struct server *s = &w->servers[0];
	char key[16], token[32];
	const char *get[] = { "GET", key, NULL };
	const char *del[] = { "DEL", key, NULL };
	redisReply *reply;

	snprintf(key, sizeof(key), WORLD_PREFIX "n%d", (int)(tag % 10));
	snprintf(
	    token, sizeof(token), "plain-%llu", (unsigned long long)(tag / 10));
	reply = server_command(s, get);
	if (reply->type == REDIS_REPLY_STRING &&
	    strcmp(reply->str, token) == 0) {
		TRACE(w, "plain client lets n%d go", (int)(tag % 10));
		checker_plain(w, (int)(tag % 10), 0);
		answer_free(server_command(s, del));
	}
	answer_free(reply);
}

void
faults_plain(struct world *w)
{
	struct server *s = &w->servers[0];
	int name = (int)prng_below(&w->prng, (uint64_t)w->nnames);
	int64_t hold_us = faults_some_us(w, 10, 2 * w->lease_ms);
	char key[16], token[32], ttl[32];
	const char *set[] = { "SET", key, token, "NX", "PX", ttl, NULL };
	uint64_t n = ++w->faults.plain_token;
	redisReply *reply;

	if (!s->up || s->frozen)
		return;
	snprintf(key, sizeof(key), WORLD_PREFIX "n%d", name);
	snprintf(token, sizeof(token), "plain-%llu", (unsigned long long)n);
	snprintf(ttl, sizeof(ttl), "%lld", (long long)(hold_us / 1000));
	reply = server_command(s, set);
	if (reply->type == REDIS_REPLY_STATUS) {
		TRACE(w, "plain client takes n%d for %s ms", name, ttl);
		checker_plain_alone(w, name);
		/* It counts by its own clock, with a margin for drift. */
		checker_plain(w, name, world_now(w) + hold_us * 99 / 100);
		if (prng_chance(&w->prng, 600))
			events_at(&w->events,
			    world_now(w) + prng_range(&w->prng, 1000, hold_us),
			    plain_ends, w, n * 10 + (uint64_t)name);
	}
	answer_free(reply);
}
