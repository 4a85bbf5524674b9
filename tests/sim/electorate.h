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
	unsigned fresh;	    /* they came last, and have not been seen ready;
			     * as bits */
	int64_t changed_us; /* when the last one was added, or seen ready */
};

/*
 * May the server come back with such data?  While servers are replaced, those
 * that lose their data count as replaced, too; and what was saved before that
 * is never restored.
 */
bool electorate_may_lose(
    struct world *w, const struct server *lost, enum server_data data);

/* Servers are replaced by fresh ones; brokers are told one after the other. */
void electorate_replace(struct world *w);

/* Writes who each server votes with. */
void electorate_trace(struct world *w);

/* The network falls apart while servers are replaced: the old are on one side,
 * the new on the other. */
void electorate_part(struct world *w);

/* A broker is about to move a server to another set. */
void electorate_moves(struct world *w);

/* Gives the broker the latest list of servers; true: it had another one. */
bool electorate_tell(struct broker *b);

#endif
