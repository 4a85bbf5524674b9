/*
 * What a semaphore is made of.  Only semaphore.c, which decides what comes
 * next, and permits.c, which knows who has what, include this.
 */
#ifndef LOCKBROKER_CORE_SYNC_SEMAPHORE_STATE_H
#define LOCKBROKER_CORE_SYNC_SEMAPHORE_STATE_H

#include "core/guard/gain.h"
#include "core/sync/semaphore.h"

/* A RELEASE whose permits are being given back in the store. */
struct giving {
	TAILQ_ENTRY(giving) link;
	uint64_t session; /* id */
	uint64_t ref;
	uint64_t held; /* by the session, still */
};
TAILQ_HEAD(giving_list, giving);

/*
 * A semaphore of this broker.  `owned` counts what the store was told last
 * that is in use; while an operation is in flight, not what it may bring.
 */
struct semaphore {
	struct sync y;
	struct permits_list holders;
	struct permits_list
	    losers;	       /* who had them; to be told that they lost */
	const char *why_lost;  /* static */
	uint32_t losses;       /* of all permits that there were */
	enum event_id warning; /* that the holders are told */
	const struct permits *warned_next; /* who is told next */
	/* Owned: RELEASEs of which the store was not told, those of which the
	 * operation in flight tells it, and those to be answered: that it is so,
	 * and that it is not known yet. */
	struct giving_list givings, flying, known, deferred;
	uint64_t limit;	      /* as of those who hold or wait */
	uint64_t taken_limit; /* as of those that are owned */
	uint64_t used;
	uint64_t left; /* not used, but left in the store to run out */
	uint64_t owned;
	uint64_t fresh;	    /* of them, not yet granted since they were taken */
	uint64_t free;	    /* nobody's, when last told */
	uint64_t told_need; /* we are in the queue for so many more; 0: not */
	uint64_t asked_have; /* by the operation in flight */
	uint64_t asked_need;
	uint64_t asked_limit;
	uint64_t was_owned;   /* before it */
	int64_t confirmed_ms; /* when what keeps the lease was sent */
	int64_t renew_ms;
	int64_t look_ms;      /* queued: when to look again */
	int64_t end_ms;	      /* the store has nothing of ours after it */
	int64_t contended_ms; /* since when another broker waits; 0: none */
	uint32_t epoch;	      /* of the guard, when last confirmed */
	uint32_t row;	      /* handovers since another broker waits */
	bool unsure;	      /* the store may have more for us than we count */
	bool atrisk;
	bool wanted;	 /* a message since it was sent: another waits */
	bool was_unsure; /* before the operation in flight */
	bool asked_queue;
	bool losing, warned; /* in syncs.losing; in syncs.warning */
	bool serving;	     /* there is more to be granted before all else */
	const char *refuse;  /* those that were asked for; static; NULL: not */
};

static inline struct semaphore *
semaphore_of(struct sync *y)
{
	return container_of(y, struct semaphore, y);
}

/* Until when the permits are vouched for, if nothing is confirmed before. */
static inline int64_t
semaphore_deadline_ms(const struct core *core, const struct semaphore *m)
{
	return m->confirmed_ms + core->vouch_ms -
	       gain_since(core, m->y.shard, m->confirmed_ms);
}

/* A claim is granted; it is told at the FLUSH. */
void permits_grant(struct core *core, struct claim *c);

/* Some of them are given back. */
void permits_reduce(struct core *core, struct permits *p, uint64_t n);

/* All of them are lost, or have something told; in parts. */
void holders_lose(struct core *core, struct semaphore *m, const char *reason);
void holders_tell(struct core *core, struct semaphore *m, enum event_id event);

/* Nobody is told more of a warning. */
void holders_hush(struct core *core, struct semaphore *m);

/* Are they lost with all others? */
static inline bool
permits_are_lost(const struct permits *p)
{
	return p->losses != semaphore_of(p->sync)->losses;
}

/* They are gone, and the session is told. */
void permits_lose(struct core *core, struct permits *p, const char *reason);

/* Tells the session about those of its permits that it was told of. */
void permits_tell(
    struct core *core, const struct permits *p, enum event_id event);

#endif
