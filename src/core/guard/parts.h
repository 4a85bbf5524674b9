/*
 * What the files of the module share.
 */
#ifndef LOCKBROKER_CORE_GUARD_PARTS_H
#define LOCKBROKER_CORE_GUARD_PARTS_H

#include "core/guard/guard.h"

/* guard_heartbeat.c: how often each guard is called if there is no other
 * reason. */

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

/* recovery.c: when a server that may have forgotten something grants again. */

/* When this broker may bless a pending guard. */
int64_t guard_bless_ms(const struct core *core, const struct guard *g);

/*
 * A server of a quorum is about to be blessed: logs it if only the clocks of
 * the brokers ensure now that fences rise.
 */
void recovery_note(struct core *core, const struct guard *g);

/* why.c: words about guards; guard_why() is in guard.h. */

/* As guard_why(), but about one server, even if it is one of a quorum. */
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
