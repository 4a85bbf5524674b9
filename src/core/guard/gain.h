/*
 * What a server's clock has gained on ours, as every reply tells.
 */
#ifndef LOCKBROKER_CORE_GUARD_GAIN_H
#define LOCKBROKER_CORE_GUARD_GAIN_H

#include "core/guard/guard.h"
#include "core/guard/quorum.h"

/*
 * Compares the clocks by a reply; must be called before clock_note().  Returns
 * true if the server's gained so much that leases must be confirmed at once.
 */
bool gain_note(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report);

/* How much sooner a lease that was confirmed then runs out there. */
static inline int64_t
gain_since(const struct core *core, uint32_t shard, int64_t confirmed_ms)
{
	const struct gain *gain = &core->guards[quorum_first(core, shard)].gain;

	return confirmed_ms < gain->at_ms ? gain->by_ms : 0;
}

#endif
