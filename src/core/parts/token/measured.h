/*
 * Events of token holds, for the classes, the history and log.audit
 * (observe/count.h).
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_MEASURED_H
#define LOCKBROKER_CORE_PARTS_TOKEN_MEASURED_H

#include "core/parts/token/state.h"

struct poller;
struct pollers;

/* The token of a place waits for the name, since it first came; it no longer
 * waits, with the result that its place has by now. */
void token_waits(struct core *core, const struct pollers *ps, struct poller *p);
void token_waited(struct core *core, struct poller *p);

/* A name is granted: its wait was as long as that says. */
void token_granted(struct core *core, const struct token_name *n);

/* A request that did not wait is answered BUSY. */
void token_busy(struct core *core, const struct token_call *c);

/* A hold is looked after here. */
void token_holds(struct core *core, struct token_record *r);

/* A hold has ended: `by`: who forced it, or NULL. */
void token_ended(
    struct core *core, struct token_record *r, const char *end, const char *by);

#endif
