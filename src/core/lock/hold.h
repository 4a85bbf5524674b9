/*
 * Holds: what a session has of a name, and how it ends.
 */
#ifndef LOCKBROKER_CORE_LOCK_HOLD_H
#define LOCKBROKER_CORE_LOCK_HOLD_H

#include "core/lock/state.h"

struct hold *hold_find(const struct lock *l, const struct session *s);

/* The next holder of the name, in the order in which they came; NULL: none. */
struct hold *hold_later(const struct hold *h);

/* The session gets the name: for waiter w, with this fence. */
struct hold *hold_new(struct core *core, struct waiter *w, uint64_t fence);

/* The only one that shares the name gets it for itself, with a new fence. */
void hold_upgrade(
    struct core *core, struct hold *h, struct waiter *w, uint64_t fence);

/* Once more by the session that has it. */
void hold_reenter(struct core *core, struct hold *h, struct waiter *w);

/* That is told: a new bound holds from now on. */
void hold_told(struct core *core, struct waiter *w);

/* What was agreed on for it; all zero where that is nothing. */
const struct terms *hold_terms(const struct hold *h);

/* How often its session has locked it and not unlocked it. */
uint32_t hold_depth(const struct hold *h);

/* Lets one level go.  False: it is the only one, and is left as it is. */
bool hold_step_out(struct hold *h);

/*
 * The same for a grant that was not told and never will be: grants of the hold
 * that were made after it, and are still to be told, are one level less deep.
 */
bool hold_take_back(struct hold *h, const struct waiter *w);

/* Nobody else has the name before then.  It is only ever put off. */
void hold_keep_until(struct hold *h, int64_t at_ms);

/* It was never told, and so has promised nothing. */
void hold_promise_nothing(struct hold *h);

/* Bounds the time of holding from now on; 0: no bound, where that is allowed. */
void hold_bind(struct core *core, struct hold *h, int64_t hold_ms);
void hold_timer(struct core *core, struct timer *t);

/*
 * Ends a hold and frees it.  `clean` where the owner let go itself; otherwise
 * its delay begins.  The caller lets the lock go on (lease_next).
 */
void hold_end(struct core *core, struct hold *h, bool clean);

/*
 * Ends it, and tells the session that it no longer has the name.  `by`: forced,
 * who asked; else NULL.
 */
void hold_lose(
    struct core *core, struct hold *h, const char *reason, const char *by);

/* When what is vouched for ends: the lease or the bound. */
int64_t hold_valid_ms(const struct core *core, const struct hold *h);

/* It counts as one of a client that is gone, or no more; true: that is new. */
bool hold_set_gone(struct hold *h, bool gone);

#endif
