/*
 * Tells all who hold something on one term that it is lost, or at risk.
 *
 * They may be very many (sessions that share a name, or have permits of one
 * semaphore), so this goes on over several steps (work.h).
 *
 * A loss cannot be overtaken: until all have been told, the driver has no other
 * event (core_has_losses()), and the lessee leaves the thing alone
 * (term.losing).  If a request reaches the thing all the same, its session
 * loses it first.  A risk can be overtaken: a session that takes or releases
 * the thing meanwhile may be told, or not.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LEASE_TELL_H
#define LOCKBROKER_CORE_KERNEL_LEASE_TELL_H

#include "base/cursor.h"
#include "core/kernel/lease/term.h"

/* Why a thing is lost, by whom, and what happens then. */
struct loss {
	const char *reason; /* static */
	int64_t since_ms;   /* what was granted later is kept */
	const char *by;	    /* forced: who asked; else NULL */
	bool tell_by;	    /* it was asked of another broker: log it here */
	/* Called when all are told; NULL: nothing follows. */
	void (*then)(struct core *core, struct term *t, int64_t since_ms);
};

/* The news that the remaining holders are still to be told.  Owned by the
 * lessee of the term. */
struct telling {
	TAILQ_ENTRY(telling) link; /* in terms.losing or terms.warning */
	struct term *term;
	struct loss loss;	 /* losing */
	char by[PEND_MAX_BYTES]; /* loss.by is that, or NULL */
	struct cursor next;	 /* warning: the next one to be told */
};

/* All lose it.  If that takes more steps, the lessee is touched at the end. */
void tell_loss(struct core *core, struct term *t, const struct loss *loss);

/* The loss under way.  Requires that there is one. */
const struct loss *tell_losing(const struct core *core, struct term *t);

/* All are told that it is at risk, or safe again, as it is now. */
void tell_risk(struct core *core, struct term *t);

/* What is under way is dropped. */
void tell_no_more(struct core *core, struct term *t);

/* Jobs. */
bool tell_losses_on(struct core *core);
bool tell_risks_on(struct core *core);

#endif
