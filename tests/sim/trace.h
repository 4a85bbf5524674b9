/*
 * What happened in a run: the last lines are kept for a report, and all of
 * them go into a hash, by which two runs are compared.  Writing lines takes a
 * tenth of the time, so it is left until a seed is known to be bad (main.c).
 */
#ifndef LOCKBROKER_SIM_TRACE_H
#define LOCKBROKER_SIM_TRACE_H

#include <stdbool.h>
#include <stdint.h>

#define TRACE_LINES 60
#define TRACE_WIDTH 200

struct trace {
	bool on;
	bool print; /* every line, as it comes */
	uint64_t hash;
	uint64_t lines;
	char ring[TRACE_LINES][TRACE_WIDTH];
};

void trace_init(struct trace *t, bool on, bool print);
void trace_add(struct trace *t, int64_t now_us, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
void trace_dump(const struct trace *t);

#endif
