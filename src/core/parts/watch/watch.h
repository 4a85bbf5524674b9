/*
 * WATCH: sessions that are told when a name is taken and when it is free
 * ("Other synchronizers" and "Events" in lockbroker-protocol(7)).
 *
 * If this broker has the name itself, it reports from memory.  Otherwise it
 * reads the key, once per lease time, however many sessions watch it; and at
 * once if it happens to learn of a change.
 */
#ifndef LOCKBROKER_CORE_PARTS_WATCH_WATCH_H
#define LOCKBROKER_CORE_PARTS_WATCH_WATCH_H

#include "core/kernel/lock/state.h"

void watch_init(struct core *core);
void watch_fini(struct core *core);

void watch_request(
    struct core *core, struct owner *owner, const struct core_request *rq);
void watch_end_request(
    struct core *core, struct owner *owner, const struct core_request *rq);

/* Does the owner watch that name, or is it about to? */
bool watch_has(
    struct core *core, struct owner *owner, const char *name, size_t len);

/*
 * A name may have changed: its watchers are told at the end of the step, or, if
 * they are many, of one of the next.  `watch_taken`: another broker has been
 * seen to have it.
 */
void watch_touch(struct core *core, struct lock *l);
void watch_taken(struct core *core, struct lock *l);

/* The same for a name that no session of this broker has: reads the key now. */
void watch_stir(struct core *core, const char *name, size_t len);
bool watch_run(struct core *core); /* a job */

void watch_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
/* The name of a look was recalled: looks again. */
void watch_again(struct core *core, const struct slot *slot, int64_t left_ms);

void watch_timer(struct core *core, struct timer *t);

/* Ends all watches of a session, in parts; true: none is left. */
bool watch_leave(struct core *core, struct owner *owner);

#endif
