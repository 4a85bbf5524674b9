/*
 * Until when does the broker vouch for all that a session holds?  This looks at
 * the holds; session/valid.h has the bounds that spare most of the looks.
 */
#ifndef LOCKBROKER_CORE_VOUCHED_H
#define LOCKBROKER_CORE_VOUCHED_H

#include "core/session/valid.h"

/* Returns a time at which all of it is still vouched for, though not always the
 * latest; INT64_MAX if the session holds nothing. */
int64_t vouched_ms(struct core *core, struct owner *owner);

/* The same, by looking at everything: for a session that holds few things. */
int64_t vouched_look_up(struct core *core, const struct owner *owner);

/* Walks over what sessions with many things hold. */
void vouched_timer(struct core *core, struct timer *t);
bool vouched_run_on(struct core *core); /* a job */

#endif
