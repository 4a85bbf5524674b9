/*
 * Which servers make up a quorum (ARCHITECTURE, "Who votes").
 */
#ifndef LOCKBROKER_CORE_GUARD_VOTERS_H
#define LOCKBROKER_CORE_GUARD_VOTERS_H

#include "core/guard/guard.h"

/* What this broker goes by. */
struct voters {
	char **nodes; /* where the servers are, for people; owned */
	char set[SET_MAX_BYTES + 1]; /* "": none yet */
	char why[512];		     /* why there is none */
	int64_t since_ms; /* since when a new one lacks servers; 0: none */
	/* Where the latest ids were found: 16 digits each, as a ring. */
	char places[4 * QUORUM_SERVERS_MAX][2 * NODE_BYTES + 1];
	int64_t places_ms[4 * QUORUM_SERVERS_MAX]; /* when that was learned */
	unsigned next_place;
};

void voters_init(struct core *core);
void voters_fini(struct core *core);

/* What a server has told of itself. */
void voters_report(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report);

/* Do the brokers and the servers agree?  If not, asks for what is missing. */
void voters_decide(struct core *core);

#endif
