/*
 * See leaving.h.
 */
#include "config.h"

#include "core/dump.h"
#include "redis/redis.h"

#include "bond.h"
#include "faults_parts.h"
#include "leaving.h"
#include "resumes.h"
#include "world.h"

#define LOOK_US 50000	  /* between two looks at a process */
#define READY_LOOKS 40	  /* then it is let go on as it is */
#define REPORT_US 1000000 /* from one report to the next */
#define RETURN_US 10000000
#define KILL_US 200000

static event_fn leaving_on_tick;
static event_fn leaving_on_heir;
static event_fn leaving_on_report;
static event_fn leaving_on_look;
static event_fn leaving_on_return_over;
static event_fn leaving_on_kill;
static event_fn leaving_on_cut;

#define OF_LEAVING (unsigned)(FAULT_HEIR | FAULT_BOND)

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
			    world_ablated(w, ABLATE_ASK) ||
			    world_ablated(w, ABLATE_STAY) ||
			    world_ablated(w, ABLATE_LEAVES);
	else
		w->leaves = w->o->leave;
	resumes_init(w);
	if (!w->leaves) {
		w->faults.on &= ~(unsigned)OF_LEAVING;
		return;
	}
	if (!w->o->faults_given && w->faults.on != 0)
		w->faults.on |= (unsigned)prng_next(&w->leaving) & OF_LEAVING &
				w->o->faults;
	w->nbrokers *= 2;
}

struct broker *
leaving_twin(const struct broker *b)
{
	struct world *w = b->w;

	if (!w->leaves)
		return NULL;
	return &w->brokers[(b->index + w->places) % w->nbrokers];
}

struct broker *
leaving_find(struct world *w, int index, bool stays)
{
	struct broker *b = &w->brokers[index], *other = leaving_twin(b);

	if (other == NULL || b->part == PART_ALONE)
		return b;
	if (stays && b->part == PART_LEAVING && b->alive && !b->stopping)
		return b;
	/* Its listeners are there, and nobody accepts. */
	return other->part == PART_ALONE ? other : NULL;
}

/* A token says which process has a name, so no two have the same number. */
uint64_t
leaving_instance(const struct broker *b, uint64_t drawn)
{
	if (b->part == PART_HEIR && world_ablated(b->w, ABLATE_TWIN))
		return leaving_twin(b)->instance;
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
	const struct broker *other = leaving_twin(b);

	return other != NULL && other->alive && other->part != PART_HEIR;
}

/* Will it accept again, once it sees that its successor has gone? */
static bool
may_return(const struct broker *b)
{
	return b->part == PART_LEAVING && b->may_return && !b->stopping &&
	       !bond_of(b)->stops;
}

/* Does the place go to this process, without anybody's help? */
static bool
passes_to(const struct broker *to)
{
	if (!to->alive)
		return false;
	/* An heir takes over when it sees the other one's end. */
	return to->part == PART_HEIR || to->part == PART_ALONE ||
	       may_return(to);
}

bool
leaving_died(struct broker *b)
{
	struct broker *other = leaving_twin(b);

	if (other == NULL)
		return true;
	/* It will be started itself. */
	if (passes_to(other) ||
	    (b->part != PART_ALONE && other->part == PART_ALONE)) {
		b->part = PART_ABSENT;
		return false;
	}
	b->part = PART_ALONE;
	return true;
}

void
leaving_stops(struct broker *b)
{
	const struct parcel stop = { .word = BOND_STOP };
	struct broker *other = leaving_twin(b);

	if (other == NULL || b->part != PART_ALONE)
		return;
	if (other->part == PART_HEIR) {
		broker_crash(other);
		other->part = PART_ABSENT;
	} else if (bond_has(b) && other->part == PART_LEAVING) {
		bond_of(b)->stops = true;
		(void)bond_tell(b, &stop, BOND_ANY);
	}
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
	return core_left(b->core) && !resumes_expects(b);
}

static void
leaving_on_look(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (b->life != tag || !b->alive || b->part != PART_LEAVING)
		return;
	if (!b->stopping && !broker_stalled(b) && has_left(b))
		broker_stop(b);
	if (b->stopping && core_stopped(b->core)) {
		broker_crash(b);
		if (leaving_died(b))
			faults_restart(b);
		return;
	}
	events_at(
	    &b->w->events, world_now(b->w) + LOOK_US, leaving_on_look, b, tag);
}

/* The old process tells how it is; only the latest is of use. */
static void
leaving_on_report(void *object, uint64_t tag)
{
	const struct parcel report = { .word = BOND_REPORT };
	struct broker *b = object;
	bool stalled = broker_stalled(b);

	if (b->life != tag || !b->alive || b->part != PART_LEAVING ||
	    !bond_has(b))
		return;
	if (!stalled)
		(void)bond_tell(b, &report, 0);
	events_at(&b->w->events,
	    world_now(b->w) + (stalled ? LOOK_US : REPORT_US),
	    leaving_on_report, b, tag);
}

/* The way back is closed: the successor stays. */
static void
leaving_on_return_over(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (b->life == tag && bond_of(b)->number == b->bond)
		b->may_return = false;
}

