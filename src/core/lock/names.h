/*
 * The names that this broker knows something of: how they are found.
 */
#ifndef LOCKBROKER_CORE_LOCK_NAMES_H
#define LOCKBROKER_CORE_LOCK_NAMES_H

#include "core/lock/state.h"

void names_init(struct core *core, const struct lock_listener *above);
void names_fini(struct core *core);

/* Those of a guard, which are looked at when its history has changed. */
struct names *names_of(const struct core *core, uint32_t shard);

struct lock *lock_find(const struct core *core, const char *name, size_t len);
struct lock *lock_get(struct core *core, const char *name, size_t len);

/* What is more to be known of it, to be written. */
struct more *need_more(struct lock *l);

/*
 * Names that linger: a hold that ends keeps all others away until then; may this
 * session lock it again now?
 */
void lock_linger(struct core *core, const struct hold *h, int64_t until_ms);
bool lock_lingers_for(
    const struct core *core, const struct lock *l, const struct session *s);

/* How far a walk has come; what goes for a table_walk goes for it. */
struct lock_walk {
	const struct core *core;
	uint32_t shard, last;
	struct table_walk in; /* the names of the present one */
};

/* All names; those of one guard. */
struct lock *names_first(const struct core *core, struct lock_walk *walk);
struct lock *names_first_of(
    const struct core *core, uint32_t shard, struct lock_walk *walk);
struct lock *names_next(struct lock_walk *walk);

/* For the table; and back. */
struct lock *lock_of(struct table_link *link);
const char *lock_name(const struct table_link *link, size_t *len);

/* Nobody has it or waits for it, and nothing is under way: frees it. */
void names_remove(struct core *core, struct lock *l);

/*
 * Something has changed for the name: lock_next() before the step ends, or in
 * the next ones.
 */
void lock_touch(struct core *core, struct lock *l);
void lock_untouch(struct core *core, struct lock *l);

/* The first that was touched, if there is any; NULL: that one is over. */
struct lock *lock_next_touched(struct core *core);

/* Does none need anything more of this broker?  Tombstones end by themselves. */
bool names_all_over(const struct core *core);

/* Is there none of that guard? */
bool names_has_nothing(const struct core *core, uint32_t shard);

/* A lease turned up that is yet to be written again. */
void lock_unproved(struct core *core, uint32_t shard);

#endif
