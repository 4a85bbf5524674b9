/*
 * Brokers that are replaced: a place has two processes, of which one serves
 * those that come.  The other one is absent; or it is to take over; or it leaves,
 * and serves the clients that it has until they go.
 *
 *	absent --> heir --> alone --> leaving --> absent
 *	                      ^---------'  its successor has died at once
 *
 * What they say to each other goes over a channel (bond.h), by the rules of
 * src/daemon/replace/upgrade.c and leavers.c.  Who comes is accepted by the one that
 * is alone there; if its session is the other one's, the connection is handed on
 * (resumes.h).
 */
#ifndef LOCKBROKER_SIM_LEAVING_H
#define LOCKBROKER_SIM_LEAVING_H

#include <stdbool.h>
#include <stdint.h>

struct broker;
struct parcel;
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

/* The other process of its place; NULL: there is only one. */
struct broker *leaving_twin(const struct broker *b);

/* Who accepts a client that means the broker with that index; `stays`: it has a
 * connection there.  NULL: nobody yet, and clients wait. */
struct broker *leaving_find(struct world *w, int index, bool stays);

/* The other process of its place has said something, or its end is read. */
void leaving_hears(struct broker *b, const struct parcel *p);

/* The number of a process that starts, which was drawn for it. */
uint64_t leaving_instance(const struct broker *b, uint64_t drawn);

/*
 * A name that was kept for nobody may be granted so much later: if another
 * process has taken it up, it lasts for a pad longer (core/parts/token/adopt.c); if its
 * process has ended, nobody says when it is over, and brokers look once a lease.
 */
int64_t leaving_more_us(const struct world *w);

/* Has the other process of its place that Redis, too? */
bool leaving_shared(const struct broker *b);

/* It has died, or has stopped: is another process to be started in its place? */
bool leaving_died(struct broker *b);

/* It is about to stop, and so its heir ends, and who leaves is to stop. */
void leaving_stops(struct broker *b);

#endif
