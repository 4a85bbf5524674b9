/*
 * Events that a session may not have heard ("Sessions" in
 * lockbroker-protocol(7), RESUME).
 *
 * A session with grace keeps the events since its client last said anything: as
 * long as the client is silent, the broker cannot know whether they arrived.
 * It sends them again when the session is resumed.
 */
#ifndef LOCKBROKER_CORE_PARTS_REPLAY_REPLAY_H
#define LOCKBROKER_CORE_PARTS_REPLAY_REPLAY_H

#include "core/kernel/session/record.h"

/* Keeps copies of this step's events to sessions with grace, from effect
 * `first` on. */
void kept_collect(struct core *core, size_t first);

/*
 * Sends the kept events again, in order; they stay kept until the client says
 * something.  If there are many, each step sends some of them, and nothing else
 * happens before all are sent (core_has_losses()): later news comes after them.
 */
void kept_tell(struct core *core, struct session *s);
bool kept_tell_on(struct core *core); /* a job */

/*
 * The client has said something.  That shows that it has heard of the events
 * that were written before; but not of news of watched names that the broker is
 * about to write in this turn: these stay kept (core_written()).
 */
void kept_heard(struct core *core, struct session *s);

/* The session ends, or needs them no longer: drops its kept events. */
void kept_forget(struct core *core, struct session *s);

/* For core_free(). */
void kept_fini(struct core *core);

/* A job: frees a part of the events that were dropped. */
bool kept_free_over(struct core *core);

/* The key function of a session's table of kept events. */
const char *kept_name(const struct table_link *link, size_t *len);

#endif
