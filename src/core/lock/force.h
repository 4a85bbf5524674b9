/*
 * UNLOCK-FORCE: an administrator ends whoever holds a name (protocol,
 * section 5).
 *
 * What this broker has it ends itself.  Other brokers are asked by a message
 * and end it; that they did is seen in the key.  A plain client's key is
 * deleted.
 */
#ifndef LOCKBROKER_CORE_LOCK_FORCE_H
#define LOCKBROKER_CORE_LOCK_FORCE_H

#include "core/lock/state.h"

void force_init(struct core *core);
void force_request(
    struct core *core, struct session *s, const struct core_request *rq);
void force_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
void force_timer(struct core *core, struct timer *t);

/*
 * Another broker was told to end what we had of a name at that time.  Who got
 * it later is not meant: messages may be late.
 */
void force_message(
    struct core *core, struct lock *l, int64_t asked_ms, const char *by);

/* Something about a name has changed: those that wait for the end of its lease
 * here are looked at; or it is about to be freed. */
void force_touch(struct core *core, struct lock *l);
void force_leave(struct core *core, struct lock *l);

/* End of a step: answers those whose lease here has ended, a part of them. */
void force_run(struct core *core);
bool force_has_more(const struct core *core);
void force_fini(struct core *core);

#endif
