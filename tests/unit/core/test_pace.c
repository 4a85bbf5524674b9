/*
 * The renewals of leases that were all taken at once.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/crc16.h"
#include "core/kernel/lease/pace.h"
#include "core/kernel/lock/state.h"
#include "suite.h"

#define LEASES 20000
#define LEASE_MS 30000
#define PERIODS 8
#define SLICE_MS (LEASE_MS / 3 / 50)

/* A name, and when it is renewed. */
struct plan {
	struct lock *lock; /* owned */
	int64_t at_ms;
};

static struct plan plans[LEASES];

static int
earlier(const void *a, const void *b)
{
	const struct plan *x = a, *y = b;

	return (x->at_ms > y->at_ms) - (x->at_ms < y->at_ms);
}

static int64_t
plan(struct core *core, struct lock *l, int64_t confirmed_ms, bool first)
{
	l->lease.term.confirmed_ms = confirmed_ms;
	l->lease.term.epoch = 1;
	pace_plan(core, &l->lease.term, first);
	return l->lease.term.wake_ms;
}

/*
 * Renews each lease when that is due, and plans the next renewal.  Returns how
 * early renewals were on average, as a part of the interval between two.
 */
static double
renew_all(struct core *core)
{
	int64_t due_ms, early_ms = 0;
	unsigned i;

	qsort(plans, LEASES, sizeof(plans[0]), earlier);
	for (i = 0; i < LEASES; i++) {
		due_ms = plans[i].at_ms + LEASE_MS / 3;
		plans[i].at_ms =
		    plan(core, plans[i].lock, plans[i].at_ms, false);
		ck_assert_int_le(plans[i].at_ms, due_ms);
		early_ms += due_ms - plans[i].at_ms;
	}
	return (double)early_ms / LEASES / (LEASE_MS / 3);
}

/* The most renewals within this time, as a multiple of an even share. */
static double
peak(int64_t bin_ms)
{
	static unsigned n[LEASE_MS / 3 / PACE_TICK_MS];
	unsigned i, most = 0, bins = (unsigned)(LEASE_MS / 3 / bin_ms);

	memset(n, 0, sizeof(n));
	for (i = 0; i < LEASES; i++)
		n[plans[i].at_ms / bin_ms % bins]++;
	for (i = 0; i < bins; i++)
		most = n[i] > most ? n[i] : most;
	return (double)most * bins / LEASES;
}

static struct core *
make_core(unsigned lanes)
{
	struct core_config config = { .broker = "b",
		.shards = 1,
		.lanes = lanes,
		.lease_ms = LEASE_MS,
		.reply_timeout_ms = 1000,
		.seed = { 1, 2 } };

	return core_new(&config);
}

static struct lock *
make_lock(unsigned i)
{
	struct lock *l = calloc(1, sizeof(*l) + 16);

	l->name_len = (uint8_t)sprintf(l->name, "name-%u", i);
	return l;
}

/* Counts the renewals of all leases together, and those of each tick. */
START_TEST(a_burst_becomes_flat)
{
	struct core *core = make_core(1);
	unsigned i;

	core->terms->n = LEASES;
	for (i = 0; i < LEASES; i++) {
		plans[i].lock = make_lock(i);
		plans[i].at_ms =
		    plan(core, plans[i].lock, 100000 + i / 100, true);
	}
	ck_assert_double_gt(peak(SLICE_MS), 1.8);
	for (i = 0; i < PERIODS; i++)
		(void)renew_all(core);
	ck_assert_double_lt(peak(SLICE_MS), 1.3);
	ck_assert_double_lt(peak(PACE_TICK_MS), 2.5);
	/* An even load stays even, and costs few additional renewals. */
	ck_assert_double_lt(renew_all(core), 0.02);
	for (i = 0; i < LEASES; i++)
		free(plans[i].lock);
	core->terms->n = 0;
	core_free(core);
}
END_TEST

/* Renewals that are due at once go through one lane. */
START_TEST(a_tick_is_of_one_lane)
{
	struct core *core = make_core(2);
	int64_t at_ms, lane_of[2 * PACE_TICK_MS];
	unsigned i, seen = 0;
	struct lock *l;

	core->terms->n = LEASES;
	memset(lane_of, -1, sizeof(lane_of));
	for (i = 0; i < 1000; i++) {
		l = make_lock(i);
		at_ms = plan(core, l, 100000, true);
		at_ms %= 2 * PACE_TICK_MS;
		if (lane_of[at_ms] < 0)
			seen++;
		if (lane_of[at_ms] < 0)
			lane_of[at_ms] = crc16(l->name, l->name_len) % 2;
		ck_assert_int_eq(
		    lane_of[at_ms], crc16(l->name, l->name_len) % 2);
		free(l);
	}
	ck_assert_uint_eq(seen, 4); /* ticks of either, in this time */
	core->terms->n = 0;
	core_free(core);
}
END_TEST

/* The fewer leases there are, the further apart are the ticks. */
START_TEST(a_tick_has_several_renewals)
{
	static const struct {
		uint64_t leases;
		int64_t tick_ms;
	} cases[] = {
		{ 1, 256 },
		{ 1000, 256 },
		{ 5000, 32 },
		{ LEASES, PACE_TICK_MS },
	};
	struct core *core = make_core(1);
	unsigned i, odd = 0;
	int64_t at_ms;
	struct lock *l;

	core->terms->n = cases[_i].leases;
	for (i = 0; i < 100; i++) {
		l = make_lock(i);
		at_ms = plan(core, l, 100000, true);
		ck_assert_int_eq(at_ms % cases[_i].tick_ms, 0);
		odd += at_ms % (2 * cases[_i].tick_ms) != 0;
		free(l);
	}
	ck_assert_uint_gt(odd, 0);
	core->terms->n = 0;
	core_free(core);
}
END_TEST

static TCase *
pace_cases(void)
{
	TCase *tc = tcase_create("pace");

	tcase_add_test(tc, a_burst_becomes_flat);
	tcase_add_test(tc, a_tick_is_of_one_lane);
	tcase_add_loop_test(tc, a_tick_has_several_renewals, 0, 4);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { pace_cases };

	return suite_run("pace", cases, COUNT(cases));
}
