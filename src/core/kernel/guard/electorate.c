/*
 * What takes several servers, where several decide together.
 */
#include "config.h"

#include "core/kernel/guard/electorate.h"
#include "core/kernel/guard/parts.h"

static bool
enough(
    const struct core *core, uint32_t shard, bool (*is)(const struct guard *g))
{
	assert(shard < core->config.shards);
	return core->electorate->enough(core, shard, is);
}

static bool
is_up(const struct guard *g)
{
	return g->up;
}

/*
 * A server that is up again counts with the state that it reported last, until
 * its first answer.  No grant can come of that, since each script asks the
 * guard itself.
 */
static bool
is_ready(const struct guard *g)
{
	return g->up && g->state == GUARD_BLESSED;
}

/* Servers must be reached to keep something, and must grant besides to take
 * something new. */
bool
guard_up(const struct core *core, uint32_t shard)
{
	return enough(core, shard, is_up);
}

bool
guard_ready(const struct core *core, uint32_t shard)
{
	return enough(core, shard, is_ready);
}

/* No broker stays away from a server before all of them may grant. */
bool
guard_is_calm(const struct core *core, const struct guard *g)
{
	uint32_t i, first = guard_first(core, guard_index(core, g));

	for (i = first; i < guard_end(core, first); i++)
		if (!is_ready(&core->guards[i]))
			return false;
	return true;
}

bool
guard_grants(const struct core *core, uint32_t shard)
{
	return enough(core, shard, guard_said);
}

int64_t
guard_granted_ms(const struct core *core, uint32_t shard)
{
	return core->electorate->granted_ms(core, shard);
}

/*
 * The grace period counts from when this broker heard of the epoch, so it waits
 * for no less than G, even if another broker has heard of it earlier.  A server
 * that no broker has used has nothing to forget, if the operator trusts it to
 * be new.
 */
int64_t
guard_bless_ms(const struct core *core, const struct guard *g)
{
	if (g->fresh && core->config.trust_new)
		return g->epoch_ms;
	return g->epoch_ms + core->electorate->grace_ms(core, g);
}

static bool
is_known(const struct guard *g)
{
	return g->known;
}

bool
guard_was_used(const struct core *core, const struct guard *g)
{
	return g->known || enough(core, guard_index(core, g), is_known);
}
