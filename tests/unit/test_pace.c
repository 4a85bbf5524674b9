/*
 * Renewals of leases that were taken all at once.
 */
#include "config.h"

#include <stdlib.h>

#include "core/pace.h"
#include "suite.h"

#define LEASES 20000
#define LEASE_MS 30000
#define PERIODS 8
#define BINS 50

static int64_t at_ms[LEASES];

static int
earlier(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Each lease is renewed when that is due, and planned again then. */
static void
renew_all(struct core *core, int64_t early_ms)
{
	unsigned i;

	qsort(at_ms, LEASES, sizeof(at_ms[0]), earlier);
	for (i = 0; i < LEASES; i++)
		at_ms[i] = pace_plan(core, at_ms[i] + LEASE_MS / 3, early_ms);
}

/* The most renewals in a bin, as a multiple of what each would have. */
static double
peak(void)
{
	unsigned n[BINS] = { 0 }, i, most = 0;
	int64_t first = INT64_MAX;

	for (i = 0; i < LEASES; i++)
		first = at_ms[i] < first ? at_ms[i] : first;
	for (i = 0; i < LEASES; i++)
		n[(at_ms[i] - first) * BINS / (LEASE_MS / 3) % BINS]++;
	for (i = 0; i < BINS; i++)
		most = n[i] > most ? n[i] : most;
	return (double)most * BINS / LEASES;
}

START_TEST(a_burst_becomes_flat)
{
	struct core_config config = { .broker = "b",
		.shards = 1,
		.lease_ms = LEASE_MS,
		.reply_timeout_ms = 1000,
		.seed = { 1, 2 } };
	struct core *core = core_new(&config);
	unsigned i;

	core->nlocks = LEASES;
	for (i = 0; i < LEASES; i++)
		at_ms[i] = pace_plan(
		    core, 100000 + LEASE_MS / 3 + i / 100, LEASE_MS / 6);
	ck_assert_double_gt(peak(), 1.8);
	for (i = 0; i < PERIODS; i++)
		renew_all(core, LEASE_MS / 24);
	ck_assert_double_lt(peak(), 1.5);
	core->nlocks = 0;
	core_free(core);
}
END_TEST

static TCase *
pace_cases(void)
{
	TCase *tc = tcase_create("pace");

	tcase_add_test(tc, a_burst_becomes_flat);
	return tc;
}

int
main(void)
{
	static const suite_case cases[] = { pace_cases };

	return suite_run("pace", cases, COUNT(cases));
}
