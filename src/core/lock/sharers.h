/*
 * The sessions that hold one name together may be very many, so the core tells
 * them things in parts, over several steps (work.h).
 *
 * All of them lose the name before anything else happens: until then the driver
 * has no other event (core_has_losses()), and lock_next() leaves the name as it
 * is.  If a session's request comes by it all the same, that session loses the
 * name first (lock_look()).
 */
#ifndef LOCKBROKER_CORE_LOCK_SHARERS_H
#define LOCKBROKER_CORE_LOCK_SHARERS_H

#include "core/lock/state.h"

/* Why a name is lost, by whom, and what happens then. */
struct loss {
	const char *reason; /* static */
	int64_t since_ms;   /* a hold that was granted later is kept */
	const char *by;	    /* forced: who asked; else NULL */
	bool tell_by;	    /* it was asked of another broker: log it here */
	/* Called when all are told: the lease goes on, or ends. */
	void (*then)(struct core *core, struct lock *l, int64_t since_ms);
};

/* All holders lose the name; if they are many, the rest in the next steps. */
void sharers_lose(struct core *core, struct lock *l, const struct loss *loss);
void sharers_lose_on(struct core *core);

/* If the holders are losing the name, this session loses it now; are they? */
void sharers_lose_one(
    struct core *core, struct lock *l, const struct owner *owner);
bool sharers_loses(const struct lock *l);

/* Tells all holders ATRISK or SAFE; the rest in the next steps. */
void sharers_tell(struct core *core, struct lock *l, enum event_id event);
void sharers_tell_on(struct core *core);

bool sharers_has_more(const struct core *core);

/* The hold is about to be freed; what is under way for the lock is dropped. */
void sharers_leave_hold(const struct hold *h);
void sharers_forget(struct core *core, struct lock *l);

#endif
