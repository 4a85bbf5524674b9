/*
 * Which servers make up a quorum (core/kernel/guard/DESIGN).
 */
#ifndef LOCKBROKER_CORE_GUARD_VOTERS_H
#define LOCKBROKER_CORE_GUARD_VOTERS_H

#include "core/kernel/guard/guard.h"

/* The set that this broker goes by, and what it knows of servers. */
struct voters {
	char **nodes; /* where the servers are, for people; owned */
	char set[SET_MAX_BYTES + 1]; /* "": none yet */
	char why[512];		     /* why there is none */
	int64_t since_ms; /* since when none can be chosen; 0: one was */
	/* A ring: the latest ids, and a hash of the address of each. */
	char places[4 * QUORUM_SERVERS_MAX][2 * NODE_BYTES + 1];
	int64_t places_ms[4 * QUORUM_SERVERS_MAX]; /* when that was learned */
	unsigned next_place;
};

void voters_init(struct core *core);
void voters_fini(struct core *core);

/* Takes what a server has told of itself. */
void voters_report(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report);

/* Chooses the set to go by, and moves servers that have another to it. */
void voters_decide(struct core *core);

#endif
