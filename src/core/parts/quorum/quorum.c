/*
 * The part: how many servers of the quorum there are, and whether they are
 * enough; and its answers to the kernel.
 */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/human.h"
#include "base/xmalloc.h"
#include "core/kernel/guard/electorate.h"
#include "core/kernel/guard/parts.h"
#include "core/kernel/guard/skew.h"
#include "core/kernel/turn/emit.h"
#include "core/parts/quorum/quorum.h"
#include "core/parts/quorum/voters.h"
#include "core/parts/quorum/votes.h"

static void
quorum_init(struct core *core)
{
	const struct core_config *config = &core->config;
	struct quorum *q;
	char number[24];
	uint32_t i;

	if (!config->quorum)
		return;
	q = xcalloc(1, sizeof(*q));
	core->part[PART_QUORUM] = q;
	TAILQ_INIT(&q->votes);
	q->v = xcalloc(config->shards, sizeof(*q->v));
	q->nodes = xcalloc(config->shards, sizeof(*q->nodes));
	for (i = 0; i < config->shards; i++) {
		q->v[i].guard = &core->guards[i];
		snprintf(number, sizeof(number), "server %u", i + 1);
		q->nodes[i] =
		    xstrdup(config->nodes != NULL ? config->nodes[i] : number);
	}
}

static void
quorum_fini(struct core *core)
{
	struct quorum *q = quorum_of(core);
	uint32_t i;

	if (q == NULL)
		return;
	votes_fini(core);
	for (i = 0; i < core->config.shards; i++)
		free(q->nodes[i]);
	free(q->nodes);
	free(q->v);
	free(q);
}

static size_t
quorum_check(const struct core *core)
{
	assert(quorum_of(core) == NULL ||
	       TAILQ_EMPTY(&quorum_of(core)->votes)); /* they were sent */
	return 0;
}

/* Of how many servers is it true? */
static unsigned
count_guards(const struct core *core, bool (*is)(const struct guard *g))
{
	unsigned n = 0;
	uint32_t i;

	for (i = 0; i < core->config.shards; i++)
		n += is(&core->guards[i]);
	return n;
}

static bool
is_majority(
    const struct core *core, uint32_t shard, bool (*is)(const struct guard *g))
{
	assert(shard < core->config.shards);
	return count_guards(core, is) >= quorum_majority(core);
}

static bool
is_up(const struct guard *g)
{
	return g->up;
}

/* The latest moment since which a majority has said so. */
static int64_t
granted_ms(const struct core *core, uint32_t shard)
{
	const struct guard *g = core->guards;
	int64_t best_ms = 0;
	uint32_t i, k;
	unsigned n;

	assert(shard < core->config.shards);
	for (i = 0; i < core->config.shards; i++) {
		for (k = n = 0; k < core->config.shards; k++)
			n += g[k].good_ms >= g[i].good_ms;
		if (n >= quorum_majority(core) && g[i].good_ms > best_ms)
			best_ms = g[i].good_ms;
	}
	return best_ms;
}

/* Says how many are there and may vote; returns in how long all may. */
static int64_t
why_none(const struct core *core, uint32_t shard, char *why, size_t size)
{
	unsigned ready = count_guards(core, guard_said), pending = 0;
	int64_t left_ms = 0, most_ms = 0;
	char left[HUMAN_SIZE];
	int n;
	uint32_t i;
	const char *refusal = NULL;

	assert(shard < core->config.shards);
	why[0] = '\0';
	if (ready >= quorum_majority(core))
		return 0;
	/* There is no set of voters to go by, and mostly an operator must act
	 * on that. */
	if (quorum_of(core)->why[0] != '\0') {
		snprintf(why, size, "%s", quorum_of(core)->why);
		return GUARD_FOR_GOOD;
	}
	for (i = 0; i < core->config.shards; i++) {
		if (core->guards[i].up && refused_counts(&core->guards[i]))
			refusal = core->guards[i].refusal;
		if (core->guards[i].state != GUARD_PENDING)
			continue;
		pending += core->guards[i].up;
		left_ms = guard_bless_ms(core, &core->guards[i]) - core->now_ms;
		most_ms = left_ms > most_ms ? left_ms : most_ms;
	}
	n = snprintf(why, size,
	    "%u of %u Redis servers reachable, %u can vote, %u needed",
	    count_guards(core, is_up), core->config.shards, ready,
	    quorum_majority(core));
	/* If more servers are away than that, time alone is no help. */
	if (ready + pending >= quorum_majority(core) && (size_t)n < size)
		snprintf(why + n, size - (size_t)n,
		    "; no new locks for at most %s: some servers are new, or "
		    "have lost data",
		    human_ms(left, most_ms));
	else if (refusal != NULL && (size_t)n < size)
		snprintf(why + n, size - (size_t)n, ": %s", refusal);
	return most_ms;
}

