/*
 * Those who hold one name together, of whom there may be very many: they are
 * told in parts, between which the core goes on (work.h).
 *
 * What they lose, they lose before anything else happens: the driver has no
 * other event before that (core_has_losses()), and the name is not looked at
 * (lock_next()).  Whoever comes by it all the same loses it first
 * (lock_look()).
 */
#ifndef LOCKBROKER_CORE_LOCK_SHARERS_H
#define LOCKBROKER_CORE_LOCK_SHARERS_H

#include "core/lock/state.h"

/* What is lost, and what comes of it. */
struct loss {
	const char *reason; /* static */
	int64_t since_ms;   /* whoever has it since later keeps it */
	const char *by;	    /* forced: who asked; else NULL */
	bool tell_by;	    /* another broker was asked: it is logged here */
	/* When they are told: the lease goes on, or ends. */
	void (*then)(struct core *core, struct lock *l, int64_t since_ms);
};

/* All lose it; where they are many, the rest in the next steps. */
void sharers_lose(struct core *core, struct lock *l, const struct loss *loss);
void sharers_lose_on(struct core *core);

/* Where that is under way: this one loses it now. */
void sharers_lose_one(
    struct core *core, struct lock *l, const struct session *s);
bool sharers_loses(const struct lock *l);

/* All are told ATRISK or SAFE. */
void sharers_tell(struct core *core, struct lock *l, enum event_id event);
void sharers_tell_on(struct core *core);

bool sharers_has_more(const struct core *core);

/* This hold is being freed; this lock is. */
void sharers_leave_hold(const struct hold *h);
void sharers_forget(struct core *core, struct lock *l);

#endif
