/*
 * Tokens that come back: who polls is queued (protocol, section 10, rule 5).
 *
 * The first try of a token is answered at once.  One that was refused has a
 * place among the tokens that want the name through this broker; when it comes
 * again it waits there, and keeps its place while it is away, for a while.
 *
 * A stand is all such places of a name.  It has one place in the queue in
 * Redis, as if it were a broker of its own; so those who wait with LOCK, here
 * or elsewhere, have their turn as ever.
 */
#ifndef LOCKBROKER_CORE_TOKEN_PARK_H
#define LOCKBROKER_CORE_TOKEN_PARK_H

#include "core/token/state.h"

void park_init(struct core *core);
void park_fini(struct core *core);

/* It has come before, and waits from now on.  False: it shall not. */
bool park_join(struct core *core, struct token_call *c);

/* Do other tokens come before it, that are here or were a moment ago? */
bool park_others_first(const struct core *core, const struct token_call *c);

/* It was refused, so that it has a place; it was granted, or is gone. */
void park_refused(struct core *core, struct token_call *c);
void park_granted(struct core *core, const struct token_call *c);
void park_leave(struct core *core, struct token_call *c);

void park_outcome(struct core *core, const struct slot *slot, int64_t sent_ms,
    const struct outcome *o);
void park_timer(struct core *core, struct timer *t);

/* `given SEQ ... NAME` or `look SEQ NAME`; false: it is of nobody here. */
bool park_message(struct core *core, const char *text, size_t len);

/* The broker stops: no place is left. */
void park_stop(struct core *core);

void park_check(const struct core *core);

#endif
