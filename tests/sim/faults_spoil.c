/*
 * Somebody spoils what brokers read: a client of Redis writes fences that no
 * broker can have given, or something changes numbers in replies on their way.
 *
 * Spoilt keys may break no promise.  A broker that was told a wrong number may
 * believe it: from then on nothing counts but that no broker ends by it, and the
 * run is over with the first promise that is broken.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "answer.h"
#include "faults_parts.h"
#include "world.h"

#define KEY_SIZE 48
#define HOLD_MS 900

static event_fn on_spoil;

void
faults_spoil_draw(struct world *w, struct prng *p)
{
	unsigned on = 0;

	if ((w->o->topology->faults & FAULT_SPOIL) == 0 && prng_chance(p, 100))
		on |= FAULT_SPOIL;
	if (prng_chance(p, 50))
		on |= FAULT_GARBLE;
	if (w->faults.on != 0 && !w->o->faults_given)
		w->faults.on |= on & w->o->faults;
}

/* Whose counter it is, and what its keys begin with.  Of a quorum, one server
 * at most, and if fences rise by votes alone, no other loses anything. */
static struct server *
target(struct world *w, char prefix[KEY_SIZE / 2])
{
	uint32_t bucket;

	snprintf(prefix, KEY_SIZE / 2, "%s", WORLD_PREFIX);
	if (w->tagged) {
		bucket = (uint32_t)prng_below(&w->faults.late, w->shards);
		snprintf(prefix, KEY_SIZE / 2, WORLD_PREFIX "{%u}:", bucket);
		return &w->servers[w->cluster.owner[bucket]];
	}
	if (w->quorum)
		return w->clocks_apart && (faults_forget(w) ||
					      faults_has(w, FAULT_REPLACE))
			   ? NULL
			   : &w->servers[w->electorate.list[0]];
	return w->replicates ? w->sentinels.master : &w->servers[0];
}

/* A name that clients use is taken for a while, as by a plain client. */
static void
spoil_name(struct world *w, struct server *s, const char *value)
{
	int name = (int)prng_below(&w->faults.late, (uint64_t)w->nnames);
	char key[KEY_SIZE], ttl[8];
	const char *set[] = { "SET", key, value, "NX", "PX", ttl, NULL };
	redisReply *reply;

	snprintf(key, sizeof(key), WORLD_PREFIX "n%d", name);
	snprintf(ttl, sizeof(ttl), "%d", HOLD_MS);
	reply = server_command(s, set);
	if (reply->type == REDIS_REPLY_STATUS) {
		TRACE(w, "somebody writes %s into n%d", value, name);
		checker_plain_alone(w, name);
		checker_plain(w, name, world_now(w) + HOLD_MS * 990);
	}
	answer_free(reply);
}

void
faults_spoil(struct world *w)
{
	static const char *const fences[] = { "0", "x", "nan",
		"4503599627370496", "9007199254740990" };
	const char *fence = fences[prng_below(
	    &w->faults.late, sizeof(fences) / sizeof(fences[0]))];
	char prefix[KEY_SIZE / 2], counter[KEY_SIZE], key[KEY_SIZE], value[64];
	const char *set[] = { "SET", counter, fence, NULL };
	const char *set_key[] = { "SET", key, value, "PX", "900", NULL };
	struct server *s = target(w, prefix);

	if (s == NULL || !s->up || s->frozen || !s->db.master)
		return;
	TRACE(w, "somebody writes the fence %s into %s", fence, s->name);
	snprintf(counter, sizeof(counter), "%s@fence", prefix);
	snprintf(key, sizeof(key), "%sspoilt", prefix);
	snprintf(value, sizeof(value), "x.0123456789abcdef.5|%s|t", fence);
	answer_free(server_command(s, set));
	answer_free(server_command(s, set_key));
	if (w->nservers == 1 && !faults_forget(w) &&
	    prng_chance(&w->faults.late, 500))
		spoil_name(w, s, value);
}

static void
on_spoil(void *object, uint64_t tag)
{
	struct world *w = object;

	(void)tag;
	if (!faults_active(w, FAULT_SPOIL))
		return;
	faults_spoil(w);
	events_at(&w->events,
	    world_now(w) +
		prng_skewed(&w->faults.late, 50000, 8 * w->lease_ms * 1000),
	    on_spoil, w, 0);
}

/* Where this is no fault that the nemesis draws. */
void
faults_spoil_start(struct world *w)
{
	if (faults_has(w, FAULT_SPOIL) &&
	    (w->o->topology->faults & FAULT_SPOIL) == 0)
		on_spoil(w, 0);
}

/* Replies. */

static bool
is_number(const redisReply *r)
{
	return r->type == REDIS_REPLY_INTEGER ||
	       (r->type == REDIS_REPLY_STRING && r->len > 0 &&
		   strspn(r->str, "0123456789") == r->len);
}

/* Returns one of the numbers in it; *n counts them. */
static redisReply *
some_number(struct world *w, redisReply *reply, uint64_t *n)
{
	redisReply *found = NULL, *r;
	size_t i;

	if (is_number(reply) && prng_below(&w->faults.late, ++*n) == 0)
		return reply;
	for (i = 0; i < reply->elements; i++) {
		r = some_number(w, reply->element[i], n);
		if (r != NULL)
			found = r;
	}
	return found;
}

static void
change(struct world *w, redisReply *r)
{
	const long long numbers[] = { 0, -1, r->integer + 1, 2 * r->integer,
		INT64_MAX };
	struct prng *p = &w->faults.late;
	uint64_t how = prng_below(p, 5);

	if (r->type == REDIS_REPLY_INTEGER)
		r->integer = numbers[how];
	else if (how == 0)
		memset(r->str, '0', r->len);
	else if (how == 1)
		memset(r->str, '9', r->len);
	else if (how == 2)
		r->str[0] = '-';
	else
		r->str[prng_below(p, r->len)] = (char)('0' + prng_below(p, 10));
}

void
faults_garble(struct world *w, redisReply *reply)
{
	redisReply *r;
	uint64_t n = 0;

	if (!faults_active(w, FAULT_GARBLE) ||
	    !prng_chance(&w->faults.late, 10))
		return;
	r = some_number(w, reply, &n);
	if (r == NULL)
		return;
	w->faults.garbled = true;
	change(w, r);
	TRACE(w, "a number in a reply is changed");
}
