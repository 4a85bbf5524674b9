/*
 * Guards: may the history that a server has now grant anything?
 * (ARCHITECTURE, "The guard"; research in NFSv4's grace period, RFC 7530 9.5.)
 */
#ifndef LOCKBROKER_CORE_GUARD_H
#define LOCKBROKER_CORE_GUARD_H

#include "core/state.h"

void guard_init(struct core *core);
void guard_fini(struct core *core);

/* Can operations be sent; can something new be granted? */
bool guard_up(const struct core *core, uint32_t shard);
bool guard_ready(const struct core *core, uint32_t shard);

/* Changes of history that were seen: what was confirmed before is in doubt. */
uint32_t guard_spell(const struct core *core, uint32_t shard);

/*
 * When it was, at the earliest, that a server of that history had this time;
 * -1 where that is not known well enough.
 */
int64_t guard_when_ms(const struct core *core, uint32_t shard,
    const char *history, int64_t server_ms);

/* The same, when it was at the latest. */
int64_t guard_by_when_ms(const struct core *core, uint32_t shard,
    const char *history, int64_t server_ms);

/* What the server's clock shows then, at the most; 0: not known. */
int64_t guard_server_ms(const struct core *core, uint32_t shard, int64_t at_ms);

/* Quorum: a server that can be asked. */
uint32_t guard_any(const struct core *core);

/* Somebody must do something before it grants. */
#define GUARD_FOR_GOOD (INT64_MAX / 2)

/*
 * Why not, in plain words with what to do; and for how long: 0 where that is
 * not known.
 */
int64_t guard_why(
    const struct core *core, uint32_t shard, char *why, size_t size);

/* When it may grant again, for guards that are pending. */
int64_t guard_bless_ms(const struct core *core, const struct guard *g);

/* May this broker bless it without waiting for the grace period? */
bool guard_at_once(const struct core *core, const struct guard *g);

/* A line about its present state, and those that are due. */
void guard_note(struct core *core, const struct guard *g);
void guard_tell_notes(struct core *core);

void guard_link(struct core *core, uint32_t shard, bool up, const char *why);
void guard_report(struct core *core, uint32_t shard, int64_t sent_ms,
    const struct guard_report *report);
void guard_outcome(struct core *core, uint32_t shard, enum op_kind op,
    const struct outcome *o);
void guard_timer(struct core *core, struct guard *g);

/* The lock wants to go on when the guard allows it. */
void guard_block(struct core *core, struct lock *l);
void guard_unblock(struct core *core, struct lock *l);

/* A lease turned up that is yet to be written again. */
void guard_unproved(struct core *core, uint32_t shard);

/* Stopping: signs off where nothing is held any more. */
void guard_sign_off(struct core *core);

#endif
