/*
 * Over several independent servers all of them decide about every name
 * together, by a majority (parts/quorum/DESIGN).
 *
 * The state of the part: the servers, as the guards know them and as voters,
 * and the votes under way.  It is there only with core_config.quorum.
 */
#ifndef LOCKBROKER_CORE_PARTS_QUORUM_QUORUM_H
#define LOCKBROKER_CORE_PARTS_QUORUM_QUORUM_H

#include "core/kernel/guard/guard.h"
#include "core/parts/ids.h"

/* What is known of one server beyond its guard (voters.c). */
struct voter {
	struct guard *guard;
	char node[NODE_BYTES + 1];   /* its id */
	char set[SET_MAX_BYTES + 1]; /* the set it votes with; "": none yet */
	char sent[NODE_BYTES + 1 + SET_MAX_BYTES + 1]; /* what calls tell it */
	char open; /* the set is not settled: k, n, p, o (lua/guard.lua) */
	unsigned before; /* with k and p: how many voted in the one before */
	bool quiet;	 /* its vote has not been asked for in a long time */
	int64_t node_ms; /* when it reported all that ... */
	int64_t node_asked_ms; /* ... and when it was asked */
	int64_t enlist_ms;     /* it is moved to no set before then */
	bool moved;	       /* by the call that was answered last */
	struct skew skew;      /* of its clock alone */
};

TAILQ_HEAD(vote_list, vote);

struct quorum {
	struct voter *v; /* owned; one a shard */
	char **nodes;	 /* addresses of the servers, for display; owned */
	char
	    set[SET_MAX_BYTES + 1]; /* that this broker goes by; "": none yet */
	char why[512];		    /* why there is none */
	int64_t since_ms; /* since when none can be chosen; 0: one was */
	/* A ring: the latest ids, and a hash of the address of each. */
	char places[4 * QUORUM_SERVERS_MAX][2 * NODE_BYTES + 1];
	int64_t places_ms[4 * QUORUM_SERVERS_MAX]; /* when that was learned */
	unsigned next_place;
	bool good;		/* a majority has said that it may grant */
	bool lost;		/* the log says that it has ended */
	struct vote_list votes; /* to be sent before the step ends */
};

static inline struct quorum *
quorum_of(const struct core *core)
{
	return core->part[PART_QUORUM];
}

static inline struct voter *
voter_at(const struct core *core, uint32_t shard)
{
	assert(shard < core->config.shards);
	return &quorum_of(core)->v[shard];
}

static inline struct voter *
voter_of(const struct core *core, const struct guard *g)
{
	return voter_at(core, guard_index(core, g));
}

static inline unsigned
quorum_majority(const struct core *core)
{
	return core->config.shards / 2 + 1;
}

/* recovery.c: a server votes again when the others have reported all fences
 * that were granted without it.  How long it does not vote; it is about to. */
int64_t recovery_grace_ms(const struct core *core, const struct guard *g);
void recovery_note(struct core *core, const struct guard *g);

#endif
