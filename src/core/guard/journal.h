/*
 * Log lines about guards.
 */
#ifndef LOCKBROKER_CORE_GUARD_JOURNAL_H
#define LOCKBROKER_CORE_GUARD_JOURNAL_H

#include "core/guard/guard.h"

/* Notes a line about the guard's present state; emits lines that are due. */
void journal_note(struct core *core, const struct guard *g);
void journal_tell(struct core *core);

#endif
