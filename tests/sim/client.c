/*
 * What clients do, and the wire between clients and brokers.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "client_parts.h"
#include "world.h"

#define PATIENCE_US 4000000 /* of a client that leaves, with its last request */

static event_fn client_on_answer;
static event_fn client_on_letter;
static event_fn client_on_tick;
static event_fn client_on_reset;
static event_fn client_on_unreachable;

/* To the broker. */

void
client_send(struct client *c, struct input *in)
{
	struct world *w = c->w;
	struct letter *l = xcalloc(1, sizeof(*l));
	int64_t at_us = world_now(w) + world_delay_us(w);

	if (at_us < c->letter_us)
		at_us = c->letter_us;
	c->letter_us = at_us;
	l->in = in;
	l->broker = c->broker;
	l->life = c->life;
	STAILQ_INSERT_TAIL(&c->letters, l, entry);
	events_at(&w->events, at_us, client_on_letter, c, 0);
}

static void
client_on_letter(void *object, uint64_t tag)
{
	struct client *c = object;
	struct letter *l = STAILQ_FIRST(&c->letters);
	struct broker *b;

	(void)tag;
	if (l == NULL)
		return;
	STAILQ_REMOVE_HEAD(&c->letters, entry);
	b = &c->w->brokers[l->broker];
	if (b->alive && b->life == l->life)
		broker_input(b, l->in);
	else
		free(l->in);
	free(l);
}

/* To the client. */

void
client_tell(struct world *w, struct broker *b, const struct answer *a)
{
	struct client *c;
	struct answer *copy;
	int64_t at_us;

	if (a->sitting == 0) {
		checker_line(w, b, a);
		return;
	}
	c = checker_client(w, a->sitting);
	at_us = world_now(w) + world_delay_us(w);
	checker_line(w, b, a);
	if (w->failed || c->sitting != a->sitting)
		return;
	copy = xmalloc(sizeof(*copy));
	*copy = *a;
	if (at_us < c->answer_us)
		at_us = c->answer_us;
	c->answer_us = at_us;
	STAILQ_INSERT_TAIL(&c->answers, copy, entry);
	events_at(&w->events, at_us, client_on_answer, c, 0);
}

void
client_lose(struct client *c)
{
	c->sitting = 0;
	c->untagged = 0;
	c->tagged = 0;
	c->closing = false;
}

void
client_forget(struct client *c)
{
	client_lose(c);
	c->key[0] = '\0';
	memset(c->beliefs, 0, sizeof(c->beliefs));
	memset(c->permits, 0, sizeof(c->permits));
	c->drilled = 0;
	c->grace_ms = 0;
}

void
client_plan(struct client *c, int64_t least_us, int64_t most_us)
{
	c->tick++;
	if (c->w->hasty && most_us > least_us)
		most_us = least_us + (most_us - least_us) / 64;
	events_at(&c->w->events,
	    world_now(c->w) + prng_skewed(&c->w->prng, least_us, most_us),
	    client_on_tick, c, c->tick);
}

static void
client_on_reset(void *object, uint64_t tag)
{
	struct client *c = object;

	if (c->sitting != tag)
		return;
	history_note(&c->w->history, world_now(c->w), HISTORY_INFO, c->session,
	    HISTORY_CLOSED, NULL, 0);
	if (c->key[0] != '\0')
		client_lose(c);
	else
		client_forget(c);
	client_plan(c, 1000, 500000);
}

static void
client_reset_later(struct client *c)
{
	struct world *w = c->w;

	if (c->sitting != 0)
		events_at(&w->events, world_now(w) + world_delay_us(w),
		    client_on_reset, c, c->sitting);
}

void
client_hung_up(struct world *w, uint64_t sitting)
{
	struct client *c = checker_client(w, sitting);

	if (c->sitting == sitting)
		client_reset_later(c);
}

void
client_handed(struct world *w, uint64_t sitting, struct broker *to)
{
	struct client *c = checker_client(w, sitting);
	struct letter *l;

	STAILQ_FOREACH (l, &c->letters, entry)
		if (l->in->sitting == sitting) {
			l->broker = to->index;
			l->life = to->life;
		}
	if (c->sitting != sitting)
		return;
	c->broker = to->index;
	c->life = to->life;
}

