/*
 * The state of a semaphore.  Only these include it: semaphore.c, which decides
 * what comes next, permits.c, which knows the holders, and lessee.c.
 */
#ifndef LOCKBROKER_CORE_PARTS_SYNC_SEMAPHORE_STATE_H
#define LOCKBROKER_CORE_PARTS_SYNC_SEMAPHORE_STATE_H

#include "core/parts/sync/permit_slots.h"
#include "core/parts/sync/semaphore.h"

/* A RELEASE whose permits the broker is giving back to the store. */
struct giving {
	TAILQ_ENTRY(giving) link;
	uint64_t session; /* id */
	uint64_t ref;
	uint64_t held; /* permits that the session still has */
};
TAILQ_HEAD(giving_list, giving);

/*
 * A semaphore of this broker.  `owned` counts the permits that the broker has
 * in the store for certain.  While an operation is in flight, these are the
 * permits that were in use when it was sent, without those that it may bring.
 */
struct semaphore {
	struct sync y;
	struct term term; /* while any permits are owned */
	struct contention contention;
	struct holding_list holders;
	struct holding_list losers; /* holders that lost theirs, to be told */
	const char *why_lost;	    /* static */
	uint32_t losses;	    /* how often all permits were lost */
	struct telling *telling;    /* owned; what the holders are being told */
	struct permit_slots *slots; /* owned; NULL: no slot was asked for */
	/* RELEASEs, owned.  `givings`: the store does not know of them.
	 * `flying`: the operation in flight tells it so.  The others only wait
	 * for their answers: `known`: the store has the permits back;
	 * `deferred`: this is not known yet. */
	struct giving_list givings, flying, known, deferred;
	uint64_t limit;	      /* that the holders and waiters have given */
	uint64_t taken_limit; /* with which the owned permits were taken */
	uint64_t used;
	/* No session uses them, but a client may count on them; the store keeps
	 * them from others until left_ms. */
	uint64_t left;
	int64_t left_ms;
	uint64_t owned;
	uint64_t fresh;	     /* how many of `owned` were never granted here */
	uint64_t free;	     /* that no one had, as the store said last */
	uint64_t told_need;  /* our place in the queue asks for it; 0: none */
	uint64_t asked_have; /* by the operation in flight; in use, ... */
	uint64_t asked_left; /* ... and left */
	uint64_t asked_need;
	uint64_t asked_limit;
	uint64_t was_owned; /* before that operation */
	int64_t end_ms;	    /* the store has nothing of ours after it */
	bool unsure;	    /* the store may have more for us than we count */
	bool wanted; /* a message, since the operation: another broker waits */
	bool was_unsure; /* before the operation in flight */
	bool asked_queue;
	bool gone;    /* the store had none when the holders lost theirs */
	bool serving; /* it continues to grant before all else */
	const char
	    *refuse; /* why entries asked for are refused; static; NULL */
};

static inline struct semaphore *
semaphore_of(struct sync *y)
{
	return container_of(y, struct semaphore, y);
}

#define SLOT_EXISTS "this session has a slot of it already"

/* Permits that clients of this broker use, or may count on. */
static inline uint64_t
in_use_or_owed(const struct semaphore *m)
{
	return m->used + m->left;
}

/* That many more permits are in use, or fewer. */
static inline void
semaphore_use(struct core *core, struct semaphore *m, int64_t more)
{
	m->used += (uint64_t)more;
	syncs_of(core)->npermits += (uint64_t)more;
	term_used(core, &m->term, more);
}

/* No permits are left that a client may count on. */
static inline void
semaphore_unleave(struct semaphore *m)
{
	m->left = 0;
	slots_unleave(m);
}

/* The broker now owns that many in the store, for certain. */
void semaphore_own(struct core *core, struct semaphore *m, uint64_t n);

/* It no longer owns any, and all holders lose theirs.  `gone`: the store has
 * none for this broker, not even those that were left. */
void semaphore_lose(
    struct core *core, struct semaphore *m, const char *reason, bool gone);

/* Grants an entry; the FLUSH tells its client. */
void permits_grant(struct core *core, struct entry *e);

/* The session releases n of its permits, but not all. */
void permits_reduce(struct core *core, struct permits *p, uint64_t n);

/* The session loses its permits, and is told if it knew of any. */
void permits_lose(struct core *core, struct permits *p, const char *reason);

/* A session has one slot of a semaphore: has it one already? */
bool permits_have_slot(
    const struct core *core, const struct sync *y, const struct owner *owner);

/* It loses the permit with that slot. */
void permits_lose_slot(
    struct core *core, struct permits *p, const char *reason);

#endif
