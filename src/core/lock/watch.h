/*
 * WATCH: sessions that are told when a name is taken and when it is free
 * (protocol, sections 6 and 7).
 *
 * What this broker has itself it tells from memory.  For the rest it reads the
 * key, once a lease, however many watch; and at once where it learns by the
 * way that something has changed.
 */
#ifndef LOCKBROKER_CORE_LOCK_WATCH_H
#define LOCKBROKER_CORE_LOCK_WATCH_H

#include "core/lock/state.h"

void watch_init(struct core *core);
void watch_fini(struct core *core);

void watch_request(
    struct core *core, struct session *s, const struct core_request *rq);
void watch_end_request(
    struct core *core, struct session *s, const struct core_request *rq);

/*
 * Something may have changed for a name: its watchers hear at the end of the
 * step, or of one of the next where there are many.  `watch_taken`: it was seen
 * in another's hands.
 */
void watch_touch(struct core *core, const struct lock *l);
void watch_taken(struct core *core, const struct lock *l);

/* The same for a name that no session of this broker has: look again. */
void watch_stir(struct core *core, const char *name, size_t len);
void watch_run(struct core *core);
bool watch_has_more(const struct core *core);

void watch_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
void watch_timer(struct core *core, struct timer *t);

/* Is nothing watched? */
bool watch_has_nothing(const struct core *core, uint32_t shard);

/* All watches of a session end. */
bool watch_leave(struct core *core, struct session *s);

#endif
