/*
 * What the files about faults share with each other and with nobody else.
 */
#ifndef LOCKBROKER_SIM_FAULTS_PARTS_H
#define LOCKBROKER_SIM_FAULTS_PARTS_H

#include "events.h"
#include "faults.h"

/* Is this fault one of this run; and does it strike now, before the healing? */
bool faults_has(const struct world *w, enum fault fault);
bool faults_active(const struct world *w, enum fault fault);

/* A time between two limits, which is more often short than long. */
int64_t faults_some_us(struct world *w, int64_t least_ms, int64_t most_ms);

/* A server that faults may befall. */
struct server *faults_some_server(struct world *w);

void faults_later(struct world *w, int64_t in_us, event_fn *fn, void *object);

/* faults_plain.c: a plain client takes a name. */
void faults_plain(struct world *w);

/* faults_spoil.c: somebody writes into Redis what no broker has written, now, or
 * until all is healed. */
void faults_spoil(struct world *w);
void faults_spoil_start(struct world *w);

/* faults_partition.c: the network falls apart; it is whole again. */
void faults_partition(struct world *w);
void faults_part_from(struct server *old);
void faults_reunite(struct world *w);

#endif
