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

/* Does the owner watch that name, or is it about to? */
bool watch_has(
    struct core *core, struct owner *owner, const char *name, size_t len);

/* A name that no session of this broker has may have changed: reads the key
 * now. */
void watch_stir(struct core *core, const char *name, size_t len);

#endif
