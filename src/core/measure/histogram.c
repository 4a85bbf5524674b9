/*
 * Buckets.  Most values are in the first ones, so the search begins there.
 *
 * Each family has bounds where its values matter: waits and handovers from 1 ms
 * on, holds up to hours, margins from far too little up to long leases.
 * Monitoring systems keep counts by bound, so a bound is not moved lightly.
 */
#include "config.h"

#include "core/measure/histogram.h"

#define SEC 1000
#define HOUR (3600 * SEC)

const struct measure_scale measure_wait_scale = { 15,
	{ 1, 5, 10, 25, 50, 100, 250, 500, 1 * SEC, 2500, 5 * SEC, 10 * SEC,
	    30 * SEC, 60 * SEC, 300 * SEC } };

const struct measure_scale measure_hold_scale = { 15,
	{ 1, 5, 10, 50, 100, 500, 1 * SEC, 5 * SEC, 10 * SEC, 30 * SEC,
	    60 * SEC, 300 * SEC, 900 * SEC, 1 * HOUR, 6 * HOUR } };

const struct measure_scale measure_handover_scale = { 12,
	{ 1, 2, 5, 10, 25, 50, 100, 250, 500, 1 * SEC, 5 * SEC, 10 * SEC } };

const struct measure_scale measure_margin_scale = { 12,
	{ 50, 100, 250, 500, 1 * SEC, 2 * SEC, 3 * SEC, 5 * SEC, 7500, 10 * SEC,
	    30 * SEC, 60 * SEC } };

unsigned
measure_bucket(const struct measure_scale *scale, int64_t ms)
{
	unsigned i = 0;

	while (i < scale->n && ms > scale->le_ms[i])
		i++;
	return i;
}

/* A time or a margin below 0 counts as 0. */
void
measure_add(struct measure_histogram *h, int64_t ms)
{
	if (ms < 0)
		ms = 0;
	h->counts[measure_bucket(h->scale, ms)]++;
	h->count++;
	h->sum_ms += (uint64_t)ms;
}

int64_t
measure_percentile_ms(
    const struct measure_scale *scale, const uint32_t *counts, unsigned p)
{
	uint64_t all = 0, seen = 0;
	unsigned i;

	for (i = 0; i <= scale->n; i++)
		all += counts[i];
	for (i = 0; i < scale->n; i++) {
		seen += counts[i];
		/* Without values there is none to name; nor is an empty bucket
		 * the 0th of any. */
		if (seen > 0 && seen * 100 >= all * p)
			return scale->le_ms[i];
	}
	return -1;
}
