/*
 * Clocks of servers: when it was, by ours, that one of them showed a time.
 */
#ifndef LOCKBROKER_CORE_GUARD_CLOCK_H
#define LOCKBROKER_CORE_GUARD_CLOCK_H

#include "core/guard/guard.h"

/*
 * When it was, at the earliest, that a server of that history had this time;
 * -1 where that is not known well enough.
 */
int64_t guard_when_ms(const struct core *core, uint32_t shard,
    const char *history, int64_t server_ms);

/* The same, when it was at the latest. */
int64_t guard_by_when_ms(const struct core *core, uint32_t shard,
    const char *history, int64_t server_ms);

/* What the server's clock shows then, at the most; 0: not known. */
int64_t guard_server_ms(const struct core *core, uint32_t shard, int64_t at_ms);

/* A reply has told what its server's clock shows. */
void clock_note(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report);

#endif
