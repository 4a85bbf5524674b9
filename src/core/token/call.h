/*
 * Requests about token holds (token/token.h), and what becomes of them.
 */
#ifndef LOCKBROKER_CORE_TOKEN_CALL_H
#define LOCKBROKER_CORE_TOKEN_CALL_H

#include "core/token/state.h"

void token_init(struct core *core);
void token_fini(struct core *core);

void token_take(
    struct core *core, struct session *s, const struct token_request *rq);

void token_outcome(struct core *core, const struct slot *slot, int64_t sent_ms,
    const struct outcome *o);
void token_timer(struct core *core, struct timer *t);

/* Its client sends nothing more, so what is parked is answered now. */
void token_drain(struct core *core, const struct session *s);

/* A guard has changed: those that wait for one try again. */
void token_changed(struct core *core, uint32_t shard);

/* What comes by and by; is there more of it? */
void token_run(struct core *core);
bool token_has_more(const struct core *core);

/* The broker stops: the holds are left to Redis. */
void token_stop(struct core *core);
bool token_all_over(const struct core *core);

/* Is none kept, and none asked for, whatever its guard? */
bool token_has_nothing(const struct core *core, uint32_t shard);

void token_check(const struct core *core);

/* For park.c. */
struct token_call *call_find(const struct core *core, uint64_t id);

/* Is somebody there to be answered? */
bool call_has_asker(const struct core *core, const struct token_call *c);

/*
 * The server may have forgotten since what it has made then.  No lease is
 * vouched for meanwhile, so it may be somebody else's by now.
 */
bool call_doubts(const struct core *core, uint32_t shard, uint32_t spell,
    const struct outcome *o);

/* What is in its way; what has become of it; nobody is there any more. */
void call_note(
    struct core *core, struct token_call *c, const struct outcome *o);
void call_settle(struct core *core, struct token_call *c, int64_t sent_ms,
    const struct outcome *o);
void call_drop(struct core *core, struct token_call *c);

#endif
