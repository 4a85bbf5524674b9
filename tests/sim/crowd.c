/*
 * What the crowd does, and what it is told.  A request's reference tells the
 * subject: it is twice the number of the name, and one more for an UNLOCK.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/xmalloc.h"

#include "checker_state.h"
#include "world.h"

#define REQUESTS_A_TURN 64 /* as front/front.c numbers them */
#define TICK_US 50000

static event_fn crowd_on_tick;

void
crowd_make(struct world *w)
{
	struct crowd *c = &w->crowd;
	int i;

	if (c->n == 0)
		return;
	/* Of many losses the log tells only the first by name. */
	w->uses.on &= ~(unsigned)USE_DRILL;
	c->names = xcalloc((size_t)c->n, sizeof(*c->names));
	for (i = 0; i < c->n; i++)
		c->names[i].owner = -1;
	TRACE(w, "a crowd, %d names", c->n);
}

void
crowd_free(struct world *w)
{
	free(w->crowd.names);
}

void
crowd_begin(struct broker *b)
{
	struct core_event event = { .kind = CORE_OPEN };

	if (b->w->crowd.n == 0)
		return;
	b->crowd = CROWD_FIRST + b->w->crowd.sessions++;
	event.u.open.session = b->crowd;
	event.u.open.peer = "crowd";
	broker_step(b, &event);
	events_at(&b->w->events, world_now(b->w) + TICK_US, crowd_on_tick, b,
	    b->life);
}

void
crowd_end(struct broker *b)
{
	struct crowd *c = &b->w->crowd;
	int i;

	b->crowd = 0;
	for (i = 0; i < c->n; i++) {
		c->names[i].asked[b->index] = false;
		c->names[i].lease_us[b->index] = 0;
		if (c->names[i].owner == b->index)
			c->names[i].owner = -1;
	}
}

static void
crowd_on_tick(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (!b->alive || b->life != tag || b->crowd == 0)
		return;
	broker_input(b, input_new(INPUT_CROWD, 0));
	events_at(&b->w->events, world_now(b->w) + TICK_US, crowd_on_tick, b,
	    b->life);
}

/* All of them leave. */
static void
leave(struct broker *b)
{
	struct core_event event = { .kind = CORE_GONE };

	event.u.gone.session = b->crowd;
	event.u.gone.orderly = event.u.gone.quit = true;
	crowd_end(b);
	broker_step(b, &event);
}

static void
ask(struct broker *b, int at, bool unlock)
{
	struct world *w = b->w;
	struct core_event event = { .kind = CORE_REQUEST };
	struct core_request rq = { .verb = unlock ? VERB_UNLOCK : VERB_LOCK };
	struct core_name name;
	char text[16];

	name.n = (size_t)snprintf(text, sizeof(text), "m%d", at);
	name.p = text;
	rq.ref = (uint64_t)at * 2 + unlock;
	rq.names = &name;
	rq.nnames = 1;
	rq.queue_limit = UINT64_MAX;
	if (!unlock && prng_chance(&w->prng, 200))
		rq.wait_ms = prng_skewed(&w->prng, 1, 2 * w->lease_ms);
	event.u.request.session = b->crowd;
	event.u.request.request = &rq;
	broker_step(b, &event);
}

void
crowd_act(struct broker *b)
{
	struct world *w = b->w;
	struct crowd_name *name;
	int i, at;

	if (b->crowd == 0 || b->stopping)
		return;
	if (world_now(w) >= w->leave_us) {
		leave(b);
		return;
	}
	for (i = 0; i < REQUESTS_A_TURN && !w->failed; i++) {
		at = (int)prng_below(&w->prng, (uint64_t)w->crowd.n);
		name = &w->crowd.names[at];
		if (!name->asked[b->index]) {
			name->asked[b->index] = true;
			ask(b, at, false);
		} else if (name->owner == b->index &&
			   prng_chance(&w->prng, 20)) {
			name->owner = -1;
			ask(b, at, true);
		}
	}
}

/* A frozen broker can't say that its lease is over. */
static bool
is_owned(const struct world *w, const struct crowd_name *name)
{
	const struct broker *b = &w->brokers[name->owner];

	return !checker_is_mute(w, b) ||
	       (!w->quorum && world_now(w) < name->lease_us[b->index]);
}

static void
granted(struct broker *b, int at, uint64_t fence)
{
	struct world *w = b->w;
	struct crowd_name *name = &w->crowd.names[at];
	int i;

	if (name->owner >= 0 && name->owner != b->index && is_owned(w, name) &&
	    !faults_excuse(w))
		world_fail(w, "P1",
		    "m%d: %s grants it (fence %llu) while b%d vouches for it "
		    "(fence %llu)",
		    at, b->name, (unsigned long long)fence, name->owner,
		    (unsigned long long)name->fence);
	if (fence <= name->fence && checker_fences_rise(w) &&
	    !faults_excuse_fence(w))
		world_fail(w, "P2", "m%d: fence %llu after fence %llu, by %s",
		    at, (unsigned long long)fence,
		    (unsigned long long)name->fence, b->name);
	/* What the others had is over: a new lease of theirs, which a message may
	 * begin, has another end. */
	for (i = 0; i < w->nbrokers && name->owner != b->index; i++)
		if (i != b->index)
			name->lease_us[i] = 0;
	name->owner = b->index;
	name->fence = fence;
}

static void
replied(struct broker *b, const struct effects *fx, const struct effect *e)
{
	struct crowd_name *name = &b->w->crowd.names[e->ref / 2];
	uint64_t fence = 0;
	uint32_t i;

	for (i = 0; i < e->nfields; i++)
		if (fx->fields[e->field + i].id == FIELD_FENCE)
			fence = fx->fields[e->field + i].num;
	if (e->ref % 2 == 0 && e->status == STATUS_OK)
		granted(b, (int)(e->ref / 2), fence);
	else
		name->asked[b->index] = false;
}

static void
happened(struct broker *b, const struct effects *fx, const struct effect *e)
{
	struct crowd_name *name;
	int i;

	if (e->event == EVENT_SHUTDOWN) {
		for (i = 0; i < b->w->crowd.n; i++)
			if (b->w->crowd.names[i].owner == b->index)
				b->w->crowd.names[i].owner = -1;
		return;
	}
	i = atoi(buf_data(&fx->text) + e->name + 1);
	name = &b->w->crowd.names[i];
	if (faults_none(b->w))
		world_fail(b->w, "P5",
		    "%s tells the crowd that m%d is lost or at risk, and "
		    "nothing is wrong",
		    b->name, i);
	if (e->event != EVENT_LOST)
		return;
	name->asked[b->index] = false;
	if (name->owner == b->index)
		name->owner = -1;
}

void
crowd_tell(struct broker *b, const struct effects *fx, const struct effect *e)
{
	if (b->crowd != e->conn)
		return;
	if (e->kind == EFFECT_REPLY)
		replied(b, fx, e);
	else if (e->kind == EFFECT_EVENT)
		happened(b, fx, e);
}

void
crowd_lease(struct broker *b, const char *name, int64_t sent_ms)
{
	struct world *w = b->w;
	int64_t end_us =
	    broker_world_us(b, sent_ms + w->lease_ms - w->lease_ms / 100 - 2);
	int64_t *lease_us = &w->crowd.names[atoi(name + 1)].lease_us[b->index];

	if (end_us > *lease_us)
		*lease_us = end_us;
}
