/*
 * What is told of a request about token holds.
 */
#ifndef LOCKBROKER_CORE_TOKEN_RESULT_H
#define LOCKBROKER_CORE_TOKEN_RESULT_H

#include "core/token/state.h"

/* What the outcome for one name means for the call. */
enum token_answer result_of(
    const struct token_call *c, const struct token_name *n);

/* The answer to a call, all of which is settled that matters. */
void result_emit(
    struct core *core, const struct token_call *c, enum token_answer how);

/* A session of this broker has it, or waits for it. */
void result_emit_busy(
    struct core *core, const struct session *s, const struct token_request *rq);

#endif
