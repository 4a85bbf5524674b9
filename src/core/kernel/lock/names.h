/*
 * All names of which this broker knows something, and how to find them.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_NAMES_H
#define LOCKBROKER_CORE_KERNEL_LOCK_NAMES_H

#include "core/kernel/lock/state.h"

void names_init(struct core *core, const struct claim_class *claims);
void names_fini(struct core *core);

/* The lock of a name: NULL if there is none, or made if there is none.  For
 * lock_make(), the caller knows that there is none. */
struct lock *lock_find(const struct core *core, const char *name, size_t len);
struct lock *lock_get(struct core *core, const char *name, size_t len);
struct lock *lock_make(struct core *core, const char *name, size_t len);

/* Returns lock.rare, to be written; makes it if there is none yet. */
struct lock_rare *lock_need_rare(struct lock *l);

/*
 * Names that linger.  A hold that ends keeps all other sessions away until
 * then.  Does the name linger for this session, so that it may lock it again?
 */
void lock_linger(struct core *core, const struct hold *h, int64_t until_ms);
bool lock_lingers_for(
    const struct core *core, const struct lock *l, const struct owner *owner);

/* What the part of that id has of a name; NULL: nothing. */
static inline void *
lock_part(const struct lock *l, unsigned id)
{
	void *const *part = lock_rare(l)->part;

	return part != NULL ? part[id] : NULL;
}

/* The same, made if there is none: `size` bytes, all zero.  It is freed with the
 * name, behind `freed`. */
void *lock_need_part(struct lock *l, unsigned id, size_t size);

/* How far a walk has come; the rules of a table_walk (base/table.h) apply. */
struct lock_walk {
	const struct core *core;
	uint32_t shard;
	struct table_walk in; /* the names of `shard` */
};

/* The first of all names; the next.  NULL: that was all. */
struct lock *names_first(const struct core *core, struct lock_walk *walk);
struct lock *names_next(struct lock_walk *walk);

/* The lock that a link of the table is in; NULL: NULL. */
struct lock *lock_of(struct table_link *link);

/* Frees the lock, for lock_free().  Requires that it is not touched. */
void names_remove(struct core *core, struct lock *l);

/*
 * The name has changed: lock_next() will be called for it before the step ends,
 * or in one of the next steps.  lock_untouch() takes that back.
 */
void lock_touch(struct core *core, struct lock *l);
void lock_untouch(struct core *core, struct lock *l);

/* Is any lock, or the hole of one, in the ring of those that were touched? */
bool names_touched(const struct core *core);

/* Takes the first lock that was touched off the ring; NULL: it was untouched.
 * Requires that the ring is not empty. */
struct lock *lock_next_touched(struct core *core);

#endif
