/*
 * Warmth: how a hasty run begins.  One client takes a name again and again, so
 * that it becomes warm; all rest for a moment; then a client of another broker
 * wants the name, which only warmth can keep from it.
 */
#ifndef LOCKBROKER_SIM_WARMTH_H
#define LOCKBROKER_SIM_WARMTH_H

#include <stdbool.h>
#include <stdint.h>

struct client;
struct world;

/* Part of the world. */
struct warmth {
	int left; /* how often the name is yet to be given back; 0: over */
	int64_t until_us; /* it is over then, whatever happens */
	bool rests, late; /* late: it rests for longer than it can be warm */
};

void warmth_draw(struct world *w);

/* Is it under way?  Then it has done, or put off, what the client does now. */
bool warmth_acts(struct client *c);

/* The broker that a client begins at. */
int warmth_broker(const struct client *c);

#endif
