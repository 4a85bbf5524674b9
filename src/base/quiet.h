/*
 * Log lines that strangers may cause as often as they like: one of a kind a
 * second, and it tells how many were left out before it.
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

/* May the line be written now?  Then *left_out tells how many were not written
 * before it; if not, this one is counted. */
bool quiet_may_log(struct quiet *q, uint64_t *left_out);

#endif