static void
leaving_on_kill(void *object, uint64_t tag)
{
	struct broker *heir = object;

	if (heir->life == tag && faults_active(heir->w, FAULT_HEIR))
		faults_crash(heir);
}

static void
leaving_on_cut(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (bond_of(b)->number == tag && faults_active(b->w, FAULT_BOND) &&
	    b->alive)
		bond_cut(b);
}

/* What befalls the two from now on. */
static void
draw_strikes(struct broker *old, struct broker *heir)
{
	struct world *w = old->w;
	struct broker *one = prng_chance(&w->leaving, 500) ? old : heir;

	if (faults_active(w, FAULT_HEIR) && prng_chance(&w->leaving, 400))
		events_at(&w->events,
		    world_now(w) + prng_range(&w->leaving, 0, KILL_US),
		    leaving_on_kill, heir, heir->life);
	if (faults_active(w, FAULT_BOND) && prng_chance(&w->leaving, 300))
		events_at(&w->events,
		    world_now(w) +
			prng_skewed(&w->leaving, 20, 2 * w->lease_ms * 1000),
		    leaving_on_cut, one, bond_of(old)->number);
}

/* The old process is fit to be replaced, and says so. */
static void
hand_over(struct broker *old, struct broker *heir)
{
	const struct parcel go = { .word = BOND_GO };
	struct core_event event = { .kind = CORE_LEAVE };
	struct world *w = old->w;

	TRACE(w, "%s is replaced: process %d by %d", old->name, old->index,
	    heir->index);
	bond_begin(old);
	old->bond = bond_of(old)->number;
	(void)bond_tell(old, &go, 0);
	old->part = PART_LEAVING;
	old->may_return = !w->owned;
	redis_own(old->redis, false);
	redis_leave(old->redis, true);
	event.u.leave.until_ms = INT64_MAX;
	broker_step(old, &event);
	broker_wake(old);
	if (old->may_return)
		events_at(&w->events, world_now(w) + RETURN_US,
		    leaving_on_return_over, old, old->life);
	leaving_on_report(old, old->life);
	events_at(&w->events, world_now(w) + LOOK_US, leaving_on_look, old,
	    old->life);
	draw_strikes(old, heir);
}

/* From now on it is the broker. */
static void
take_over(struct broker *b)
{
	TRACE(b->w, "%s: process %d takes over", b->name, b->index);
	b->part = PART_ALONE;
	redis_own(b->redis, true);
}

/* Its successor has ended too early. */
static void
come_back(struct broker *b)
{
	struct core_event event = { .kind = CORE_STAY };

	TRACE(b->w, "%s: process %d accepts again", b->name, b->index);
	b->part = PART_ALONE;
	b->may_return = false;
	b->back_us = world_now(b->w);
	redis_own(b->redis, true);
	redis_leave(b->redis, false);
	if (!world_ablated(b->w, ABLATE_STAY))
		broker_step(b, &event);
}

/* The other one is gone. */
static void
see_end(struct broker *b)
{
	struct broker *other = leaving_twin(b);

	TRACE(b->w, "%s: process %d sees the end of the other one", b->name,
	    b->index);
	if (b->part == PART_HEIR)
		take_over(b);
	else if (may_return(b))
		come_back(b);
	else if (b->part == PART_LEAVING && other->part == PART_ABSENT) {
		/* Nobody accepts any more: somebody starts it again. */
		other->part = PART_ALONE;
		faults_restart(other);
	}
	resumes_gone(b);
}

static void
hear_report(struct broker *b)
{
	struct core_event event = { .kind = CORE_HEIR };

	/* The first comes at once, when Redis does not know yet. */
	if (++bond_of(b)->reports == 2 && !b->stopping)
		broker_step(b, &event);
}

void
leaving_hears(struct broker *b, const struct parcel *p)
{
	if (p->word == BOND_END) {
		see_end(b);
	} else if (p->word == BOND_GO) {
		bond_of(b)->go_us = world_now(b->w);
		take_over(b);
	} else if (p->word == BOND_REPORT) {
		hear_report(b);
	} else if (p->word == BOND_STOP && !b->stopping) {
		broker_stop(b);
	}
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
	struct broker *heir = object, *old = leaving_twin(heir);

	if (!heir->alive || heir->part != PART_HEIR)
		return;
	/* It sees that. */
	if (!old->alive || old->part != PART_ALONE) {
		take_over(heir);
		return;
	}
	if (broker_stalled(heir) || broker_stalled(old) || old->stopping ||
	    (!is_ready(heir) && tag < READY_LOOKS))
		events_at(&heir->w->events, world_now(heir->w) + LOOK_US,
		    leaving_on_heir, heir, tag + 1);
	else
		hand_over(old, heir);
}

static void
replace(struct broker *old)
{
	struct broker *heir = leaving_twin(old);

	if (!old->alive || old->stopping || broker_stalled(old) ||
	    faults_unnoticed(old->w) || old->part != PART_ALONE ||
	    heir->part != PART_ABSENT || heir->alive ||
	    !bond_is_over(bond_of(old)))
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
