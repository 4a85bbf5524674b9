/*
 * Which servers of a quorum are to vote, and how one takes the place of another.
 */
#ifndef LOCKBROKER_SIM_ELECTORATE_H
#define LOCKBROKER_SIM_ELECTORATE_H

#include <stdbool.h>
#include <stdint.h>

#include "broker.h"
#include "server.h"

struct world;

/* Which servers the operator wants to vote.  Part of the world. */
struct electorate {
	int list[WORLD_SERVERS_MAX];
	unsigned fresh;	    /* came last, and nobody saw them ready; as bits */
	int64_t changed_us; /* when one was asked for, or seen ready */
};

/*
 * May it come back so?  While servers are replaced, those that lose their data
 * count as replaced, too; and what was saved before that is never restored.
 */
bool electorate_may_lose(
    struct world *w, const struct server *lost, enum server_data data);

/* Servers are replaced by fresh ones; broker after broker is told. */
void electorate_replace(struct world *w);

/* Writes who each server votes with. */
void electorate_trace(struct world *w);

/* While servers are replaced: who is old, and who is new, is on one side. */
void electorate_part(struct world *w);

/* A broker is about to move a server to another set. */
void electorate_moves(struct world *w);

/* The broker gets the latest list of servers; true: it has another one. */
bool electorate_tell(struct broker *b);

#endif