void
client_broker_died(struct world *w, struct broker *b)
{
	struct client *c;
	int i;

	for (i = 0; i < w->nclients; i++) {
		c = &w->clients[i];
		if (c->broker == b->index)
			client_reset_later(c);
	}
}

/* Deeds. */

static void
send_open(struct client *c)
{
	struct world *w = c->w;
	struct broker *b;

	if (w->warmth.left > 0)
		c->broker = warmth_broker(c);
	else if (prng_chance(&w->prng, 200) && c->key[0] == '\0')
		c->broker = (int)prng_below(&w->prng, (uint64_t)w->nbrokers);
	b = leaving_find(w, c->broker, false);
	if (b == NULL) {
		client_plan(c, 1000, 100000);
		return;
	}
	c->broker = b->index;
	if (!b->alive || b->stopping) {
		client_forget(c);
		c->broker = (c->broker + 1) % w->nbrokers;
		client_plan(c, 10000, 500000);
		return;
	}
	c->leaves = false;
	c->session = c->sitting = ++w->next_session;
	c->life = b->life;
	c->letter_us = 0;
	c->answer_us = 0;
	checker_opened(w, c);
	client_send(c, input_new(INPUT_OPEN, c->sitting));
	if (c->key[0] != '\0')
		client_resume(c);
	client_plan(c, 1000, 100000);
}

/* A request for the names of the mask, in random order. */
static struct input *
names_input(
    struct client *c, enum ask_kind kind, enum verb_id verb, unsigned mask)
{
	struct input *in = input_new(INPUT_REQUEST, c->sitting);
	struct core_request *rq = &in->request;
	int first = (int)prng_below(&c->w->prng, CLIENT_NAMES_MAX), i, at;
	int names[CLIENT_NAMES_MAX];
	unsigned n = 0;

	for (i = 0; i < CLIENT_NAMES_MAX; i++) {
		at = (first + i) % CLIENT_NAMES_MAX;
		if (((mask >> at) & 1) == 0)
			continue;
		snprintf(in->texts[n], sizeof(in->texts[n]), "n%d", at);
		in->names[n].p = in->texts[n];
		in->names[n].n = strlen(in->texts[n]);
		names[n++] = at;
	}
	in->ref = checker_asked(c->w, c, kind, n, names);
	rq->verb = verb;
	rq->ref = in->ref;
	rq->names = in->names;
	rq->nnames = n;
	rq->untagged = true;
	rq->queue_limit = UINT64_MAX;
	c->untagged = in->ref;
	return in;
}

struct input *
client_request(
    struct client *c, enum ask_kind kind, enum verb_id verb, int name)
{
	return names_input(c, kind, verb, 1u << name);
}

int64_t
client_choose_wait(struct client *c, bool holds)
{
	struct prng *p = &c->w->prng;

	if (prng_chance(p, 250))
		return 0;
	if ((!holds || (c->w->circles && prng_chance(p, 500))) &&
	    prng_chance(p, 400))
		return CORE_WAIT_FOREVER;
	return prng_skewed(p, 1, 4 * c->w->lease_ms);
}

/* One name, or several at once. */
static unsigned
choose_names(struct world *w)
{
	unsigned one = 1u << prng_below(&w->prng, (uint64_t)w->nnames);
	unsigned all = (1u << w->nnames) - 1;

	if (!w->groups || prng_chance(&w->prng, 600))
		return one;
	return one | ((unsigned)prng_next(&w->prng) & all);
}

/* Long enough for the name still to linger when the others have gone. */
static void
choose_keep(struct client *c, struct core_request *rq)
{
	struct prng *p = &c->w->uses.prng;

	if (prng_chance(p, 150))
		rq->keep_ms = prng_skewed(p, 1, 3 * c->w->lease_ms);
	if (prng_chance(p, 150))
		rq->delay_ms = prng_skewed(p, 1, 2 * c->w->lease_ms);
}

