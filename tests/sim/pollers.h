/*
 * Pollers (--tokens): programs with a lock library of Redis.  Each takes names
 * by tokens, polls for those that are taken, extends and releases what it has,
 * every time through whatever broker; and believes that a name is its own until
 * the time is over that it has asked for, whatever becomes of brokers.
 *
 * To the checker that is what a plain client's key is: nobody else may have the
 * name until then, nor may another token.  What Redis may have forgotten is
 * excused, as it is for those; that brokers write it again is not checked here.
 */
#ifndef LOCKBROKER_SIM_POLLERS_H
#define LOCKBROKER_SIM_POLLERS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"
#include "prng.h"

#define POLLERS_MAX 6
#define POLLERS_FIRST \
	(UINT64_C(1) << 41) /* their sessions; no crowd has such */

struct broker;
struct world;

struct poller {
	struct world *w;
	int index;
	int broker;	  /* whom it asks, or has asked last */
	bool due;	  /* it asks in that one's next turn */
	uint64_t ref;	  /* of what was not answered yet; 0: nothing */
	enum token_op op; /* of that */
	int64_t sent_us, px_ms;
	int name;
	unsigned token; /* that it uses now */
	unsigned next_token;
	uint64_t fence;	  /* of what it has */
	int64_t until_us; /* it believes to have the name; 0: it does not */
	uint64_t tick;
};

/* Part of the world. */
struct pollers {
	int n; /* 0: there are none */
	struct prng prng;
	struct poller v[POLLERS_MAX];
	uint64_t sessions, refs;
	uint64_t grants, extended, released, refused; /* counters for reports */
};

void pollers_make(struct world *w);

/* A broker begins, takes a turn of them, is gone. */
void pollers_begin(struct broker *b);
void pollers_act(struct broker *b);
void pollers_end(struct broker *b);

/* They all go home. */
void pollers_leave(struct world *w);

/* What is told to one of their sessions. */
void pollers_tell(
    struct broker *b, const struct effects *fx, const struct effect *e);

/* Redis has forgotten something. */
void pollers_amnesia(struct world *w);

#endif
