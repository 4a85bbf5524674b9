/*
 * The gain of a server's clock on ours, as every reply shows it.
 */
#ifndef LOCKBROKER_CORE_KERNEL_GUARD_SKEW_H
#define LOCKBROKER_CORE_KERNEL_GUARD_SKEW_H

#include "core/kernel/guard/guard.h"

/*
 * Compares the clocks by a reply; must be called before clock_note().  Returns
 * true if the server's gained so much that leases must be confirmed at once.
 */
bool skew_note(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report);

/* Counts one more gain of now; is what was counted not over yet? */
void skew_add(const struct core *core, struct skew *skew, int64_t by_ms);
bool skew_recent(const struct core *core, const struct skew *skew);

/* How much sooner a lease that was confirmed then runs out there. */
static inline int64_t
skew_since(const struct core *core, uint32_t shard, int64_t confirmed_ms)
{
	const struct skew *skew = &core->guards[guard_first(core, shard)].skew;

	return confirmed_ms < skew->at_ms ? skew->by_ms : 0;
}

#endif
