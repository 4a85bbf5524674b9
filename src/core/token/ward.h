/*
 * Wards: token holds that this broker has granted or extended last.
 *
 * It writes them again where Redis has forgotten them, tells people of them,
 * and looks once a lease whether they are still its own: another broker that
 * ends one or takes it over says so in a message, which may be lost.
 */
#ifndef LOCKBROKER_CORE_TOKEN_WARD_H
#define LOCKBROKER_CORE_TOKEN_WARD_H

#include "core/token/state.h"

/* Guards (guard_listener). */
void ward_guard_changed(struct core *core, uint32_t shard);
void ward_history_changed(struct core *core, uint32_t shard);
bool ward_reclaimed(struct core *core, uint32_t shard);

void ward_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
void ward_timer(struct core *core, struct timer *t);

/* `took SEQ NAME`; false: it is another message. */
bool ward_message(struct core *core, const char *text, size_t len);

/*
 * Such a message came before the answer that made the hold: another broker has
 * ended it meanwhile, or has taken it over.
 */
bool ward_was_taken(const struct core *core, uint64_t seq);

/* What is left of a walk over all; when there is nothing: true. */
bool ward_run(struct core *core);

/* Stopping: they are left to Redis; true: none is here any more. */
bool ward_leave_all(struct core *core);

void ward_check(const struct core *core);

#endif
