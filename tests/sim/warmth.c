/*
 * See warmth.h.
 */
#include "config.h"

#include <string.h>

#include "checker_state.h"
#include "client_parts.h"
#include "world.h"

#define NAME 0
#define TAKEN 3	       /* so often */
#define REST_US 82000  /* checker_tried() judges a request after it */
#define SLACK_US 85000 /* more than is left of a warm name then, at least */

void
warmth_draw(struct world *w)
{
	if (!w->hasty || w->nbrokers < 2 || w->nclients < 2)
		return;
	w->warmth.left = TAKEN + 1;
	w->warmth.until_us = (w->grace_ms + 2 * w->lease_ms) * 1000;
}

/* The first client is at the first broker, and the second one at another. */
int
warmth_broker(const struct client *c)
{
	return c->index == 1 ? 1 : 0;
}

/* All rest: the second client has its turn when they have done so, in some runs
 * only when the name can't be warm any more. */
static void
rest(struct world *w)
{
	int64_t warm_us = w->lease_ms * 100, rest_us = REST_US;

	w->warmth.rests = true;
	w->warmth.late = prng_chance(&w->prng, 300);
	if (w->warmth.late)
		rest_us += warm_us;
	else if (warm_us > SLACK_US)
		rest_us += (int64_t)prng_below(
		    &w->prng, (uint64_t)(warm_us - SLACK_US));
	client_plan(&w->clients[1], rest_us, rest_us);
}

static void
lock(struct client *c, int64_t wait_ms)
{
	struct input *in = client_request(c, ASK_LOCK, VERB_LOCK, NAME);

	in->request.wait_ms = wait_ms;
	checker_wants(c->w, in->ref, &in->request);
	client_send(c, in);
}

/* The first client: takes the name, gives it back. */
static void
take(struct client *c)
{
	struct warmth *warmth = &c->w->warmth;

	if (c->untagged != 0)
		return;
	if (client_held_name(c) >= 0) {
		warmth->left--;
		client_unlock(c, NAME);
	} else if (warmth->left > 1) {
		lock(c, CORE_WAIT_FOREVER);
	} else if (!warmth->rests) {
		rest(c->w);
	}
}

/* P5: who uses plain SET NX finds the name free, unless it may be warm.  Of a
 * quorum, a server that could not be reached may have it yet. */
static void
check_store(struct world *w)
{
	struct text key = { "lock:n0", strlen("lock:n0") };
	struct server *s;
	int n = 0;

	if (!faults_none(w) || w->tagged || w->o->tokens ||
	    threads_are_there(w))
		return;
	for (s = w->servers; s < w->servers + w->nservers; s++)
		n += redis_db_find(&s->db, key) != NULL;
	if (n > (w->quorum ? w->members / 2 : 0))
		world_fail(
		    w, "P5", "n%d is in the store, but nobody has it", NAME);
}

/* Does something else that tells whether the name is taken. */
static bool
asks_otherwise(struct client *c)
{
	struct world *w = c->w;
	uint64_t dice = prng_below(&w->prng, 8);

	if (w->o->alone || dice < 4)
		return false;
	if (dice == 4)
		client_send(
		    c, client_request(c, ASK_STATUS, VERB_STATUS, NAME));
	else if (dice == 5 && uses_has(w, USE_FORCE))
		client_send(
		    c, client_request(c, ASK_FORCE, VERB_UNLOCK_FORCE, NAME));
	else
		return dice > 5 && pollers_claim(w, NAME, c->broker);
	return true;
}

void
warmth_told(const struct poller *p, enum token_answer answer)
{
	struct world *w = p->w;

	if (w->warmth.claims != p)
		return;
	w->warmth.claims = NULL;
	if (answer == TOKEN_BUSY)
		checker_claimed(w, p, w->warmth.hush_us);
}

/* The second one: wants it once, and all go on at random. */
static void
want(struct client *c)
{
	struct world *w = c->w;

	if (!w->warmth.rests)
		return;
	if (w->warmth.late)
		check_store(w);
	w->warmth.hush_us = w->checker.grounds[NAME].hush_us;
	w->warmth.left = 0;
	if (!asks_otherwise(c))
		lock(c, prng_chance(&w->prng, 500) ? 0 : CORE_WAIT_FOREVER);
}

bool
warmth_acts(struct client *c)
{
	struct warmth *warmth = &c->w->warmth;

	if (warmth->left == 0)
		return false;
	if (world_now(c->w) > warmth->until_us) {
		warmth->left = 0;
		return false;
	}
	if (c->index == 0)
		take(c);
	else if (c->index == 1)
		want(c);
	if (warmth->left > 0 && !(warmth->rests && c->index == 1))
		client_plan(c, 5000, 20000);
	return true;
}
