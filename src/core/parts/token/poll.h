/*
 * Tokens that come back: a client that polls is queued ("Lock libraries" in
 * lockbroker-resp(7)).
 *
 * The broker answers the first try of a token at once.  A token that was
 * refused gets a place among the tokens that want the name through this broker.
 * When it comes again it waits there; while it is away it keeps its place for a
 * while.
 *
 * Some libraries wait in another way: they are told when the name is free, and
 * try again then.  Such a request awaits the name in a place of its own.  When
 * it has its turn, the broker takes the name for a moment, and keeps it for the
 * user whose next try comes here, whatever its token.
 *
 * Others are programs of many threads, which listen over connections of which
 * the broker knows the user, but not the program.  There each token that was
 * refused keeps its own place, in which the name is awaited for it.  When it
 * has its turn, all listeners are told, and the name is kept for tokens of the
 * same program, for as long as the program seems to need.  Which of its threads
 * comes then is the program's affair: they may use each other's places.
 *
 * A poll queue (struct pollers) is all such places of a name.  It has one place
 * in the queue in Redis, as if it were a broker of its own; so clients that
 * wait with LOCK, here or elsewhere, have their turn as before.  If only the
 * poll queue waits there, the operation that releases the name (PASS) gives it
 * to the first token that is here, and the poll queue keeps its place for the
 * others.
 */
#ifndef LOCKBROKER_CORE_PARTS_TOKEN_POLL_H
#define LOCKBROKER_CORE_PARTS_TOKEN_POLL_H

#include "core/parts/token/state.h"

void poll_init(struct core *core);
void poll_fini(struct core *core);

/* Parks the call if its token has come before, or if it awaits the name.
 * Returns false if it did not; a call that finds no place is answered. */
bool poll_join(struct core *core, struct token_call *c);

/* Does the poll queue keep the name, for any client? */
bool poll_keeps(const struct core *core, const struct token_call *c);

/* Is the name kept for others, and does the call take it?  Then it waits in its
 * place (parked), or is to be refused for the rest of that time. */
bool poll_refuse_kept(struct core *core, struct token_call *c);

/* Has any token a place for its name? */
bool poll_is_wanted(const struct core *core, const struct token_call *c);

/* Returns when its token first came for the name: now, or before. */
int64_t poll_first_ms(const struct core *core, const struct token_call *c);

/* Is its name kept for the user of the call?  From now on it is not, and the
 * call takes it over when it is sent. */
bool poll_take_kept(struct core *core, struct token_call *c);

/* The token of the call has come, which is the asker's latest; or it is here, in
 * its place or not: the place is kept. */
void poll_came(
    struct core *core, struct owner *asker, const struct token_call *c);
void poll_heard(struct core *core, const struct token_call *c);

/* Has its token come before, or do others come first?  Then a call that takes a
 * name or extends a hold asks for its hold, before it waits. */
bool poll_matters(const struct core *core, const struct token_call *c);

/* Is a token here that first came before that (core.last_come)?  A poll queue
 * without a place in the queue counts for nothing: no broker would hand it the
 * name. */
bool poll_comes_before(
    const struct core *core, const char *name, size_t len, uint64_t came);

/* Has an operation been sent that may grant its name to its token? */
bool poll_asks(const struct core *core, const struct token_call *c);

/* More input follows the latest call of the asker, over the same connection:
 * perhaps what the call waits for.  It waits only for Redis from now on. */
void poll_press(struct core *core, const struct owner *asker);

/* The call was refused: its token gets a place, if there is one left. */
void poll_refused(struct core *core, struct token_call *c);

/* The call was granted: its token gives up its place. */
void poll_granted(struct core *core, const struct token_call *c);

/*
 * The call is refused: its token gets a place, or keeps the one that it has,
 * and its audience is told when it has its turn.  Returns false if there is no
 * place left.
 */
bool poll_listens(struct core *core, const struct token_call *c);

/* The token of the call no longer wants its name. */
void poll_forget(struct core *core, const struct token_call *c);

/* No client of that audience listens for the name any longer. */
void poll_unheard(
    struct core *core, const char *name, size_t len, uint64_t audience);

/* A parked call ends: its token is away from now on. */
void poll_leave(struct core *core, struct token_call *c);

/* The outcome of the CLAIM of a poll queue. */
void poll_outcome(
    struct core *core, const struct slot *slot, const struct outcome *o);

/*
 * A hold of this name is about to be released.  Returns the call of the token
 * that comes next, if it waits here and may be handed the name; else NULL.
 */
struct token_call *poll_heir(struct core *core, const struct token_name *n);

/* The PASS that releases the hold of the call `from` makes one for the heir.
 * Requires that poll_heir() has just returned it. */
void poll_pass(struct core *core, struct op *op, const struct token_call *from,
    struct token_call *heir);

/* The outcome of that PASS. */
void poll_passed(
    struct core *core, const struct slot *slot, const struct outcome *o);
void poll_timer(struct core *core, struct timer *t);

/* Takes `given SEQ ... NAME`, `look SEQ NAME` or `took SEQ NAME`.  Returns
 * false if it is for no poll queue of this broker. */
bool poll_message(struct core *core, const char *text, size_t len);

/* The broker stops: frees all poll queues that have no operation in flight. */
void poll_stop(struct core *core);

void poll_check(const struct core *core);

#endif
