/*
 * Heartbeats: how often the broker calls each guard if it has no other reason.
 */
#ifndef LOCKBROKER_CORE_GUARD_GUARD_HEARTBEAT_H
#define LOCKBROKER_CORE_GUARD_GUARD_HEARTBEAT_H

#include "core/guard/guard.h"

/* When the next one is due. */
int64_t heartbeat_due_ms(const struct core *core, const struct guard *g);

/* Must the guard be told at once where people reach this broker? */
bool heartbeat_must_say(const struct core *core, const struct guard *g);

/* How long the broker would stay away from there, at most; 0: not at all. */
int64_t heartbeat_most_ms(const struct core *core, const struct guard *g);

/* A heartbeat was answered: this broker may stay away for so long.  `old`: a
 * broker is there that does not know of warm names, so there are none. */
void heartbeat_done(
    struct core *core, struct guard *g, int64_t away_ms, bool old);

#endif
