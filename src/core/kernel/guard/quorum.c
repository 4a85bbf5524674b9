/*
 * How many servers of a quorum there are, and whether they are enough.
 */
#include "config.h"

#include "core/kernel/guard/quorum.h"
#include "core/kernel/turn/emit.h"

unsigned
quorum_majority(const struct core *core)
{
	return core->nvoters / 2 + 1;
}

/*
 * A server that is up again counts with the state that it told last, until its
 * first answer.  No grant can come of that, since each script asks the guard
 * itself.
 */
unsigned
quorum_count(const struct core *core, uint32_t shard, bool ready)
{
	uint32_t i, first = quorum_first(core, shard);
	const struct guard *g;
	unsigned n = 0;

	for (i = first; i < first + core->nvoters; i++) {
		g = &core->guards[i];
		if (g->up && (!ready || g->state == GUARD_BLESSED))
			n++;
	}
	return n;
}

unsigned
quorum_said(const struct core *core, uint32_t shard)
{
	uint32_t i, first = quorum_first(core, shard);
	unsigned n = 0;

	for (i = first; i < first + core->nvoters; i++)
		n += guard_said(&core->guards[i]);
	return n;
}

/* The latest moment since which as many as a majority have told so. */
int64_t
quorum_good_ms(const struct core *core, uint32_t shard)
{
	const struct guard *g = &core->guards[quorum_first(core, shard)];
	int64_t best_ms = 0;
	uint32_t i, k;
	unsigned n;

	for (i = 0; i < core->nvoters; i++) {
		for (k = n = 0; k < core->nvoters; k++)
			n += g[k].good_ms >= g[i].good_ms;
		if (n >= quorum_majority(core) && g[i].good_ms > best_ms)
			best_ms = g[i].good_ms;
	}
	return best_ms;
}

static void
note_quorum(struct core *core, enum notice_id id, unsigned ready)
{
	emit_notice(core, id);
	emit_num(core, FIELD_OF, core->config.shards);
	emit_num(core, FIELD_UP, quorum_count(core, 0, false));
	emit_num(core, FIELD_READY, ready);
	emit_num(core, FIELD_NEEDED, quorum_majority(core));
}

/*
 * Each server of a quorum tells only of itself.  A server that is back counts
 * once it has said that it may grant.
 */
void
quorum_tell(struct core *core)
{
	struct guard_notes *notes = core->guard_notes;
	unsigned n;
	bool enough;

	if (!quorum_used(core) || core->stopping)
		return;
	n = quorum_said(core, 0);
	assert(n <= core->nvoters);
	enough = n >= quorum_majority(core);
	if (enough == notes->quorum)
		return;
	notes->quorum = enough;
	if (!enough)
		note_quorum(core, NOTICE_QUORUM_LOST, n);
	else if (notes->quorum_lost)
		note_quorum(core, NOTICE_QUORUM_BACK, n);
	notes->quorum_lost = !enough;
}
