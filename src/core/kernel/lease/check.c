/*
 * What is true of every lease between two steps.
 */
#include "config.h"

#include "core/kernel/lease/lease.h"

/* The operation in flight, and what the next ones need.  An end needs to know
 * until when the key may live: then it is over even without an answer. */
static void
check_asked(const struct lease *l)
{
	assert(
	    !lease_converts(l) || lease_is_held(l) || l->state == LEASE_ENDING);
	assert(l->pending == NULL || l->pending->reserve <= LEASE_FENCES_MAX);
	assert(lease_rare(l)->again_seq == 0 || l->state == LEASE_ENDING);
	assert(l->state != LEASE_ENDING || l->key_end_ms > 0);
	assert(l->fences <= LEASE_FENCES_MAX);
}

/* No lease is forgotten: each waits for something that will come. */
static void
check_awaits(const struct lease *l)
{
	if (l->state == LEASE_NONE)
		return; /* its lessee may want nothing */
	assert(l->pending != NULL || l->blocked || timer_armed(&l->timer));
}

void
lease_check(const struct core *core, const struct lease *l, bool touched)
{
	assert(l->state < LEASE_MAX);
	assert((l->term.state != TERM_OVER) == lease_is_held(l));
	term_check(core, &l->term);
	assert(!lease_is_held(l) || l->seq > 0);
	check_asked(l);
	if (!touched)
		check_awaits(l);
}

void
leases_check(const struct core *core)
{
	const struct leases *all = core->leases;

	assert(all->nlingering <= all->n);
}
