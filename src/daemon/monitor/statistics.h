/*
 * Counters and gauges of the broker, for STATS and the metrics.
 */
#ifndef LOCKBROKER_DAEMON_MONITOR_STATISTICS_H
#define LOCKBROKER_DAEMON_MONITOR_STATISTICS_H

#include <stdint.h>

struct broker;

enum statistic_type { STATISTIC_COUNTER, STATISTIC_GAUGE };

/* A row of statistics.def or of CORE_STATS. */
struct statistic {
	const char *name;
	enum statistic_type type;
	const char *help; /* a sentence; the manual has the same */
};

#define STATISTIC_NONE UINT64_MAX /* the broker has no such value */

/* Calls fn for each of them, in the order of the table. */
void statistics_each(struct broker *b,
    void (*fn)(void *arg, const struct statistic *s, uint64_t value),
    void *arg);

#endif
