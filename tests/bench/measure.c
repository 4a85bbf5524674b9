/*
 * Histogram, clocks and fairness.  Owns nothing.
 */
#include "config.h"

#include "measure.h"

#include <time.h>

/* Below HISTOGRAM_STEPS one cell a nanosecond, then so many a doubling. */
static size_t
cell_of(uint64_t ns)
{
	unsigned shift = 0;
	size_t cell;

	while (ns >> shift >= 2 * HISTOGRAM_STEPS)
		shift++;
	cell = shift * HISTOGRAM_STEPS + (size_t)(ns >> shift);
	return cell < HISTOGRAM_CELLS ? cell : HISTOGRAM_CELLS - 1;
}

static double
cell_us(size_t cell)
{
	size_t shift =
	    cell < 2 * HISTOGRAM_STEPS ? 0 : cell / HISTOGRAM_STEPS - 1;
	size_t base = cell - shift * HISTOGRAM_STEPS;

	return ((double)base + 0.5) * (double)(UINT64_C(1) << shift) / 1000;
}

void
histogram_add(struct histogram *h, uint64_t ns)
{
	h->cells[cell_of(ns)]++;
	h->n++;
}

double
histogram_us(const struct histogram *h, double share)
{
	uint64_t left = (uint64_t)(share * (double)h->n);
	size_t i;

	if (h->n == 0)
		return 0;
	for (i = 0; i < HISTOGRAM_CELLS - 1 && h->cells[i] <= left; i++)
		left -= h->cells[i];
	return cell_us(i);
}

static uint64_t
clock_ns(clockid_t clock)
{
	struct timespec ts;

	if (clock_gettime(clock, &ts) < 0)
		return 0;
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

uint64_t
now_ns(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

uint64_t
cpu_ns(pid_t pid)
{
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) != 0)
		return 0;
	return clock_ns(clock);
}

double
jain(const uint64_t *counts, size_t n)
{
	double sum = 0, squares = 0;
	size_t i;

	for (i = 0; i < n; i++) {
		sum += (double)counts[i];
		squares += (double)counts[i] * (double)counts[i];
	}
	return squares > 0 ? sum * sum / ((double)n * squares) : 0;
}
