/*
 * Heartbeats that clients owe to their brokers.
 */
#ifndef LOCKBROKER_SIM_BEATS_H
#define LOCKBROKER_SIM_BEATS_H

#include <stddef.h>
#include <stdint.h>

struct broker;

/* What one connection owes, by the clock of its broker. */
struct beat {
	int64_t ms; /* a line so often; 0: never */
	int64_t heard_ms;
	uint64_t waits;	  /* the untagged request that waits; 0: none */
	int64_t armed_ms; /* when its timer fires; 0: it is not set */
};

/* All connections, by their number.  Owned by the world. */
struct beats {
	struct beat *v; /* owned */
	size_t n;
};

/* From now on a connection owes a line every so often; a line has come; an
 * untagged request has come, and was answered. */
void beats_owe(struct broker *b, uint64_t sitting, int64_t ms);
void beats_heard(struct broker *b, uint64_t sitting);
void beats_wait(struct broker *b, uint64_t sitting, uint64_t ref);
void beats_answered(struct broker *b, uint64_t sitting, uint64_t ref);

#endif
