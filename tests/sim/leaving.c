/*
 * See leaving.h.
 */
#include "config.h"

#include "core/dump.h"
#include "redis/redis.h"

#include "faults_parts.h"
#include "leaving.h"
#include "world.h"

#define LOOK_US 50000	   /* between two looks at a process */
#define READY_LOOKS 40	   /* then it is let go on as it is */
#define INHERIT_US 1000000 /* until the second report */

static event_fn leaving_on_tick;
static event_fn leaving_on_heir;
static event_fn leaving_on_report;
static event_fn leaving_on_look;

void
leaving_draw(struct world *w)
{
	prng_seed(&w->leaving, w->o->seed ^ 0x6c65617665);
	w->places = w->nbrokers;
	if (w->quorum || w->tagged || w->replicates || w->crowd.n > 0 ||
	    w->nbrokers > WORLD_BROKERS_MAX / 2 ||
	    (w->owned && w->nbrokers > 1))
		return;
	if (w->o->ablation != NULL)
		w->leaves = world_ablated(w, ABLATE_TWIN) ||
			    world_ablated(w, ABLATE_LEAVES);
	else
		w->leaves = w->o->leave;
	if (w->leaves)
		w->nbrokers *= 2;
}

/* The other process of its place; NULL: there is only one. */
static struct broker *
twin(const struct broker *b)
{
	struct world *w = b->w;

	if (!w->leaves)
		return NULL;
	return &w->brokers[(b->index + w->places) % w->nbrokers];
}

struct broker *
leaving_find(struct world *w, int index, bool resumes)
{
	struct broker *b = &w->brokers[index], *other = twin(b);

	if (other == NULL || b->part == PART_ALONE)
		return b;
	/* The new process hands the connection on to the one that has it. */
	if (resumes && b->part == PART_LEAVING && b->alive && !b->stopping)
		return b;
	return other;
}

/* A token says which process has a name, so no two have the same number. */
uint64_t
leaving_instance(const struct broker *b, uint64_t drawn)
{
	if (b->part == PART_HEIR && world_ablated(b->w, ABLATE_TWIN))
		return twin(b)->instance;
	return drawn;
}

int64_t
leaving_more_us(const struct world *w)
{
	return w->leaves ? (w->lease_ms + 2 * w->pad_ms) * 1000 : 0;
}

bool
leaving_shared(const struct broker *b)
{
	const struct broker *other = twin(b);

	return other != NULL && other->alive && other->part != PART_HEIR;
}

bool
leaving_died(struct broker *b)
{
	struct broker *other = twin(b);

	if (other == NULL)
		return true;
	if (b->part == PART_ALONE && other->part != PART_HEIR)
		return true;
	/* The new process goes on without the old one. */
	if (b->part == PART_ALONE) {
		other->part = PART_ALONE;
		redis_own(other->redis, true);
	}
	b->part = PART_ABSENT;
	return false;
}

void
leaving_stops(struct broker *b)
{
	struct broker *other = twin(b);

	if (other == NULL || b->part != PART_ALONE || other->part != PART_HEIR)
		return;
	broker_crash(other);
	other->part = PART_ABSENT;
}

/* The old process has no client any more, and nothing. */
static bool
has_left(const struct broker *b)
{
	const struct client *c;
	int i;

	for (i = 0; i < b->w->nclients; i++) {
		c = &b->w->clients[i];
		if (c->broker == b->index && c->sitting != 0)
			return false;
	}
	return core_left(b->core);
}

static void
leaving_on_look(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (b->life != tag || !b->alive)
		return;
	if (!b->stopping && !broker_stalled(b) && has_left(b))
		broker_stop(b);
	if (b->stopping && core_stopped(b->core)) {
		broker_crash(b);
		b->part = PART_ABSENT;
		return;
	}
	events_at(
	    &b->w->events, world_now(b->w) + LOOK_US, leaving_on_look, b, tag);
}

/* The new process has heard from the old one for the second time. */
static void
leaving_on_report(void *object, uint64_t tag)
{
	struct core_event event = { .kind = CORE_HEIR };
	struct broker *b = object;

	if (b->life != tag || !b->alive || b->stopping)
		return;
	if (broker_stalled(b)) {
		events_at(&b->w->events, world_now(b->w) + LOOK_US,
		    leaving_on_report, b, tag);
		return;
	}
	broker_step(b, &event);
	broker_wake(b);
}

static void
take_over(struct broker *old, struct broker *heir)
{
	struct core_event event = { .kind = CORE_LEAVE };
	struct world *w = old->w;

	TRACE(w, "%s is replaced: process %d by %d", old->name, old->index,
	    heir->index);
	heir->part = PART_ALONE;
	old->part = PART_LEAVING;
	redis_own(old->redis, false);
	redis_own(heir->redis, true);
	event.u.leave.until_ms = INT64_MAX;
	broker_step(old, &event);
	broker_wake(old);
	events_at(&w->events, world_now(w) + LOOK_US, leaving_on_look, old,
	    old->life);
	events_at(&w->events, world_now(w) + INHERIT_US, leaving_on_report,
	    heir, heir->life);
}

static bool
is_ready(const struct broker *b)
{
	struct core_gauges gauges;

	core_gauges(b->core, broker_clock_ms(b), &gauges);
	return gauges.ready;
}

/* The tag counts the looks. */
static void
leaving_on_heir(void *object, uint64_t tag)
{
	struct broker *heir = object, *old = twin(heir);

	if (!heir->alive || heir->part != PART_HEIR)
		return;
	if (broker_stalled(heir) || broker_stalled(old) || old->stopping ||
	    (!is_ready(heir) && tag < READY_LOOKS))
		events_at(&heir->w->events, world_now(heir->w) + LOOK_US,
		    leaving_on_heir, heir, tag + 1);
	else
		take_over(old, heir);
}

static void
replace(struct broker *old)
{
	struct broker *heir = twin(old);

	if (!old->alive || old->stopping || broker_stalled(old) ||
	    faults_unnoticed(old->w) || old->part != PART_ALONE ||
	    heir->part != PART_ABSENT)
		return;
	heir->part = PART_HEIR;
	broker_start(heir);
	faults_later(old->w, LOOK_US, leaving_on_heir, heir);
}

static void
leaving_on_tick(void *object, uint64_t tag)
{
	struct world *w = object;

	(void)tag;
	if (world_now(w) >= w->heal_us)
		return;
	replace(&w->brokers[prng_below(&w->leaving, (uint64_t)w->nbrokers)]);
	events_at(&w->events,
	    world_now(w) +
		prng_skewed(&w->leaving, 50000, 4 * w->lease_ms * 1000),
	    leaving_on_tick, w, 0);
}

void
leaving_start(struct world *w)
{
	if (w->leaves)
		events_at(&w->events,
		    world_now(w) +
			prng_skewed(&w->leaving, 50000, 3 * w->lease_ms * 1000),
		    leaving_on_tick, w, 0);
}