static void
send_lock(struct client *c, bool holds)
{
	struct world *w = c->w;
	struct prng *p = &w->prng;
	unsigned mask = choose_names(w);
	struct input *in = names_input(c, ASK_LOCK, VERB_LOCK, mask);
	struct core_request *rq = &in->request;

	rq->shared = w->shares && prng_chance(p, 600);
	rq->wait_ms = client_choose_wait(c, holds);
	if (prng_chance(p, 100)) {
		rq->has_hold = true;
		rq->hold_ms = prng_skewed(p, 1, 2 * w->lease_ms);
	}
	if (rq->shared && uses_has(w, USE_KEEPS))
		choose_keep(c, rq);
	if (!rq->shared && prng_chance(p, 60))
		rq->keep_ms = prng_skewed(p, 1, 2 * w->lease_ms);
	if (!rq->shared && prng_chance(p, 60))
		rq->delay_ms = prng_skewed(p, 1, w->lease_ms);
	if (prng_chance(p, 50))
		rq->queue_limit = prng_below(p, 3);
	if (!rq->shared && rq->nnames == 1)
		rq->notes[NOTE_VALUE] = in->names[0];
	if (c->tagged == 0 && prng_chance(p, 300)) {
		rq->untagged = false;
		c->tagged = in->ref;
		c->untagged = 0;
	}
	checker_wants(w, in->ref, rq);
	client_send(c, in);
	if (c->untagged == 0 || prng_chance(p, 100))
		client_plan(c, 1000, w->lease_ms * 1000);
}

void
client_unlock(struct client *c, int name)
{
	unsigned mask = 1u << name;
	int i;

	for (i = 0; i < CLIENT_NAMES_MAX && c->w->groups; i++)
		if (c->beliefs[i].depth > 0 && prng_chance(&c->w->prng, 500))
			mask |= 1u << i;
	for (i = 0; i < CLIENT_NAMES_MAX; i++)
		if (((mask >> i) & 1) != 0 && c->beliefs[i].depth > 0)
			c->beliefs[i].depth--;
	client_send(c, names_input(c, ASK_UNLOCK, VERB_UNLOCK, mask));
}

static void
send_extend(struct client *c, int name)
{
	struct world *w = c->w;
	struct input *in = client_request(c, ASK_EXTEND, VERB_EXTEND, name);
	struct core_request *rq = &in->request;

	rq->has_hold = true;
	if (prng_chance(&w->prng, 700))
		rq->hold_ms = prng_skewed(&w->prng, 1, 3 * w->lease_ms);
	checker_wants(w, in->ref, rq);
	client_send(c, in);
}

static void
send_ping(struct client *c)
{
	struct input *in = input_new(INPUT_PING, c->sitting);

	in->ref = checker_asked(c->w, c, ASK_PING, 0, NULL);
	c->untagged = in->ref;
	client_send(c, in);
}

static void
send_cancel(struct client *c)
{
	struct input *in = input_new(INPUT_CANCEL, c->sitting);

	in->ref = checker_asked(c->w, c, ASK_CANCEL, 0, NULL);
	in->request.ref = c->tagged;
	checker_cancels(c->w, c->tagged);
	c->untagged = in->ref;
	client_send(c, in);
}

/* Ends the connection: reset, or in order, or only the sending side. */
static void
send_close(struct client *c, bool reset)
{
	struct input *in;

	if (!reset && prng_chance(&c->w->prng, 500)) {
		c->closing = true;
		client_send(c, input_new(INPUT_DRAIN, c->sitting));
		return;
	}
	in = input_new(INPUT_GONE, c->sitting);
	in->orderly = !reset;
	in->quit = !reset && c->untagged == 0 && c->tagged == 0;
	client_send(c, in);
	history_note(&c->w->history, world_now(c->w), HISTORY_INFO, c->session,
	    HISTORY_CLOSED, NULL, 0);
	client_forget(c);
	client_plan(c, 1000, 1000000);
}

static void
client_on_unreachable(void *object, uint64_t tag)
{
	struct client *c = object;
	struct world *w = c->w;
	struct broker *b = &w->brokers[checker_broker(w, tag)];
	struct input *in;

	if (!b->alive || checker_sitting_gone(w, tag))
		return;
	in = input_new(INPUT_GONE, tag);
	/* A proxy closes as if its client had, and so does the kernel for one
	 * that is killed. */
	in->orderly =
	    (checker_is_proxied(w, tag) || checker_is_by_quit_only(w, tag)) &&
	    prng_chance(&w->prng, 800);
	broker_input(b, in);
}

