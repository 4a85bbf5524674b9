/*
 * Log lines about token holds.  They never show a token.
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_NOTIFY_H
#define LOCKBROKER_CORE_PARTS_TOKEN_NOTIFY_H

#include "core/parts/token/state.h"

/* The session s (NULL: it is gone) has taken, extended or released a name. */
void notify_token(struct core *core, const struct token_call *c,
    const struct token_name *n, const struct owner *asker);

/*
 * A token that has the name came for it once more a moment later, over another
 * connection, for example from a program that takes one broker for several
 * servers.
 */
void notify_token_twice(
    struct core *core, const struct token_name *n, const struct owner *asker);

/* The broker stops, and leaves holds to Redis. */
void notify_tokens_left(struct core *core);

/* The broker has adopted holds of brokers that have gone; Redis refused to let
 * it look for them. */
void notify_tokens_adopted(struct core *core, uint32_t shard, uint64_t n);
void notify_not_adopted(
    struct core *core, uint32_t shard, const char *why, size_t len);

/* The time of a hold was over while Redis could not be reached. */
void notify_token_lost(struct core *core, const struct measure_hold *h);

#endif
