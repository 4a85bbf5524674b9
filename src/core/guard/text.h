/*
 * Words about guards, for journal.c; guard_why() is in guard.h.
 */
#ifndef LOCKBROKER_CORE_GUARD_TEXT_H
#define LOCKBROKER_CORE_GUARD_TEXT_H

#include "core/guard/guard.h"

/* As guard_why(), but about one server, even if it is one of a quorum. */
int64_t guard_why_one(
    const struct core *core, uint32_t shard, char *why, size_t size);

const char *guard_cause_word(enum guard_cause cause);
const char *guard_cause_text(enum guard_cause cause);

#endif
