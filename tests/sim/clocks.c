/*
 * If data are lost as well, fences may rest on clocks: then a clock is never
 * behind the true time, and ahead of it by less than G.
 */
#include "config.h"

#include "clocks.h"
#include "world.h"

static event_fn clocks_on_step;
static event_fn clocks_on_late;

static bool
has(const struct world *w, unsigned faults)
{
	return (w->faults.on & faults) != 0;
}

/* The limits within which its clock may be moved. */
static void
room(const struct server *s, int64_t *least_us, int64_t *most_us)
{
	const struct world *w = s->w;

	*least_us = -2 * w->lease_ms * 1000;
	*most_us = 60000000;
	if (has(w, FAULT_RESTART | FAULT_FLUSH | FAULT_MOVE | FAULT_ASIDE) ||
	    w->replicates) {
		*least_us = -s->jumped_us;
		*most_us = w->grace_ms * 800 - s->jumped_us;
	}
	/* Here fences may rest on the clocks of two servers. */
	if (w->replicates)
		*most_us = w->grace_ms * 500 - s->jumped_us;
}

static void
move(struct server *s, int64_t by_us)
{
	struct world *w = s->w;

	TRACE(w, "the clock of %s jumps by %lld ms", s->name,
	    (long long)by_us / 1000);
	s->zero_us += by_us;
	s->jumped_us += by_us;
	s->last_jump_us = world_now(w);
	if (-by_us > w->faults.back_us)
		w->faults.back_us = -by_us;
	checker_amnesia(w);
}

/* Too small to be noticed at once. */
static int64_t
small_us(struct world *w, int64_t most_us)
{
	return prng_range(
	    &w->prng, 0, most_us < w->pad_ms * 900 ? most_us : w->pad_ms * 900);
}

/* The second jump within a lease: both together are less than the pad. */
static void
clocks_on_step(void *object, uint64_t tag)
{
	struct server *s = object;
	int64_t least_us, most_us;

	room(s, &least_us, &most_us);
	if (most_us > (int64_t)tag)
		most_us = (int64_t)tag;
	if (world_now(s->w) < s->w->heal_us && most_us > 0)
		move(s, prng_range(&s->w->prng, 0, most_us));
}

/* A second jump too soon would be more than the pad. */
static bool
jumped_lately(const struct server *s)
{
	const struct world *w = s->w;

	return world_now(w) - s->last_jump_us <
	       2 * (w->lease_ms + w->pad_ms) * 1000;
}

void
clocks_jump(struct server *s)
{
	struct world *w = s->w;
	int64_t least_us, most_us, by_us;

	if (jumped_lately(s))
		return;
	room(s, &least_us, &most_us);
	by_us = prng_range(&w->prng, least_us, most_us);
	if (by_us > 0 && prng_chance(&w->prng, 500)) {
		by_us = small_us(w, by_us);
		if (w->steps)
			events_at(&w->events,
			    world_now(w) +
				prng_range(&w->prng, 1, w->lease_ms) * 1000,
			    clocks_on_step, s,
			    (uint64_t)(w->pad_ms * 900 - by_us));
	}
	move(s, by_us);
}

static void
clocks_on_late(void *object, uint64_t tag)
{
	struct server *s = object;
	int64_t least_us, most_us;

	(void)tag;
	if (world_now(s->w) >= s->w->heal_us || jumped_lately(s))
		return;
	room(s, &least_us, &most_us);
	if (most_us > 0)
		move(s, prng_range(&s->w->faults.late, most_us / 2, most_us));
}

void
clocks_jump_later(struct server *s)
{
	struct world *w = s->w;
	int64_t grace_us = w->grace_ms * 1000;

	if (prng_chance(&w->faults.late, 500))
		events_at(&w->events,
		    world_now(w) + prng_range(&w->faults.late, grace_us / 2,
				       grace_us * 11 / 10),
		    clocks_on_late, s, 0);
}

void
clocks_stand_still(struct server *s, int64_t since_us)
{
	struct world *w = s->w;
	int64_t least_us, most_us, by_us = since_us - world_now(w);

	room(s, &least_us, &most_us);
	if (w->still && by_us >= least_us)
		move(s, by_us);
}
