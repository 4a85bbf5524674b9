/*
 * How far the servers of a quorum are on their way to a set (parts/quorum/DESIGN).
 */
#ifndef LOCKBROKER_CORE_PARTS_QUORUM_VOTER_STAGE_H
#define LOCKBROKER_CORE_PARTS_QUORUM_VOTER_STAGE_H

#include "core/parts/quorum/quorum.h"

/* Has it reported its id since it could be reached again?  Another server may
 * have taken its address meanwhile. */
bool voter_is_known(const struct voter *v);

/* Does it vote in no set, and did it vote in none before? */
bool voter_is_new(const struct voter *v);

/*
 * Is the set that a reports higher than that of b?  Of two sets of one version,
 * the settled one, or else the one with a pledge, goes before the other: it may
 * be the only one that can become settled.
 */
bool voter_is_higher(const struct voter *a, const struct voter *b);

/* Only known servers count. */
struct stage {
	unsigned here;	  /* how many have moved to it */
	unsigned free;	  /* of those, have not pledged to stay */
	unsigned kept;	  /* had a say before */
	unsigned pledged; /* had a say before, and have pledged */
	unsigned need;	  /* a majority of the set before */
	bool settled;
};

/* The set has n servers. */
struct stage stage_of(const struct core *core, const char *set, unsigned n);

/*
 * What is to be asked of a server that has moved to a set of n (the letters of
 * lua/guard.lua); 0: nothing.  If too many servers are new, or have lost their
 * data, for a majority to pledge, all must have moved, and pledge.
 */
char stage_step(const struct voter *v, const struct stage *stage, unsigned n);

/* Must it stay where it is, rather than move to that set? */
bool stage_ties(
    const struct voter *v, const char *set, const struct stage *stage);

#endif