/*
 * The client counts on what it was told (the checker does, for it); what it
 * had sent is lost; and it comes back over another connection, as a new
 * client.
 */
void
client_cut_off(struct client *c)
{
	struct world *w = c->w;
	int64_t most_us = 6 * w->lease_ms * 1000;
	struct letter *l;

	if (c->sitting == 0 || c->closing || c->key[0] != '\0')
		return;
	/* The broker must know the connection. */
	STAILQ_FOREACH (l, &c->letters, entry)
		if (l->in->kind == INPUT_OPEN)
			return;
	TRACE(w, "client %d is cut off, with connection %llu", c->index,
	    (unsigned long long)c->sitting);
	STAILQ_FOREACH (l, &c->letters, entry)
		l->life = 0;
	events_at(&w->events, world_now(w) + prng_skewed(&w->prng, 1, most_us),
	    client_on_unreachable, c, c->sitting);
	history_note(&w->history, world_now(w), HISTORY_INFO, c->session,
	    HISTORY_CLOSED, NULL, 0);
	client_forget(c);
	client_plan(c, 1000, w->lease_ms * 1000);
}

int
client_held_name(struct client *c)
{
	int first = (int)prng_below(&c->w->prng, CLIENT_NAMES_MAX), i, at;

	for (i = 0; i < CLIENT_NAMES_MAX; i++) {
		at = (first + i) % CLIENT_NAMES_MAX;
		if (c->beliefs[at].depth > 0)
			return at;
	}
	return -1;
}

/* The kernel alone answers no STATUS. */
static void
send_status(struct client *c, int name)
{
	if (c->w->o->alone)
		send_ping(c);
	else
		client_send(
		    c, client_request(c, ASK_STATUS, VERB_STATUS, name));
}

/* A client that holds something does one thing. */
static void
act_holding(struct client *c, int name)
{
	uint64_t dice = prng_below(&c->w->prng, 100);

	if (dice < 55)
		client_unlock(c, name);
	else if (dice < 65)
		send_close(c, dice < 60);
	else if (dice < 75)
		send_extend(c, name);
	else if (dice < 85)
		send_ping(c);
	else if (dice < 90)
		send_status(c, name);
	else
		send_lock(c, true);
}

struct input *
client_object(struct client *c, enum ask_kind kind, enum verb_id verb,
    char letter, int number)
{
	struct input *in = input_new(INPUT_REQUEST, c->sitting);
	struct core_request *rq = &in->request;

	snprintf(in->texts[0], sizeof(in->texts[0]), "%c%d", letter, number);
	in->names[0].p = in->texts[0];
	in->names[0].n = strlen(in->texts[0]);
	in->ref = checker_asked(c->w, c, kind, 0, NULL);
	rq->verb = verb;
	rq->ref = in->ref;
	rq->names = in->names;
	rq->nnames = 1;
	rq->untagged = true;
	rq->queue_limit = UINT64_MAX;
	c->untagged = in->ref;
	return in;
}

static void
act(struct client *c)
{
	struct world *w = c->w;
	uint64_t dice = prng_below(&c->w->prng, 100);
	int name = client_held_name(c);

	if (c->untagged != 0) {
		/* It has no answer yet, and its patience is at an end. */
		if (dice < 30)
			send_close(c, dice < 15);
		return;
	}
	/* It goes elsewhere, as it has nothing here. */
	if (c->leaves && name < 0 && c->tagged == 0 &&
	    prng_chance(&w->leaving, 300)) {
		send_close(c, false);
		return;
	}
	if (c->drilled != 0 && client_lets_go(c))
		return;
	if (w->uses.on != 0 && uses_act(c))
		return;
	if (w->permits[0] > 0 && prng_chance(&w->prng, 300))
		client_use_permits(c);
	else if (c->tagged != 0 && dice < 30)
		send_cancel(c);
	else if (name >= 0)
		act_holding(c, name);
	else if (dice < 85)
		send_lock(c, false);
	else if (dice < 95)
		send_status(c, (int)prng_below(&w->prng, (uint64_t)w->nnames));
	else
		send_close(c, dice < 97);
}

