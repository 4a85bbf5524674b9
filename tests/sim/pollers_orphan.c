/*
 * In some runs one hold of a token is left to itself: a poller takes a name for
 * long, the broker that has granted it dies, and when another one must have taken
 * the hold up (lockbroker-resp(7)), Redis forgets everything.  Nothing else
 * befalls anybody, so the client has its name to the end.  Not where brokers are
 * replaced: one that leaves may take the hold up, and its end begins that time
 * anew.
 */
#include "config.h"

#include "world.h"

#define ORPHAN_RUNS 60	    /* in a thousand */
#define ADOPTED_US 10000000 /* in so long, ... */
#define ADOPTED_LEASES 5    /* ... or so many leases: what is longer */
#define NEEDED (unsigned)(FAULT_CRASH | FAULT_FLUSH)

static event_fn on_death, on_flush;

static int64_t
adopted_us(const struct world *w)
{
	int64_t us = ADOPTED_LEASES * w->lease_ms * 1000;

	return us > ADOPTED_US ? us : ADOPTED_US;
}

void
orphan_make(struct world *w)
{
	struct pollers *all = &w->pollers;
	struct prng prng;

	prng_seed(&prng, w->o->seed ^ 0x6f727068616e);
	if (!prng_chance(&prng, ORPHAN_RUNS) || w->nservers > 1 || w->owned ||
	    w->leaves || w->nbrokers < 2 || all->v[0].common ||
	    (w->o->faults & NEEDED) != NEEDED)
		return;
	all->orphan = ORPHAN_WANTED;
	w->faults.on = NEEDED;
}

/* It outlives the grace period, so that others ask for the name. */
int64_t
orphan_px_ms(const struct poller *p)
{
	const struct world *w = p->w;

	if (w->pollers.orphan != ORPHAN_WANTED || p->index != 0)
		return 0;
	return adopted_us(w) / 1000 + w->grace_ms + 5 * w->lease_ms;
}

bool
orphan_is_left(const struct poller *p)
{
	return p->w->pollers.orphan > ORPHAN_WANTED && p->index == 0 &&
	       poller_has(p);
}

void
orphan_granted(struct broker *b, struct poller *p)
{
	struct world *w = b->w;
	int64_t at_us =
	    world_now(w) + 1000 + (int64_t)(p->sent_us % (w->lease_ms * 1000));

	if (w->pollers.orphan != ORPHAN_WANTED || p->index != 0 ||
	    at_us + adopted_us(w) >= w->heal_us)
		return;
	w->pollers.orphan = ORPHAN_TAKEN;
	events_at(&w->events, at_us, on_death, b, b->life);
	events_at(&w->events, at_us + adopted_us(w), on_flush, w, 0);
}

static void
on_death(void *object, uint64_t tag)
{
	struct broker *b = object;

	if (tag != b->life || !poller_has(&b->w->pollers.v[0]))
		return;
	b->w->pollers.orphan = ORPHAN_LEFT;
	faults_crash(b);
}

/* Unless its client has lost it by force meanwhile. */
static void
on_flush(void *object, uint64_t tag)
{
	struct world *w = object;
	struct poller *p = &w->pollers.v[0];

	(void)tag;
	if (w->pollers.orphan == ORPHAN_LEFT && poller_has(p) && !p->unsure)
		w->pollers.orphan = ORPHAN_ADOPTED;
	faults_flush(&w->servers[0]);
}
