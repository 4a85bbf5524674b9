/*
 * Waiters: requests in the queues of names.
 */
#ifndef LOCKBROKER_CORE_KERNEL_LOCK_QUEUE_H
#define LOCKBROKER_CORE_KERNEL_LOCK_QUEUE_H

#include "base/span.h"
#include "core/kernel/lock/state.h"

/* Makes a waiter; puts it in the queue of its name: at the end, or at the head
 * if its session has a right to the name. */
struct waiter *waiter_new(struct core *core, struct owner *owner,
    struct lock *l, const struct core_request *rq);
void waiter_enqueue(struct core *core, struct waiter *w, int64_t wait_ms);

/* Moves a waiter to the head of its queue. */
void waiter_jump(struct waiter *w);

/* When a request that is made now will have waited long enough; 0: never. */
int64_t waiter_deadline_ms(
    const struct core *core, const struct waiter *w, int64_t wait_ms);

/*
 * Puts a granted waiter on the list of grants to be told; the first takes it
 * out of its queue before.  Until the FLUSH the waiter stays, with what it was
 * granted in it.
 */
void waiter_granted(struct core *core, struct waiter *w);
void waiter_to_tell(struct core *core, struct waiter *w);

/* A grant was not told in time: the waiter goes back to its place. */
void waiter_ungranted(struct core *core, struct waiter *w);

/*
 * Ends a waiting request with a reply, and frees its waiters: all of them, if
 * it has several names.  The names are looked at again before the step ends.
 */
void waiter_error(
    struct core *core, struct waiter *w, enum err_code code, const char *why);
/* The same for one that would wait for itself (emit_circle()). */
void waiter_circle(struct core *core, struct waiter *w, struct span circle);

/* Frees one waiter without a reply.  A hold that it was granted stays: the
 * caller sees to that. */
void waiter_free(struct core *core, struct waiter *w);

/*
 * Answers the requests that do not wait (wait=0, queue=, a client that has shut
 * down), if the answer is known by now.  `taken`: it is known that the name is
 * not free for them.
 */
void queue_settle(struct core *core, struct lock *l, bool taken);

/* Of waiter_class (session/claim.h). */
void queue_time_up(struct core *core, struct claim *c);
void queue_cancel(struct core *core, struct claim *c, uint64_t by);
void queue_hasten(struct core *core, struct claim *c);

/* The same, withdraw.c: a grant that was not told yet is undone. */
void withdraw_request(struct core *core, struct claim *c);
void withdraw_refuse(struct core *core, struct claim *c);

/* Its request is answered, with that result, for all its names. */
void waiter_ends(struct waiter *w, enum measure_result result);

#endif
