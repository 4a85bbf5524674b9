/*
 * Which servers make up a quorum (ARCHITECTURE, "Who votes").
 */
#ifndef LOCKBROKER_CORE_VOTERS_H
#define LOCKBROKER_CORE_VOTERS_H

#include "core/state.h"

/* What a server has told of itself. */
void voters_report(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report);

/* Do the brokers and the servers agree?  If not, asks for what is missing. */
void voters_decide(struct core *core);

#endif
