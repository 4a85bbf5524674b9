/*
 * Log lines that unauthenticated clients can cause at will: one of a kind a
 * second, with the number of lines left out before it.
 */
#ifndef LOCKBROKER_BASE_QUIET_H
#define LOCKBROKER_BASE_QUIET_H

#include <stdbool.h>
#include <stdint.h>

/* Begins with zeros. */
struct quiet {
	int64_t until_ms;
	uint64_t left_out;
};

/* May the line be logged now?  Then *left_out is the number of lines left out
 * before it; otherwise this line is counted. */
bool quiet_may_log(struct quiet *q, uint64_t *left_out);

#endif
