/*
 * Requests about token holds (token/token.h), and what becomes of them.
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_CALL_H
#define LOCKBROKER_CORE_PARTS_TOKEN_CALL_H

#include "core/parts/token/state.h"

void token_init(struct core *core);
void token_fini(struct core *core);

/* A CORE_TOKEN of the asker (token.h). */
void token_take(
    struct core *core, struct owner *asker, const struct token_request *rq);

/* An operation of a call has ended; the time of a call is up. */
void token_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);
void token_timer(struct core *core, struct timer *t);

/* The name that an operation in flight is about; and once it was recalled: asks
 * for it again. */
const char *token_slot_name(
    const struct core *core, const struct slot *slot, size_t *len);
void token_again(struct core *core, const struct slot *slot, int64_t left_ms);

/* The client of the asker sends nothing more: answers its parked call now. */
void token_drain(struct core *core, const struct owner *asker);

/* The client of the asker has gone: what it awaited is dropped. */
void token_gone(struct core *core, const struct owner *asker);

/* The session gets another user: it no longer awaits a name for the previous
 * one. */
void token_user_changes(struct core *core, const struct owner *asker);

/* The broker stops, and leaves the holds to Redis.  Is that done? */
void token_stop(struct core *core);
bool token_all_over(const struct core *core);

/* Are there no records, orphans and calls, of any guard? */
bool token_has_nothing(const struct core *core, uint32_t shard);

/* The process leaves and has a successor: that may have its holds up to this
 * number; 0: there are none to hand over. */
uint64_t token_hands_over(const struct core *core);

size_t token_check(const struct core *core);

#endif
