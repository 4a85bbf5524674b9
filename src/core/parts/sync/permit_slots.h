/*
 * Slots: which of the N permits of a semaphore a session has (`slot=yes`).  A
 * slot goes with a permit: the store gives this broker no more slots than
 * permits, so where a permit is free, a slot is, too.
 *
 *	the store --new--> spare --grant--> used --given back--> spare
 *	     ^                                |
 *	     +-- no longer stated -- left <---+ a client may count on it
 */
#ifndef LOCKBROKER_CORE_PARTS_SYNC_PERMIT_SLOTS_H
#define LOCKBROKER_CORE_PARTS_SYNC_PERMIT_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

struct core;
struct op;
struct outcome;
struct semaphore;

/* The largest limit= with slots: one step looks at all that have one. */
#define SLOTS_MAX 512
#define NO_SLOT SLOTS_MAX /* the slot of permits without one */

struct slot_set {
	uint64_t bits[SLOTS_MAX / 64];
};

/* Of one semaphore; made when a client here asks for a slot. */
struct permit_slots {
	struct slot_set used;  /* sessions here have them */
	struct slot_set left;  /* without a session, as semaphore.left is */
	struct slot_set spare; /* ours in the store, for the next here */
	struct slot_set asked; /* stated by the operation in flight ... */
	bool asked_new;	       /* ... whose first entry wants a new one */
};

/* Is there one for the next session here? */
bool slots_any(const struct semaphore *m);

/* Does a session here have it? */
bool slots_in_use(const struct semaphore *m, uint32_t slot);

/* The lowest of them is used from now on. */
uint32_t slots_use(struct semaphore *m);

/* A session no longer has it.  NO_SLOT: nothing happens. */
void slots_free(struct semaphore *m, uint32_t slot);

/* A client may count on it for as long as on the permits that are left. */
void slots_leave(struct semaphore *m, uint32_t slot);

/* None is left any longer. */
void slots_unleave(struct semaphore *m);

/* The sessions have lost all permits. */
void slots_lose(struct semaphore *m);

/* Writes into the operation which slots are in use, and that the first of its
 * entries (`head`) and `more` in all want new ones.  From now on no other slots
 * count as ours. */
void slots_state(struct core *core, struct semaphore *m, struct op *op,
    bool head, uint64_t more);

/* Does the answer lack a slot that the operation must have brought? */
bool slots_missing(const struct semaphore *m, const struct outcome *o);

/* The answer says which slots are ours: new ones are spare.  Returns whether
 * some are no longer ours, and so not in use. */
bool slots_heard(struct semaphore *m, const struct outcome *o);

#endif
