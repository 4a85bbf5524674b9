/*
 * Holds: a session has a name; and how that ends.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_HOLD_H
#define LOCKBROKER_CORE_KERNEL_LOCK_HOLD_H

#include "core/kernel/lock/state.h"

/* holders.c */

/* The hold of the session; NULL: it has none. */
struct hold *hold_find(
    const struct core *core, const struct lock *l, const struct owner *owner);

/* The hold is now one of the name's holders; it no longer is.  Requires that
 * its owner has no other among them; the caller frees it. */
void holders_join(struct lock *l, struct hold *h);
void holders_leave(struct lock *l, struct hold *h);

/* The data that few holds have; all zero if this one has none. */
const struct hold_rare *hold_rare(const struct hold *h);

/* Returns hold.rare, to be written; makes it if there is none yet. */
struct hold_rare *hold_need_rare(struct hold *h);

/* How long its request waited before the grant. */
void hold_set_waited(struct hold *h, int64_t waited_ms);
int64_t hold_waited_ms(const struct hold *h);

/* How often the session has locked the name and not unlocked it yet. */
uint32_t hold_depth(const struct hold *h);

/* Gives up one level.  Returns false if there is only one, and leaves it. */
bool hold_step_out(struct hold *h);

/* Keeps others from the name until then.  Only ever makes that time later. */
void hold_keep_until(struct hold *h, int64_t at_ms);

/* The same, and the client counts on it, whatever it was told. */
void hold_promise_until(struct hold *h, int64_t at_ms);

/* Counts the hold as one whose client is gone, or as such no longer.  Returns
 * whether that is a change. */
bool hold_set_gone(struct hold *h, bool gone);

/* hold.c */

/* Makes a hold for waiter w, with this fence.  Requires that the session has no
 * hold of the name yet, and that the lease is vouched for. */
struct hold *hold_new(struct core *core, struct waiter *w, uint64_t fence);

/* Makes the hold exclusive, with a new fence.  Requires that no other session
 * shares the name. */
void hold_upgrade(
    struct core *core, struct hold *h, struct waiter *w, uint64_t fence);

/* The session that has the name is granted it once more, for waiter w: one
 * level deeper, with the fence that it has. */
void hold_reenter(struct core *core, struct hold *h, struct waiter *w);

/* The grant is being told: a bound that a re-entry asked for begins now. */
void hold_told(struct core *core, struct waiter *w);

/*
 * Like hold_step_out(), for the grant of w, which was never told: later grants
 * of the hold that are still to be told become one level less deep.
 */
bool hold_take_back(struct hold *h, const struct waiter *w);

/* A grant of the hold was taken back, or is about to be (w; else NULL).  If it was
 * the last that knows of an untold upgrade, the hold is shared as before. */
void hold_drop_upgrade(struct hold *h, const struct waiter *w);

/* The fence that the session was told. */
uint64_t hold_told_fence(const struct hold *h);

/* How many levels of the hold the session was told. */
uint32_t hold_told_depth(const struct hold *h);

/* Has the session been told of the hold?  Its bound counts from then on. */
bool hold_was_told(const struct hold *h);

/* The hold ends: drops the keep, the delay and the fence of grants which were
 * never told. */
void hold_promise_told(struct hold *h);

/* Bounds the time of holding from now on; 0: no bound, if that is allowed. */
void hold_bind(struct core *core, struct hold *h, int64_t hold_ms);

/*
 * Ends a hold and frees it.  `clean`: the session has let go itself; otherwise
 * its delay begins.  The caller must see to it that lock_next() follows.
 */
void hold_end(struct core *core, struct hold *h, bool clean);

/* The same for a hold that the session was told of, and has released or left:
 * `end` as in struct measure_hold.  If it was at risk, it was given up. */
void hold_give_back(
    struct core *core, struct hold *h, const char *end, bool clean);

/*
 * Ends and frees the hold, and tells the session that it has lost the name, if
 * it was told of the hold at all.  `by`: who forced it, or NULL.
 */
void hold_lose(
    struct core *core, struct hold *h, const char *reason, const char *by);

/*
 * Tells the session the same, but the hold lives on until the session releases
 * it: it is renewed, nothing bounds it, and no other client gets the name.
 * Requires that the session was told of one level of the hold, and not of this.
 */
void hold_forfeit(
    struct core *core, struct hold *h, const char *reason, const char *by);

/* Until when the hold is vouched for: the end of the lease, or the bound. */
int64_t hold_valid_ms(const struct core *core, const struct holding *holding);

/*
 * Brings the lock up to date before a request acts on it: if the lease has run
 * out or the holders are losing the name, they are told so first; if they are
 * many, at least this session is.
 */
void lock_look(struct core *core, struct lock *l, const struct owner *owner);

/* sharers.c */

extern const struct holding_class hold_class;

/* A hold or a request of the owner with keep= or delay= comes, or goes. */
void lock_binds(struct core *core, struct lock *l, const struct owner *owner);
void lock_unbinds(struct core *core, struct lock *l);

#endif
