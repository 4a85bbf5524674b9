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

/* holders.c */

/* What the holders of a name are being told.  Owned by lock.rare. */
struct sharers {
	TAILQ_ENTRY(sharers) link; /* in locks.losing or locks.warning */
	struct lock *lock;
	bool losing;
	struct loss loss;	 /* losing */
	char by[PEND_MAX_BYTES]; /* loss.by is that, or NULL */
	enum event_id event;	 /* not losing */
	struct cursor next;	 /* not losing: the next one to be told */
};

/* Puts it at the end of its list. */
struct sharers *sharers_begin(struct core *core, struct lock *l, bool losing);

/* Are the holders losing the name? */
bool sharers_loses(const struct lock *l);

/* What is under way for the lock is dropped. */
void sharers_forget(struct core *core, struct lock *l);

/* sharers.c */

/* All holders lose the name; if they are many, the rest in the next steps. */
void sharers_lose(struct core *core, struct lock *l, const struct loss *loss);
bool sharers_lose_on(struct core *core); /* a job */

/*
 * Brings the lock up to date before a request acts on it: if the lease has run
 * out or the holders are losing the name, they are told so first; if they are
 * many, at least this session is.
 */
void lock_look(struct core *core, struct lock *l, const struct owner *owner);

/* Tells all holders ATRISK or SAFE; the rest in the next steps. */
void sharers_tell(struct core *core, struct lock *l, enum event_id event);
bool sharers_tell_on(struct core *core); /* a job */

#endif
