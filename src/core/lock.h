/*
 * Names: who holds them and who waits for them through this broker.
 */
#ifndef LOCKBROKER_CORE_LOCK_H
#define LOCKBROKER_CORE_LOCK_H

#include "core/state.h"

struct lock *lock_find(const struct core *core, const char *name, size_t len);
struct lock *lock_get(struct core *core, const char *name, size_t len);
void lock_free(struct core *core, struct lock *l);

/* The requests (protocol, section 5). */
void lock_request(
    struct core *core, struct session *s, const struct core_request *rq);
void lock_cancel(
    struct core *core, struct session *s, uint64_t ref, uint64_t by);

/* The session's requests do not wait any more. */
void lock_hasten(struct core *core, struct session *s);

/* The head of the queue gets the name, with the next fence of the reserve. */
void lock_grant(struct core *core, struct lock *l);

/*
 * Answers those who do not wait (wait=0, queue=, a client that has shut down)
 * as far as it is known by now what to answer.  `taken`: the name is known
 * not to be free for them.
 */
void lock_settle(struct core *core, struct lock *l, bool taken);

/* Ends a waiting request with a reply. */
void waiter_answer(struct core *core, struct waiter *w, enum status status);
void waiter_error(
    struct core *core, struct waiter *w, enum err_code code, const char *why);
void waiter_free(struct core *core, struct waiter *w);
void waiter_timer(struct core *core, struct waiter *w);

/* Tells the grants that are still good; withdraws the others. */
void lock_tell_granted(struct core *core);

/* UNLOCK has ended, in the store or by giving up. */
void lock_parted(struct core *core, struct lock *l, bool deferred);

/* STATUS of a name that is not held here, from the key in the store. */
void lock_status_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);

#endif
