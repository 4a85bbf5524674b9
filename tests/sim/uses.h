/*
 * What the clients of a run use beyond locks and semaphores.  It is drawn from
 * a separate stream: a seed that uses none of it gives the same run as ever.
 */
#ifndef LOCKBROKER_SIM_USES_H
#define LOCKBROKER_SIM_USES_H

#include <stdbool.h>
#include <stdint.h>

#include "prng.h"

struct client;
struct world;

/* USE(identifier, "word on the command line", what it is) */
/* clang-format off */
#define USES(USE) \
	USE(LATCH, "latch", "LATCH, COUNTDOWN, AWAIT") \
	USE(BARRIER, "barrier", "BARRIER") \
	USE(SESSION, "session", "SESSION grace=, RESUME") \
	USE(WATCH, "watch", "WATCH, UNWATCH") \
	USE(FORCE, "force", "UNLOCK-FORCE") \
	USE(HEARTBEAT, "heartbeat", "SESSION heartbeat=") \
	USE(KEEPS, "keeps", "keep= and delay= of those who share") \
	USE(SEMAPHORES, "semaphores", "several, at times with another limit=") \
	USE(SLOTS, "slots", "slots of semaphores, beside earlier brokers") \
	USE(DRILL, "drill", "DRILL")
/* clang-format on */

enum use_bit {
#define USE(id, word, what) USE_BIT_##id,
	USES(USE)
#undef USE
	    USE_BITS
};

enum use {
#define USE(id, word, what) USE_##id = 1 << USE_BIT_##id,
	USES(USE)
#undef USE
	    USE_ALL = (1 << USE_BITS) - 1
};

/* Owned by the world. */
struct uses {
	unsigned on; /* enum use */
	struct prng prng;
	uint64_t parties; /* of barriers, mostly */
	struct prng slots;
	unsigned earlier; /* brokers that know no slots, as bits */
	struct prng drills;
};

/* Parses "latch,barrier", "all", "none"; false: there is an unknown word. */
bool uses_parse(const char *text, unsigned *out);

/* Draws what clients use in this run. */
void uses_draw(struct world *w);

/* Does the next ACQUIRE through that broker ask for a slot? */
bool uses_wants_slot(struct world *w, int broker);

bool uses_has(const struct world *w, enum use use);

/* One deed of a client that waits for nothing; false: it did none of these. */
bool uses_act(struct client *c);

#endif
