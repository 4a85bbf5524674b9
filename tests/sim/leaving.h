/*
 * Brokers that are replaced: a place has two processes, of which one serves
 * those that come.  The other one is absent; or it is to take over; or it leaves,
 * and serves the clients that it has until they go.
 *
 *	absent --> heir --> alone --> leaving --> absent
 *
 * Who comes is accepted by the one that is alone there, and a client that
 * resumes a session by the one that has it, as if its connection was handed on.
 */
#ifndef LOCKBROKER_SIM_LEAVING_H
#define LOCKBROKER_SIM_LEAVING_H

#include <stdbool.h>
#include <stdint.h>

struct broker;
struct world;

/* Which process of its place a broker is. */
enum broker_part {
	PART_ALONE, /* also where nobody is replaced */
	PART_ABSENT,
	PART_HEIR,
	PART_LEAVING
};

void leaving_draw(struct world *w);
void leaving_start(struct world *w);

/* Who accepts a client that means the broker with that index. */
struct broker *leaving_find(struct world *w, int index, bool resumes);

/* The number of a process that starts, which was drawn for it. */
uint64_t leaving_instance(const struct broker *b, uint64_t drawn);

/*
 * A name that was kept for nobody may be granted so much later: if another
 * process has taken it up, it lasts for a pad longer (core/token/adopt.c); if its
 * process has ended, nobody says when it is over, and brokers look once a lease.
 */
int64_t leaving_more_us(const struct world *w);

/* Has the other process of its place that Redis, too? */
bool leaving_shared(const struct broker *b);

/* It has died, or has stopped: does another process take its place? */
bool leaving_died(struct broker *b);

/* It is about to stop, and so its heir ends. */
void leaving_stops(struct broker *b);

#endif
