/*
 * The network falls into two parts, and is whole again after a while.
 */
#include "config.h"

#include <stdio.h>

#include "faults_parts.h"
#include "world.h"

static event_fn on_part;
static event_fn on_reunion;

void
faults_reunite(struct world *w)
{
	int i;

	if (!w->faults.parted)
		return;
	TRACE(w, "the network is whole again");
	w->faults.parted = false;
	for (i = 0; i < w->nbrokers; i++)
		w->brokers[i].side = 0;
	for (i = 0; i < SENTINELS; i++)
		w->sentinels.v[i].node.side = 0;
	for (i = 0; i < w->nservers; i++)
		w->servers[i].side = 0;
	for (i = 0; i < w->nservers; i++)
		server_reunite(&w->servers[i]);
	for (i = 0; i < SENTINELS && w->sentinels.master != NULL; i++)
		server_reunite(&w->sentinels.v[i].node);
}

static void
on_reunion(void *object, uint64_t tag)
{
	(void)tag;
	faults_reunite(object);
}

static void
trace_sides(struct world *w)
{
	char sides[64];
	int i, n = 0;

	for (i = 0; i < w->nservers; i++)
		n += sprintf(sides + n, "%d", w->servers[i].side);
	n += sprintf(sides + n, " ");
	for (i = 0; i < w->nbrokers; i++)
		n += sprintf(sides + n, "%d", w->brokers[i].side);
	n += sprintf(sides + n, " ");
	for (i = 0; i < SENTINELS; i++)
		n += sprintf(sides + n, "%d", w->sentinels.v[i].node.side);
	TRACE(w, "the network falls apart: %s", sides);
}

/* Each part gets some servers and brokers; Sentinels, too.  `old` is a master
 * that was replaced just now, and does not hear of that; or NULL. */
static void
part(struct world *w, bool directed, struct server *old)
{
	struct prng *p = &w->prng;
	/* One server, with some brokers? */
	bool alone = prng_chance(p, 500) && old == NULL;
	struct server *one = faults_some_server(w);
	int i;

	if (w->faults.parted)
		return;
	w->faults.parted = true;
	for (i = 0; i < w->nservers; i++)
		w->servers[i].side =
		    alone ? &w->servers[i] == one : (int)prng_below(p, 2);
	for (i = 0; i < w->nbrokers; i++)
		w->brokers[i].side = (int)prng_below(p, 2);
	for (i = 0; i < SENTINELS; i++)
		w->sentinels.v[i].node.side = prng_chance(p, alone ? 200 : 500);
	if (directed)
		electorate_part(w);
	if (old != NULL)
		old->side = !cluster_master_of(old)->side;
	trace_sides(w);
	faults_later(w, faults_some_us(w, 50, 8 * w->lease_ms), on_reunion, w);
}

void
faults_partition(struct world *w)
{
	part(w, w->quorum && prng_chance(&w->prng, 500), NULL);
}

void
faults_part_from(struct server *old)
{
	part(old->w, false, old);
}

static void
on_part(void *object, uint64_t tag)
{
	struct world *w = object;

	(void)tag;
	if (faults_active(w, FAULT_PARTITION))
		part(w, true, NULL);
}

void
faults_part_soon(struct world *w)
{
	if (faults_active(w, FAULT_PARTITION) && !w->faults.parted)
		faults_later(
		    w, prng_range(&w->prng, 1, 2 * w->latency_us), on_part, w);
}
