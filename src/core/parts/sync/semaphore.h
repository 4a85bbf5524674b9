/*
 * Semaphores ("Other synchronizers" in lockbroker-protocol(7)): ACQUIRE and
 * RELEASE.
 */
#ifndef LOCKBROKER_CORE_PARTS_SYNC_SEMAPHORE_H
#define LOCKBROKER_CORE_PARTS_SYNC_SEMAPHORE_H

#include "core/kernel/lease/term.h"
#include "core/kernel/session/holding.h"
#include "core/parts/sync/sync.h"

/* The permits of one owner, of one semaphore.  Owned by permits.c. */
struct permits {
	struct holding holding;
	struct table_link by_key; /* in syncs.permits */
	struct permits_key {
		const struct owner *owner;
		const struct sync *sync;
	} key; /* the same two, as bytes */
	struct sync *sync;
	struct timer bound; /* armed if the time of holding is bounded */
	uint64_t n;
	uint64_t untold;  /* how many of them wait for a FLUSH */
	unsigned nuntold; /* entries not told yet; they keep this struct */
	uint32_t losses;  /* the semaphore's, when they were granted */
	uint32_t slot;	  /* that one of them has; NO_SLOT */
	bool slot_told;
	bool over;	/* the owner no longer has them, ... */
	bool withdrawn; /* ... because it lost them */
};

/* Requires that it is permits, or NULL. */
static inline struct permits *
permits_of(struct holding *h)
{
	assert(h == NULL || h->kind == HOLDING_PERMITS);
	return h == NULL ? NULL : container_of(h, struct permits, holding);
}

static inline const struct permits *
permits_seen(const struct holding *h)
{
	assert(h->kind == HOLDING_PERMITS);
	return container_of_const(h, struct permits, holding);
}

extern const struct sync_class semaphore_class;
extern const struct holding_class permits_class;

/* How a semaphore uses the term of its permits. */
extern const struct term_lessee semaphore_of_term;

/* Returns the permits of the owner that has had any for longest; NULL: none
 * has. */
struct permits *semaphore_holder(const struct sync *y);

/* Returns how many permits are in use here, and sets their total number. */
uint64_t semaphore_out(const struct sync *y, uint64_t *limit);

/* Returns what this broker has of the semaphore in Redis. */
const struct term *semaphore_term(const struct sync *y);

/* Did the owner lose them when all holders lost theirs?  It has yet to be
 * told. */
bool permits_are_lost(const struct permits *p);

/* The owner releases all of them, or has ended. */
void permits_end(struct core *core, struct permits *p);

/* The same for permits that the session was told of: if they were at risk, it
 * has given them up. */
void permits_give_back(struct core *core, struct permits *p);

/* Undoes the grant of an entry that will not be told. */
void permits_take_back(struct core *core, struct entry *e);

/* Were the permits of a granted entry lost before it was told, or have they
 * been by now?  If they were lost with all of the semaphore, this tells the
 * owner of the loss first. */
bool permits_withdrawn(struct core *core, struct entry *e);

/* Counts the permits of an entry as told.  Returns false if the owner no
 * longer has them. */
bool permits_untold(struct entry *e);

/* The time for which the owner may hold them is over. */
void permits_timer(struct core *core, struct timer *t);

/* Returns the permits of the owner, or NULL.  They may be lost without the
 * owner having been told. */
struct permits *permits_find(
    const struct core *core, const struct sync *y, const struct owner *owner);

void permits_init(struct core *core);

#endif
