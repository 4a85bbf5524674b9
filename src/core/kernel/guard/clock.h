/*
 * Clocks of servers: when it was, by ours, that one of them showed a time.
 */
#ifndef LOCKBROKER_CORE_KERNEL_GUARD_CLOCK_H
#define LOCKBROKER_CORE_KERNEL_GUARD_CLOCK_H

#include "core/kernel/guard/guard.h"

/*
 * When, at the earliest, that server showed this time in this history; -1 if
 * that is not known well enough.
 */
int64_t clock_earliest_ms(const struct core *core, uint32_t shard,
    const char *history, int64_t server_ms);

/* The same at the latest, of any server of its quorum. */
int64_t clock_latest_ms(const struct core *core, uint32_t shard,
    const char *history, int64_t server_ms);

/* What the server's clock shows at that moment, at the most; 0: unknown. */
int64_t guard_server_ms(const struct core *core, uint32_t shard, int64_t at_ms);

/* A reply has reported the time of its server's clock. */
void clock_note(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report);

#endif
