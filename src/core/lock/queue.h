/*
 * Waiters: requests in the queues of names.
 */
#ifndef LOCKBROKER_CORE_LOCK_QUEUE_H
#define LOCKBROKER_CORE_LOCK_QUEUE_H

#include "core/lock/state.h"

/* Joins the queue of a name: at the end, but for who has a right to it. */
struct waiter *waiter_new(struct core *core, struct session *s, struct lock *l,
    const struct core_request *rq);
void waiter_enqueue(struct core *core, struct waiter *w, int64_t wait_ms);

/* To the head of its queue. */
void waiter_jump(struct core *core, struct waiter *w);

/* In the order of arrival, which is not always that of the queue. */
bool waiter_came_before(const struct waiter *w, const struct waiter *other);

/* When a request that is made now has waited long enough; 0: never. */
int64_t waiter_deadline_ms(
    const struct core *core, const struct waiter *w, int64_t wait_ms);

/* Out of the queue, and onto the list of those to be told; or only the latter. */
void waiter_granted(struct core *core, struct waiter *w);
void waiter_to_tell(struct core *core, struct waiter *w);

/* A grant that was not told in time: back to its place in the queue. */
void waiter_ungranted(struct core *core, struct waiter *w);

/*
 * Ends a waiting request with a reply; all of it where it has several names.
 * The names are looked at again before the step ends.
 */
void waiter_answer(struct core *core, struct waiter *w, enum status status);
void waiter_error(
    struct core *core, struct waiter *w, enum err_code code, const char *why);

/* Frees one waiter without a word. */
void waiter_free(struct core *core, struct waiter *w);
void waiter_timer(struct core *core, struct timer *t);

/*
 * Answers those who do not wait (wait=0, queue=, a client that has shut down)
 * as far as it is known by now what to answer.  `taken`: the name is known
 * not to be free for them.
 */
void queue_settle(struct core *core, struct lock *l, bool taken);

/* It does not wait any more, as its session is draining. */
void queue_hasten(struct core *core, struct waiter *w);

void queue_cancel(
    struct core *core, struct session *s, uint64_t ref, uint64_t by);

#endif
