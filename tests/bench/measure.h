/*
 * What a run is measured with: times in a histogram, and processor time of
 * other processes.
 */
#ifndef LOCKBROKER_BENCH_MEASURE_H
#define LOCKBROKER_BENCH_MEASURE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define HISTOGRAM_STEPS 64 /* in each power of two: 1.6 % */
#define HISTOGRAM_CELLS (HISTOGRAM_STEPS * 40)

/* Times, counted by size.  Embedded; all zeroes is an empty one. */
struct histogram {
	uint64_t n;
	uint64_t cells[HISTOGRAM_CELLS];
};

void histogram_add(struct histogram *h, uint64_t ns);

/* The time that `share` (0 to 1) of all are not above, in microseconds. */
double histogram_us(const struct histogram *h, double share);

/* CLOCK_MONOTONIC. */
uint64_t now_ns(void);

/* Processor time that a process has used; 0 where there is none. */
uint64_t cpu_ns(pid_t pid);

/* Jain's index of fairness: 1 when all are equal, 1/n when one has all. */
double jain(const uint64_t *counts, size_t n);

#endif
