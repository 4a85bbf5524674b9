/*
 * What a session holds, looked at: until when is all of it vouched for?  The
 * bounds that spare most of this are in session/valid.h.
 */
#ifndef LOCKBROKER_CORE_VOUCHED_H
#define LOCKBROKER_CORE_VOUCHED_H

#include "core/session/valid.h"

/* INT64_MAX: it holds nothing.  Never later than it is true. */
int64_t vouched_ms(struct core *core, struct session *s);

/* The same, of a session with few things: all of them are looked at. */
int64_t vouched_look_up(struct core *core, const struct session *s);

/* Walks over what sessions with many things hold. */
void vouched_timer(struct core *core, struct timer *t);
void vouched_run_on(struct core *core);
bool vouched_has_more(const struct core *core);

#endif
