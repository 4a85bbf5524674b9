/*
 * Log lines about guards.
 */
#ifndef LOCKBROKER_CORE_GUARD_JOURNAL_H
#define LOCKBROKER_CORE_GUARD_JOURNAL_H

#include "core/guard/guard.h"

/* A line about its present state, and those that are due. */
void journal_note(struct core *core, const struct guard *g);
void journal_tell(struct core *core);

#endif
