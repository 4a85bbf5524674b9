/*
 * Recovery.  A server of a quorum votes again when the others have reported all
 * fences that were granted without it.
 */
#include "config.h"

#include "core/kernel/turn/emit.h"
#include "core/parts/quorum/quorum.h"

/*
 * Counts the other servers of the quorum that can report all fences granted
 * without this one, because they were blessed whenever they were asked in this
 * epoch; and the servers of which that is not known.
 */
static unsigned
whole_others(const struct core *core, const struct guard *g, unsigned *unknown)
{
	const struct guard *other;
	unsigned whole = 0;
	uint32_t i;

	*unknown = 0;
	for (i = 0; i < core->config.shards; i++) {
		other = &core->guards[i];
		if (other == g)
			continue;
		if (!other->up || other->told_ms < g->epoch_ms)
			(*unknown)++;
		else if ((other->state == GUARD_BLESSED ||
			     other->state == GUARD_REFUSED) &&
			 other->pended_ms < g->epoch_ms)
			whole++;
	}
	assert(whole + *unknown < core->config.shards);
	return whole;
}

/* Will the others report all fences to it before it votes again? */
static bool
recovers(const struct core *core, const struct guard *g)
{
	unsigned unknown;

	return whole_others(core, g, &unknown) >= quorum_majority(core);
}

/* Was anything ever granted, as far as the servers know? */
static bool
any_fence(const struct core *core)
{
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		if (core->guards[i].fence > 0)
			return true;
	return false;
}

/*
 * If this broker cannot reach a majority that has all fences, but there may be
 * one, it leaves the bless to brokers that can, for as long again.
 */
static bool
others_first(const struct core *core, const struct guard *g)
{
	unsigned unknown, whole = whole_others(core, g, &unknown);

	return whole < quorum_majority(core) &&
	       whole + unknown >= quorum_majority(core);
}

int64_t
recovery_grace_ms(const struct core *core, const struct guard *g)
{
	return core->recovery_ms * (others_first(core, g) ? 2 : 1);
}

/* Logs it if only the clocks of the brokers ensure now that fences rise. */
void
recovery_note(struct core *core, const struct guard *g)
{
	assert(g->state == GUARD_PENDING);
	if (!any_fence(core) || recovers(core, g))
		return;
	emit_notice(core, NOTICE_GUARD_FENCES);
	emit_num(core, FIELD_SHARD, guard_index(core, g));
	emit_fmt(core, FIELD_TEXT,
	    "fewer than a majority of the other servers report fences; fence "
	    "order now relies on the brokers' clocks");
}
