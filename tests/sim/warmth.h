/*
 * Warmth: how a hasty run begins.  One client takes a name again and again, so
 * that it becomes warm; all rest for a moment; then a client of another broker
 * wants the name, or asks for its state, or forces it, or a poller wants it there;
 * which only warmth can keep from them.
 */
#ifndef LOCKBROKER_SIM_WARMTH_H
#define LOCKBROKER_SIM_WARMTH_H

#include <stdbool.h>
#include <stdint.h>

#include "core/parts/token/token.h"

struct client;
struct poller;
struct world;

/* Part of the world. */
struct warmth {
	int left; /* how often the name is yet to be given back; 0: over */
	int64_t until_us; /* it is over then, whatever happens */
	bool rests, late; /* late: it rests for longer than it can be warm */
	const struct poller *claims; /* the poller, until it is answered */
	int64_t hush_us; /* until when the checker was silent before that */
};

void warmth_draw(struct world *w);

/* Is it under way?  Then it has done, or put off, what the client does now. */
bool warmth_acts(struct client *c);

/* A poller was answered. */
void warmth_told(const struct poller *p, enum token_answer answer);

/* The broker that a client begins at. */
int warmth_broker(const struct client *c);

#endif
