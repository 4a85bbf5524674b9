/*
 * Which servers make up a quorum (parts/quorum/DESIGN).
 */
#ifndef LOCKBROKER_CORE_PARTS_QUORUM_VOTERS_H
#define LOCKBROKER_CORE_PARTS_QUORUM_VOTERS_H

#include "core/parts/quorum/quorum.h"

/* Takes what a server has reported of itself. */
void voters_report(struct core *core, struct voter *v, int64_t sent_ms,
    const struct guard_report *report);

/* Chooses the set to go by, and moves servers with another set to it. */
void voters_decide(struct core *core);

#endif
