/*
 * A server's clock that gains on ours ends leases sooner than we think.  Either
 * it was put forward, perhaps twice, by less than its guard notices; or ours
 * stood still, with the virtual machine that this broker runs in.
 *
 * A call is carried out after it was sent and before it was answered, so each
 * reply says how far ahead the server's clock is, at the least and at the most.
 * If the least by this reply is more than the most by one of the last lease,
 * the difference was gained for certain, however late replies are.
 *
 * Leases that were confirmed before run out sooner by that much, so the broker
 * confirms them at once.  A pending server grants nothing, and its new epoch
 * has everything written again anyway.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/times.h"
#include "core/guard/gain.h"
#include "core/guard/quorum.h"
#include "core/session/owner.h"
#include "core/turn/emit.h"

#define SLACK_MS 2 /* clocks are read in whole milliseconds */

/* Keeps the least of this period and of the one before: one or two leases. */
static void
note_ahead(const struct core *core, struct guard *g, int64_t ahead_ms)
{
	if (core->now_ms - g->ahead_since_ms >= core->config.lease_ms) {
		g->was_ahead_ms = g->ahead_ms;
		g->ahead_ms = ahead_ms;
		g->ahead_since_ms = core->now_ms;
	}
	g->ahead_ms = min_ms(g->ahead_ms, ahead_ms);
}

static void
begin(const struct core *core, struct guard *g, int64_t ahead_ms)
{
	g->ahead_since_ms = core->now_ms;
	g->ahead_ms = g->was_ahead_ms = ahead_ms;
}

static bool
recent(const struct core *core, const struct gain *gain)
{
	return gain->by_ms > 0 &&
	       core->now_ms - gain->at_ms < core->config.lease_ms;
}

static void
add(const struct core *core, struct gain *gain, int64_t by_ms)
{
	gain->by_ms = by_ms + (recent(core, gain) ? gain->by_ms : 0);
	gain->at_ms = core->now_ms;
}

/*
 * A lease runs out when it has run out at so many servers of its quorum that
 * the others are no majority; clocks of fewer don't matter.  Returns by what
 * leases count.
 */
static int64_t
find_common(struct core *core, uint32_t shard)
{
	unsigned n, needed = core->span + 1 - quorum_majority(core);
	uint32_t i, k, first = quorum_first(core, shard);
	struct gain *common = &core->guards[first].gain;
	const struct guard *g;

	for (i = first; i < first + core->span; i++) {
		g = &core->guards[i];
		if (!recent(core, &g->own_gain))
			continue;
		for (n = 0, k = first; k < first + core->span; k++)
			n +=
			    recent(core, &core->guards[k].own_gain) &&
			    core->guards[k].own_gain.by_ms >= g->own_gain.by_ms;
		if (n < needed || (common->at_ms == core->now_ms &&
				      common->by_ms >= g->own_gain.by_ms))
			continue;
		*common = g->own_gain;
		common->at_ms = core->now_ms;
	}
	return common->by_ms;
}

static void
tell(struct core *core, const struct guard *g, int64_t by_ms)
{
	emit_notice(core, NOTICE_CLOCK_GAINED);
	emit_num(core, FIELD_SHARD, guard_index(core, g));
	emit_fmt(core, FIELD_TEXT,
	    "the clock of the Redis server gained %" PRId64
	    " ms on this broker's; what is held is confirmed anew",
	    by_ms);
}

bool
gain_note(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report)
{
	int64_t by_ms, much_ms, quarter_ms = core->pad_ms / 4;

	if (report->server_ms == 0 || report->history_len != HISTORY_BYTES)
		return false;
	if (g->ahead_since_ms == 0 || report->state != GUARD_BLESSED ||
	    memcmp(g->history, report->history, HISTORY_BYTES) != 0) {
		begin(core, g, report->server_ms - sent_ms);
		return false;
	}
	note_ahead(core, g, report->server_ms - sent_ms);
	by_ms = report->server_ms - core->now_ms - SLACK_MS -
		min_ms(g->ahead_ms, g->was_ahead_ms);
	/* In two leases, clocks of the right speed may drift by so much. */
	much_ms = quarter_ms + min_ms(core->config.lease_ms / 50, quarter_ms);
	if (by_ms <= much_ms)
		return false;
	g->ahead_ms += by_ms;
	g->was_ahead_ms += by_ms;
	g->distrust_ms = core->now_ms + core->config.lease_ms;
	g->epoch++;
	add(core, &g->own_gain, by_ms);
	core->owners->gained_ms += find_common(core, guard_index(core, g));
	tell(core, g, by_ms);
	return true;
}
