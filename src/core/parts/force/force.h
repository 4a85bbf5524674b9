/*
 * UNLOCK-FORCE: an administrator ends the hold of a name, whoever holds it
 * (protocol, section 5).
 *
 * This broker ends its own holds.  It sends a message to the other brokers that
 * have the name, and sees in the key that they have ended theirs.  It deletes a
 * plain client's key.
 */
#ifndef LOCKBROKER_CORE_PARTS_FORCE_FORCE_H
#define LOCKBROKER_CORE_PARTS_FORCE_FORCE_H

#include "core/kernel/lock/state.h"

void force_init(struct core *core);
void force_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
void force_again(struct core *core, const struct slot *slot, int64_t left_ms);
void force_timer(struct core *core, struct timer *t);

/*
 * Another broker wants us to end what we had of a name at `asked_ms`.  Messages
 * may be late, so a session that got the name later keeps it.  `by`: who asked;
 * empty if unknown.
 */
void force_message(
    struct core *core, struct lock *l, int64_t asked_ms, const char *by);

/* Has a session here the name, by a hold with this fence? */
bool force_is_of(const struct lock *l, uint64_t fence);

/* The broker that has the name reports its fence (views/about.h). */
void force_told(struct core *core, const struct slot *slot,
    const struct outcome *o, const struct about *a);

/* The name has changed; the lock is about to be freed.  Both make force_run()
 * look at the forced releases that wait for the end of its lease here. */
void force_changed(struct core *core, struct lock *l);
void force_leave(struct core *core, struct lock *l);

/* Do forced releases wait for the end of the lease of this name? */
bool force_awaits(const struct lock *l);

/* force_changed(), if any wait. */
void force_touch(struct core *core, struct lock *l);

/* A job: answers the requests whose lease here has ended. */
bool force_run(struct core *core);
void force_fini(struct core *core);

#endif
