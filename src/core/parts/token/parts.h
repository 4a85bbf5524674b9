/*
 * Definitions shared by the files of the module: calls.c has the calls, call.c
 * carries them out, poll.c keeps those that wait, and answer.c answers them.
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_PARTS_H
#define LOCKBROKER_CORE_PARTS_TOKEN_PARTS_H

#include "core/parts/token/state.h"

/* calls.c */

/* Returns a call that asks for nothing yet. */
struct token_call *call_begin(struct core *core, const struct owner *asker,
    const struct token_request *rq);

/* Returns a call by which the audience of `c` awaits its name for it. */
struct token_call *call_listens(struct core *core, const struct token_call *c);

/* Returns NULL if the call is over. */
struct token_call *call_find(const struct core *core, uint64_t id);

/* The first number of the operations of calls; 0: there are none. */
uint64_t call_first(const struct core *core);

/* Frees a call.  Requires that it is not parked, or no longer. */
void call_remove(struct core *core, struct token_call *c);

/* From now on the call extends the hold that has this text, and which was kept
 * for its client. */
void call_inherits(struct token_call *c, const char *kept);

/* Returns the session that asked; NULL if no client is there to be answered. */
struct owner *call_asker(const struct core *core, const struct token_call *c);

/* Is a client there to be answered? */
bool call_is_heard(const struct core *core, const struct token_call *c);

/* Has it an operation in flight? */
bool call_in_flight(const struct token_call *c);

/* Does it take free names? */
bool call_takes(const struct token_call *c);

/*
 * Is the outcome a grant or an extension from before the guard's epoch changed,
 * or one that took as long as a grace period?  Then the server may have
 * forgotten the hold since.  No broker vouches for it, so another client may
 * have the name by now.
 */
bool call_doubts(const struct core *core, uint32_t shard, uint32_t epoch,
    int64_t sent_ms, const struct outcome *o);

/*
 * Does a server say that the hold is not there, without enough replicas to
 * confirm it?  It may have been replaced, and its successor may have the hold.
 */
bool call_outdated(const struct outcome *o);

/* call.c */

/* Sends its operations: all at once, or one after the other to take names. */
void call_send(struct core *core, struct token_call *c);

/* answer.c */

/* Returns the meaning of the outcome for one name, for the call. */
enum token_answer result_of(
    const struct token_call *c, const struct token_name *n);

/* Answers BUSY without asking Redis: a session of this broker has a name or
 * waits for it, or other tokens are first. */
void result_emit_busy(struct core *core, const struct owner *asker,
    const struct token_request *rq);

/* Keeps the answer of Redis for a name of the call. */
void call_keep(struct core *core, const struct token_call *c,
    struct token_name *n, int64_t sent_ms, const struct outcome *o);

/* The outcome is unknown, or Redis refused, or the time for retries is over:
 * answers the call, and frees it, unless other operations are in flight. */
void call_failed(struct core *core, struct token_call *c, struct token_name *n,
    const struct outcome *o);

/* Notes what is in the way of a parked call. */
void call_note(
    struct core *core, struct token_call *c, const struct outcome *o);

/* Answers a parked call, and frees it. */
void call_settle(struct core *core, struct token_call *c, int64_t sent_ms,
    const struct outcome *o);

/* Frees a call that no one waits for any longer; if it is parked, it leaves its
 * place first. */
void call_drop(struct core *core, struct token_call *c);

/* Each of these answers the call, and frees it. */

void call_answer(
    struct core *core, struct token_call *c, enum token_answer how);
void call_refuse(struct core *core, struct token_call *c, enum err_code code,
    const char *why);

/* The guard of that shard does not allow it, or Redis did not answer. */
void call_unavailable(struct core *core, struct token_call *c, uint32_t shard);

#endif
