/*
 * One server decides alone about its names.
 */
#include "config.h"

#include "core/kernel/guard/electorate.h"
#include "core/kernel/guard/parts.h"
#include "core/kernel/guard/skew.h"

static bool
is_enough(
    const struct core *core, uint32_t shard, bool (*is)(const struct guard *g))
{
	return is(&core->guards[shard]);
}

static int64_t
granted_ms(const struct core *core, uint32_t shard)
{
	return core->guards[shard].good_ms;
}

static int64_t
grace_ms(const struct core *core, const struct guard *g)
{
	assert(g->state == GUARD_PENDING);
	return core->recovery_ms;
}

static int64_t
gained(struct core *core, struct guard *g, int64_t by_ms)
{
	skew_add(core, &g->skew, by_ms);
	return g->skew.by_ms;
}

const struct electorate electorate_alone = {
	.enough = is_enough,
	.granted_ms = granted_ms,
	.why = guard_why_one,
	.grace_ms = grace_ms,
	.gained = gained,
};
