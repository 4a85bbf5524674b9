/*
 * Events that a session may not have heard (protocol, section 4, RESUME).
 *
 * A session with grace keeps what it was told since its client last said
 * anything: whether that arrived is not known before.  It is told again when
 * the session is resumed.
 */
#ifndef LOCKBROKER_CORE_REPLAY_H
#define LOCKBROKER_CORE_REPLAY_H

#include "core/lock/state.h"

/* Copies the events of this step, from effect `first` on, that are to keep. */
void kept_collect(struct core *core, size_t first);

/*
 * Tells them again, in order; they are kept until the client says something.
 * Where they are many, some in each step, and nothing else happens before all
 * are told (core_has_losses()): what is news then comes behind them.
 */
void kept_tell(struct core *core, struct session *s);
void kept_tell_on(struct core *core);
bool kept_tells(const struct core *core);

/* The client has said something, or is no more. */
void kept_forget(struct core *core, struct session *s);

/* For core_free(). */
void kept_fini(struct core *core);

/* Frees some of what was forgotten. */
void kept_free_over(struct core *core);

/* For the table of a session. */
const char *kept_name(const struct table_link *link, size_t *len);

#endif
