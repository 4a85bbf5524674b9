/*
 * The answers to requests about token holds.
 */
#ifndef LOCKBROKER_CORE_TOKEN_RESULT_H
#define LOCKBROKER_CORE_TOKEN_RESULT_H

#include "core/token/state.h"

/* Returns what the outcome for one name means for the call. */
enum token_answer result_of(
    const struct token_call *c, const struct token_name *n);

/* Emits the answer to a call.  Requires that all names that matter are
 * settled. */
void result_emit(
    struct core *core, const struct token_call *c, enum token_answer how);

/* Answers BUSY without asking Redis: a session of this broker has a name or
 * waits for it, or other tokens are first. */
void result_emit_busy(struct core *core, const struct owner *asker,
    const struct token_request *rq);

#endif
