/*
 * Invariants of all names: between two steps, lists, counters and flags agree,
 * and nobody is forgotten.
 *
 * These are checks of this program, for tests and the simulator: in production
 * each step would take too long if it looked at everything.  What a counter is
 * for is said where it is defined (lock/state.h).
 */
#include "config.h"

#include "core/kernel/lock/hold.h"
#include "core/kernel/lock/lock.h"
#include "core/kernel/lock/names.h"
#include "core/kernel/turn/job.h"

/* Of all names, to be compared with the counters of the broker. */
struct sums {
	uint64_t holds, waiting, untold, unowned, counted;
	size_t names, lingering, touched, blocked;
};

/* Two holders share the name.  Holders without a lease are about to be told
 * that they have lost it, a part of them in each step. */
static void
check_holders(const struct lock *l)
{
	const struct holding *any;
	const struct hold *h;
	uint32_t n = 0;

	TAILQ_FOREACH (any, &l->holders, in_holders) {
		h = hold_seen(any);
		assert(h->lock == l && any->owner != NULL);
		assert(h->fence > 0);
		assert(h->rare == NULL || h->rare->hold == h);
		assert(hold_rare(h)->shared_fence == 0 ||
		       (hold_rare(h)->shared_fence < h->fence &&
			   l->nuntold > 0 && !l->shared_hold));
		n++;
	}
	assert(n == l->nholders);
	assert(lock_rare(l)->crowd == NULL || n == l->rare->crowd->n);
	assert(n <= 1 || l->shared_hold);
	assert(n == 0 || lease_is_held(&l->lease) || l->lease.term.losing);
}

/* Only the first waiter of a group has a deadline, for the whole group. */
static void
check_waiter(const struct waiter *w)
{
	const struct group *g = w->group;

	assert(w->claim.owner != NULL && !w->withdrawn);
	assert(g == NULL ? w->place == 0 : g->members[w->place] == w);
	assert(g == NULL || (g->left > 0 && g->left <= g->n));
	assert(timer_armed(&w->claim.deadline) ==
	       (w->deadline_ms > 0 && w->place == 0));
}

/* The last count is of impatient waiters: those of the queue and those of the
 * list are the same. */
static void
check_queue(const struct lock *l)
{
	uint32_t n = 0, ngroups = 0, nimpatient = 0;
	const struct waiter *w;

	TAILQ_FOREACH (w, &queue_of(l)->waiters, in_lock) {
		assert(w->lock == l && !w->claim.granted && w->hold == NULL);
		check_waiter(w);
		n++;
		ngroups += w->group != NULL;
		nimpatient += w->impatient;
	}
	assert((n > 0) == (l->queue != NULL));
	assert(n == queue_of(l)->n && ngroups == queue_of(l)->ngroups);
	TAILQ_FOREACH (w, &queue_of(l)->impatient, in_impatient) {
		assert(w->lock == l && w->impatient);
		nimpatient--;
	}
	assert(nimpatient == 0);
}

static void
check_lock(const struct core *core, const struct lock *l, struct sums *sums)
{
	assert(lock_find(core, l->name, l->name_len) == l);
	lease_check(core, &l->lease, l->touched);
	check_holders(l);
	check_queue(l);
	/* If an UNLOCK waits here, an operation is in flight. */
	assert(l->parting == NULL || l->lease.pending != NULL || l->touched);
	sums->names++;
	sums->holds += l->nholders;
	sums->waiting += queue_of(l)->n;
	sums->untold += l->nuntold;
	sums->unowned += l->unowned;
	sums->counted += l->counted;
	sums->lingering += l->lease.state == LEASE_LINGERING;
	sums->touched += l->touched;
	sums->blocked += l->lease.blocked;
}

uint64_t
locks_untold(const struct core *core)
{
	const struct waiter *w;
	const struct claim *c;
	uint64_t n = 0;

	TAILQ_FOREACH (c, &core->owners->granted, in_granted) {
		w = waiter_seen(c);
		assert(w == NULL || w->hold == NULL ||
		       w->hold->holding.owner == c->owner);
		n += w != NULL;
	}
	return n;
}

static void
check_sums(const struct core *core, const struct sums *sums)
{
	const struct locks *locks = core->locks;

	assert(sums->names == core->leases->n);
	assert(sums->lingering == core->leases->nlingering);
	assert(sums->holds == locks->nholds);
	assert(sums->waiting == locks->nwaiting);
	assert(sums->unowned == core->owners->nunowned);
	assert(sums->counted == core->owners->ncounted);
	assert(sums->untold == locks_untold(core));
	/* The ring has holes where names were untouched. */
	assert(sums->touched <= locks->touched_end - locks->touched_first);
}

size_t
locks_check(const struct core *core)
{
	struct sums sums = { .names = 0 };
	struct lock_walk walk;
	const struct lock *l;

	for (l = names_first(core, &walk); l != NULL; l = names_next(&walk))
		check_lock(core, l, &sums);
	check_sums(core, &sums);
	job_check(core, JOB_TOUCHED_LOCKS, names_touched(core));
	return sums.blocked;
}
