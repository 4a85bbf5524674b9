/*
 * The end of a broker: who keeps what for how long ("Events" in
 * lockbroker-protocol(7), !SHUTDOWN).
 */
#ifndef LOCKBROKER_CORE_KERNEL_STOP_H
#define LOCKBROKER_CORE_KERNEL_STOP_H

#include "core/kernel/session/record.h"

void stop_init(struct core *core);
void stop_fini(struct core *core);

/* Is no walk over the sessions under way?  Has one more to do at once? */
bool stop_all_over(const struct core *core);
bool stop_has_more(const struct core *core);

/*
 * The broker leaves: tells all sessions.  While it is drained, refuses the
 * requests of those that hold nothing, now and whenever one has released its
 * last hold.
 */
void stop_leave(struct core *core);
/* It does not leave after all. */
void stop_stay(struct core *core);
void stop_opened(struct core *core, struct session *s);
void stop_bare(struct core *core, const struct owner *owner);

/* Tells all sessions, refuses requests, and releases what no client counts
 * on. */
void stop_begin(struct core *core);

/* The second in which clients may release their locks is over. */
void stop_timer(struct core *core, struct timer *t);

/* A job: goes on with the walk. */
bool stop_on(struct core *core);

#endif