/* At the end of a run all clients let go and leave. */
static void
act_leaving(struct client *c)
{
	int name = client_held_name(c);

	if (c->sitting == 0 || c->closing) {
		c->left = c->sitting == 0;
		return;
	}
	if (name >= 0 && c->untagged == 0)
		client_unlock(c, name);
	else if (c->tagged != 0 && c->untagged == 0)
		send_cancel(c);
	else if (c->untagged == 0 || prng_chance(&c->w->prng, 10) ||
		 world_now(c->w) > c->w->leave_us + PATIENCE_US)
		/* Clients may wait for each other in a circle. */
		send_close(c, prng_chance(&c->w->prng, 500));
	client_plan(c, 5000, 100000);
}

static void
client_on_tick(void *object, uint64_t tag)
{
	struct client *c = object;

	if (tag != c->tick)
		return;
	if (world_now(c->w) >= c->w->leave_us)
		act_leaving(c);
	else if (c->closing)
		return;
	else if (c->sitting == 0)
		send_open(c);
	else if (!warmth_acts(c))
		act(c);
}

static void
believe(struct client *c, const struct answer *a, const struct ask *ask)
{
	struct belief *belief;
	unsigned i;

	for (i = 0; i < ask->nnames; i++) {
		belief = &c->beliefs[ask->names[i]];
		if (ask->kind == ASK_LOCK && a->status == STATUS_OK) {
			belief->depth++;
			belief->fence = a->fences[i];
			c->drilled &= ~(1u << ask->names[i]);
		}
		/* One of several names was not held; which one, it will find
		 * out. */
		if (ask->kind == ASK_UNLOCK && a->status == STATUS_ERR)
			belief->depth = ask->nnames > 1;
	}
}

/* What a client does with a line. */
static void
hear(struct client *c, const struct answer *a)
{
	const struct ask *ask = a->is_event ? NULL : checker_ask(c->w, a->ref);

	checker_heard(c->w, c, a, ask);
	if (a->is_event) {
		if (a->name[0] == 's') {
			c->permits[a->name[1] - '0'] = 0;
			return;
		}
		if (a->event == EVENT_LOST)
			c->beliefs[a->name[1] - '0'].depth = 0;
		if (a->drilled)
			client_drilled(c, a->name[1] - '0');
		if (a->event == EVENT_SHUTDOWN)
			memset(c->beliefs, 0, sizeof(c->beliefs));
		c->leaves = c->leaves || a->event == EVENT_LEAVING;
		return;
	}
	if (a->ref == c->untagged)
		c->untagged = 0;
	if (a->ref == c->tagged)
		c->tagged = 0;
	if (ask->kind == ASK_ACQUIRE && a->status == STATUS_OK)
		c->permits[ask->object] += ask->number;
	believe(c, a, ask);
	client_hear_session(c, a, ask);
}

static void
client_on_answer(void *object, uint64_t tag)
{
	struct client *c = object;
	struct answer *a = STAILQ_FIRST(&c->answers);
	struct world *w = c->w;

	(void)tag;
	if (a == NULL)
		return;
	STAILQ_REMOVE_HEAD(&c->answers, entry);
	if (a->sitting == c->sitting) {
		hear(c, a);
		if (c->untagged == 0 && !c->closing)
			client_plan(c, 200,
			    prng_chance(&w->prng, 700)
				? 20000
				: 2 * w->lease_ms * 1000);
	}
	free(a);
}

void
client_init(struct client *c, struct world *w, int index)
{
	memset(c, 0, sizeof(*c));
	c->w = w;
	c->index = index;
	c->broker = index % w->nbrokers;
	c->pings = prng_chance(&w->prng, 500);
	STAILQ_INIT(&c->answers);
	STAILQ_INIT(&c->letters);
	client_plan(c, 1000, 1000000);
}

void
client_leave(struct client *c)
{
	client_plan(c, 1000, 1000000);
}

void
client_fini(struct client *c)
{
	struct answer *a;
	struct letter *l;

	while ((a = STAILQ_FIRST(&c->answers)) != NULL) {
		STAILQ_REMOVE_HEAD(&c->answers, entry);
		free(a);
	}
	while ((l = STAILQ_FIRST(&c->letters)) != NULL) {
		STAILQ_REMOVE_HEAD(&c->letters, entry);
		free(l->in);
		free(l);
	}
}
