/*
 * What happens to token holds, for the classes, the history and the audit file
 * (measure/record.h).
 */
#ifndef LOCKBROKER_CORE_TOKEN_MEASURED_H
#define LOCKBROKER_CORE_TOKEN_MEASURED_H

#include "core/token/state.h"

/* A call is parked; is parked no more, with the result that it has by now. */
void token_waits(struct core *core, struct token_call *c);
void token_waited(struct core *core, struct token_call *c);

/* A request that did not wait is answered BUSY. */
void token_busy(struct core *core, const struct token_call *c);

/* A hold is looked after here; is so no more, whatever has become of it. */
void token_holds(struct core *core, struct ward *w);
void token_holds_not(struct core *core, struct ward *w);

/* A hold has ended: `by` somebody, if it was forced; else NULL. */
void token_ended(
    struct core *core, struct ward *w, const char *end, const char *by);

#endif