static void
note_quorum(struct core *core, enum notice_id id, unsigned ready)
{
	emit_notice(core, id);
	emit_num(core, FIELD_OF, core->config.shards);
	emit_num(core, FIELD_UP, count_guards(core, is_up));
	emit_num(core, FIELD_READY, ready);
	emit_num(core, FIELD_NEEDED, quorum_majority(core));
}

/*
 * Each server of a quorum speaks only for itself.  A server that is back counts
 * once it has said that it may grant.
 */
static void
tell(struct core *core)
{
	struct quorum *q = quorum_of(core);
	unsigned n;
	bool enough;

	if (core->stopping)
		return;
	n = count_guards(core, guard_said);
	enough = n >= quorum_majority(core);
	if (enough == q->good)
		return;
	q->good = enough;
	if (!enough)
		note_quorum(core, NOTICE_QUORUM_LOST, n);
	else if (q->lost)
		note_quorum(core, NOTICE_QUORUM_BACK, n);
	q->lost = !enough;
}

static void
told(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report)
{
	voters_report(core, voter_of(core, g), sent_ms, report);
	tell(core);
}

static void
answered(struct core *core, struct guard *g, enum op_kind op, bool done)
{
	struct voter *v = voter_of(core, g);

	voters_decide(core);
	/* Not for a heartbeat: the move may be what it lacks.  Nor if it has
	 * moved: a server that does not vote yet refuses all the same. */
	if (!done && op == OP_ENLIST && !v->moved)
		v->enlist_ms = g->pause_ms;
	v->moved = false;
	tell(core);
}

/*
 * A lease runs out when it has run out at so many servers of its quorum that
 * the others are no majority; the clocks of fewer servers do not matter.
 * Returns the gain that counts for leases.
 */
static int64_t
gained(struct core *core, struct guard *g, int64_t by_ms)
{
	unsigned n, needed = core->config.shards + 1 - quorum_majority(core);
	struct skew *common = &core->guards[0].skew;
	const struct voter *v, *w, *first = quorum_of(core)->v;
	const struct voter *end = first + core->config.shards;

	skew_add(core, &voter_of(core, g)->skew, by_ms);
	for (v = first; v < end; v++) {
		if (!skew_recent(core, &v->skew))
			continue;
		for (n = 0, w = first; w < end; w++)
			n += skew_recent(core, &w->skew) &&
			     w->skew.by_ms >= v->skew.by_ms;
		if (n < needed || (common->at_ms == core->now_ms &&
				      common->by_ms >= v->skew.by_ms))
			continue;
		*common = v->skew;
		common->at_ms = core->now_ms;
	}
	return common->by_ms;
}

static const struct electorate electorate = {
	.enough = is_majority,
	.granted_ms = granted_ms,
	.why = why_none,
	.grace_ms = recovery_grace_ms,
	.blesses = recovery_note,
	.gained = gained,
	.changed = tell,
	.told = told,
	.answered = answered,
};

static const struct part_timer timers[] = {
	{ TIMER_VOTE, { AGENDA_URGENT, votes_timer } },
	{ 0 },
};

static const struct part_slot slots[] = {
	{ SLOT_VOTE, { .outcome = votes_outcome } },
	{ 0 },
};

const struct core_part quorum_part = {
	.id = PART_QUORUM,
	.init = quorum_init,
	.fini = quorum_fini,
	.timers = timers,
	.slots = slots,
	.electorate = &electorate,
	.way = &way_votes,
	.check = quorum_check,
};
