/*
 * A crowd: in some runs each broker has one more session, which locks and
 * unlocks hundreds of names that nobody else uses.  That makes calls of many
 * operations, ticks of many renewals, and times when much must be written
 * again; steps of the core have to leave some of that to the next step.
 *
 * The crowd lives inside the broker, as if its network had no delay.  Its
 * grants are checked for P1 and P2, and nothing may be lost while nothing is
 * wrong.
 */
#ifndef LOCKBROKER_SIM_CROWD_H
#define LOCKBROKER_SIM_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#include "core/core.h"

#define CROWD_BROKERS_MAX 24
#define CROWD_FIRST (UINT64_C(1) << 40) /* its sessions; no client has such */

struct broker;
struct world;

/* What is known of one name. */
struct crowd_name {
	int owner; /* the broker that vouches for it; -1: none */
	uint64_t fence;
	int64_t lease_us[CROWD_BROKERS_MAX]; /* vouched for until then */
	/* Does a session of this broker wait for it, or have it? */
	uint8_t asked[CROWD_BROKERS_MAX];
};

/* Part of the world. */
struct crowd {
	int n;			  /* names; 0: there is no crowd */
	struct crowd_name *names; /* owned */
	uint64_t sessions;	  /* how many sessions have begun */
};

void crowd_make(struct world *w);
void crowd_free(struct world *w);

/* A broker starts; it takes a turn of the crowd; it is gone. */
void crowd_begin(struct broker *b);
void crowd_act(struct broker *b);
void crowd_end(struct broker *b);

/* The crowd's session is told something. */
void crowd_tell(
    struct broker *b, const struct effects *fx, const struct effect *e);

/* A lease was confirmed. */
void crowd_lease(struct broker *b, const char *name, int64_t sent_ms);

static inline bool
crowd_has(const char *name)
{
	return name[0] == 'm';
}

#endif
