/*
 * Where servers of a quorum were found: a new server at the place of a former
 * voter replaces it.  The guards note a hash of the address by each id, so that
 * brokers that start later know it, too.
 */
#ifndef LOCKBROKER_CORE_PARTS_QUORUM_VOTER_PLACE_H
#define LOCKBROKER_CORE_PARTS_QUORUM_VOTER_PLACE_H

#include "core/parts/quorum/quorum.h"

/* The server has reported its id: it is there. */
void place_note(struct core *core, const struct voter *v);

/* Notes what another broker knew of places: `text` has ids and hashes, one pair
 * after the other, and may be of any length. */
void places_learn(struct core *core, const char *text, size_t len);

/* Returns the hash of the place of an id; "": it is not known. */
const char *place_of(const struct core *core, const char *id);

/* Did the server with this id stand where that one is now? */
bool place_was_at(
    const struct core *core, const char *id, const struct voter *v);

#endif
