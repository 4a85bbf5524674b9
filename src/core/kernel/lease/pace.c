/*
 * The slices are a ring that covers more than a third of a lease; each knows
 * which slice of time it stands for at present.  A lease that ends before its
 * renewal stays counted.  That does little harm, as it happens in all slices.
 */
#include "config.h"

#include "base/crc16.h"
#include "core/kernel/lease/lease.h"
#include "core/kernel/lease/pace.h"

#define A_THIRD (PACE_SLICES / 2) /* of a lease, in slices */
#define ROOM 300		  /* renewals a millisecond, if many are due */
#define PIGGYBACK_MAX 8		  /* renewals that one end takes along */
#define TICK_NAMES 16		  /* renewals of one call, if they can wait */
#define TICKS_MIN 32		  /* in a third of a lease */

/* Operations of one lane can go in one call; see gather.c. */
static uint32_t
lane_of(const struct core *core, const struct term *t)
{
	size_t len;
	const char *name = lessee_of(core, t)->name(t, &len);

	return crc16(name, len) % core->config.lanes;
}

static int64_t
slice_ms(const struct core *core)
{
	return core->config.lease_ms / 3 / A_THIRD;
}

/* A slice with another number stood for a time that has passed: it starts
 * afresh. */
static struct slice *
slice_at(struct core *core, int64_t at_ms)
{
	int64_t number = at_ms * A_THIRD / (core->config.lease_ms / 3);
	struct slice *slice = &core->terms->pace[number % PACE_SLICES];

	if (slice->number != number)
		*slice = (struct slice){ .number = number };
	return slice;
}

/* The latest moment in a slice with room; 0: there is none. */
static int64_t
find_room(struct core *core, int64_t at_ms, int64_t early_ms, uint32_t share)
{
	int64_t end_ms = at_ms - early_ms;

	assert(early_ms >= 0 && share > 0);
	for (; at_ms > end_ms; at_ms -= slice_ms(core))
		if (slice_at(core, at_ms)->planned < share)
			return at_ms;
	return 0;
}

/*
 * How far apart the ticks of a lane are, so that some TICK_NAMES renewals are due
 * at one: a call for many names takes the store hardly longer than one for a
 * single name.  Each length is twice the one below it, so that leases that were
 * planned with another length are due at the same ticks.
 */
static int64_t
tick_ms(const struct core *core)
{
	int64_t third_ms = core->config.lease_ms / 3;
	int64_t many_ms =
	    TICK_NAMES * core->config.lanes * third_ms / core->terms->n;
	int64_t ms = PACE_TICK_MS;

	while (ms < many_ms && 2 * ms <= third_ms / TICKS_MIN)
		ms *= 2;
	return ms;
}

/* The last tick of the lane up to that moment.  The ticks of the lanes
 * alternate: one tick, one call. */
static int64_t
to_tick(const struct core *core, uint32_t lane, int64_t at_ms)
{
	int64_t ms = tick_ms(core), phase_ms = lane * ms / core->config.lanes;

	return at_ms - (at_ms - phase_ms) % ms;
}

void
pace_plan(struct core *core, struct term *t, bool first)
{
	const int64_t early_ms = core->config.lease_ms / 6;
	int64_t at_ms = t->confirmed_ms + core->config.lease_ms / 3;
	/* An eighth more than an even share, so that the search is short. */
	uint32_t share = core->terms->n / A_THIRD * 9 / 8 + 1;
	int64_t plan_ms, other_ms;

	/* Otherwise all that fill a slice would be due at one moment of it. */
	at_ms -= core_jitter(core, slice_ms(core));
	plan_ms = first ? at_ms - core_jitter(core, early_ms) : at_ms;
	if (slice_at(core, plan_ms)->planned >= share) {
		other_ms = find_room(core, at_ms, early_ms, share);
		plan_ms = other_ms > 0 ? other_ms
				       : at_ms - core_jitter(core, early_ms);
	}
	slice_at(core, plan_ms)->planned++;
	t->wake_ms = to_tick(core, lane_of(core, t), plan_ms);
	term_prove(core, t);
}

void
pace_put_off(struct core *core, struct term *t)
{
	int64_t third_ms = core->config.lease_ms / 3;

	assert(t->state == TERM_SAFE && !t->provisional);
	if (t->wake_ms <= core->now_ms &&
	    core->now_ms - t->confirmed_ms < third_ms + third_ms / 8)
		t->wake_ms = to_tick(core, lane_of(core, t), core->now_ms) +
			     tick_ms(core);
}

/* Does it lack the time to stand in line with others that are due? */
static bool
is_pressed(const struct core *core, const struct term *t)
{
	return term_deadline_ms(core, t) - core->now_ms <
	       core->config.lease_ms / 4;
}

bool
pace_room(struct core *core, struct term *t)
{
	bool now = t->paced || is_pressed(core, t);

	t->paced = false;
	if (core->terms->room_ms < core->now_ms) {
		core->terms->room_ms = core->now_ms;
		core->terms->room_taken = 0;
	} else if (core->terms->room_taken >= ROOM && !now) {
		core->terms->room_ms++;
		core->terms->room_taken = 0;
	}
	core->terms->room_taken += !now;
	t->wake_ms = now ? core->now_ms : core->terms->room_ms;
	t->paced = t->wake_ms > core->now_ms;
	return !t->paced;
}

void
pace_ending(struct core *core, const struct lease *l)
{
	assert(l->state == LEASE_ENDING);
	core->leases->piggyback = core->leases->way->shares_calls;
	core->leases->piggyback_shard = l->term.shard;
	core->leases->piggyback_lane = lane_of(core, &l->term);
}

/* Is a renewal all that it wants within a tick, and can that share the call? */
static bool
goes_along(const struct core *core, const struct lease *l)
{
	return l->term.state == TERM_SAFE && l->pending == NULL &&
	       core_armed_ms(core, &l->timer) == l->term.wake_ms &&
	       l->term.wake_ms < core->now_ms + PACE_TICK_MS &&
	       l->term.shard == core->leases->piggyback_shard &&
	       lane_of(core, &l->term) == core->leases->piggyback_lane;
}

/*
 * The heap has the leases that are due soonest at its head.  The first timer of
 * something else, or of a lease that cannot go along, ends the search: it never
 * goes deep.
 */
void
pace_piggyback(struct core *core)
{
	struct timer *t;
	struct lease *l;
	unsigned i;

	for (i = 0; core->leases->piggyback && i < PIGGYBACK_MAX; i++) {
		t = heap_first(&core->timers[AGENDA_URGENT]);
		if (t == NULL || t->kind != TIMER_LEASE)
			break;
		l = container_of(t, struct lease, timer);
		if (!goes_along(core, l))
			break;
		core_disarm(core, t);
		l->term.wake_ms = core->now_ms;
		core->leases->lessee->next(core, l);
	}
	core->leases->piggyback = false;
}
