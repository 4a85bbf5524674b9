/*
 * What the files of the module share.
 */
#ifndef LOCKBROKER_CORE_KERNEL_GUARD_PARTS_H
#define LOCKBROKER_CORE_KERNEL_GUARD_PARTS_H

#include "core/kernel/guard/guard.h"

/* guard_heartbeat.c: how often each guard is called if there is no other
 * reason. */

/* When the next one is due. */
int64_t heartbeat_due_ms(const struct core *core, const struct guard *g);

/* Must the guard be told at once where this broker can be reached? */
bool heartbeat_must_say(const struct core *core, const struct guard *g);

/* How long the broker would stay away from there, at most; 0: not at all. */
int64_t heartbeat_most_ms(const struct core *core, const struct guard *g);

/* A heartbeat was answered: this broker may stay away for that long.  `old`: a
 * broker is there that does not know of warm names, so there are none. */
void heartbeat_done(
    struct core *core, struct guard *g, int64_t away_ms, bool old);

/* guard_refused.c: Redis refuses calls. */

/* A call was refused (report REFUSED), or answered. */
void refused_note(
    struct core *core, struct guard *g, const struct guard_report *report);

/* An operation on the guard has ended. */
void refused_outcome(struct guard *g, enum op_kind op, const struct outcome *o);

/* The state of a guard that is in `state` by its own account. */
enum guard_state refused_state(const struct guard *g, enum guard_state state);

/* Is the refusal what keeps it from granting? */
bool refused_counts(const struct guard *g);

/* Only a grant can show that such calls are carried out again: when to try one;
 * INT64_MAX: never. */
int64_t refused_try_ms(const struct guard *g);

#define REFUSED_TRY_NAME "@try" /* no client can have it */

/* Writes the operation that does so. */
void refused_try(struct core *core, struct guard *g, struct op *op);

/* electorate.c */

/* When this broker may bless a pending guard. */
int64_t guard_bless_ms(const struct core *core, const struct guard *g);

/* What was confirmed there is in doubt. */
static inline void
guard_next_epoch(struct core *core, const struct guard *g)
{
	core->guards[guard_first(core, guard_index(core, g))].epoch++;
}

/* Has this broker used that server, or enough of those that decide together
 * with it?  Then it may hold something that the server must know about. */
bool guard_was_used(const struct core *core, const struct guard *g);

/* May that server grant, and all that decide together with it? */
bool guard_is_calm(const struct core *core, const struct guard *g);

/* why.c: words about guards; guard_why() is in guard.h. */

/* As guard_why(), but about one server, even if others decide with it. */
int64_t guard_why_one(
    const struct core *core, uint32_t shard, char *why, size_t size);

const char *guard_cause_word(enum guard_cause cause);
const char *guard_cause_text(enum guard_cause cause);

/* journal.c: log lines about guards. */

/* Notes a line about the guard's present state; emits lines that are due. */
void journal_note(struct core *core, const struct guard *g);
void journal_tell(struct core *core);
void journal_fence(
    struct core *core, struct guard *g, const struct guard_report *report);

#endif
