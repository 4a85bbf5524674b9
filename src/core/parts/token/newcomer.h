/*
 * Tokens that come for the first time, and the tokens that come before them: no
 * client is told that a name is taken which no one has.
 *
 *	others wait here --> BUSY
 *	others poll, and are away --> a look --taken--> BUSY
 *	                                     --free--> it yields, then takes it
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_NEWCOMER_H
#define LOCKBROKER_CORE_PARTS_TOKEN_NEWCOMER_H

#include "core/parts/token/state.h"

/*
 * Until when do other tokens come first?  INT64_MAX: one waits here.  A token
 * that polls, and is away, comes first for 1.5 times as long as it was away the
 * last time, and TURN_MS at most; not if its connection has closed.  A time
 * that is over: none does.
 */
int64_t newcomer_turn_ms(const struct core *core, const struct token_call *c);

/*
 * The name of the call is free: the call waits until then, and goes on when its
 * deadline comes.  Returns false if it has done so for long enough.
 */
bool newcomer_yields(struct core *core, struct token_call *c, int64_t until_ms);

/* The name of the call, which takes one, has been looked at, or could not be
 * taken.  Does the call wait for the turn of another token, or for a name that
 * is on its way back from a poll queue without a token here? */
bool newcomer_waits(struct core *core, struct token_call *c);

#endif
