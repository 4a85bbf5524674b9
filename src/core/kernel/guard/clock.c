/*
 * What is known of the servers' clocks: for each, the time that its latest call
 * reported, and the two moments of our own clock between which that was.
 * Nothing here moves a lease but the gain of a clock (skew.h), further down.
 */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "base/times.h"
#include "core/kernel/guard/clock.h"
#include "core/kernel/guard/electorate.h"
#include "core/kernel/guard/parts.h"
#include "core/kernel/guard/skew.h"
#include "core/kernel/session/owner.h"
#include "core/kernel/turn/emit.h"

#define SLACK_MS 2 /* clocks are read in whole milliseconds */

/*
 * When was it, by our clock, that the server showed this time?  The latest call
 * cannot have run before it was sent, nor after it was answered, so the time
 * that it reported bounds the answer on both sides.  Both clocks are trusted
 * for as long as the guard trusts the server's: one stall.
 */
static bool
when(const struct core *core, const struct guard *g, const char *history,
    int64_t server_ms, int64_t drift_ms, int64_t *from_ms, int64_t *to_ms)
{
	int64_t since_ms = server_ms - g->server_ms;
	int64_t slack_ms = SLACK_MS + drift_ms;

	if (g->server_ms == 0 ||
	    memcmp(g->history, history, HISTORY_BYTES) != 0 ||
	    core->now_ms - g->clock_ms > core->stall_ms ||
	    core->now_ms < g->distrust_ms ||
	    g->clock_ms + since_ms > core->now_ms + slack_ms)
		return false; /* the last condition: its clock was moved */
	*from_ms = g->clock_ms + since_ms;
	*to_ms = g->heard_ms + since_ms + slack_ms;
	assert(*from_ms <= *to_ms);
	return true;
}

int64_t
clock_earliest_ms(const struct core *core, uint32_t shard, const char *history,
    int64_t server_ms)
{
	int64_t from_ms, to_ms;

	if (!when(core, &core->guards[shard], history, server_ms, 0, &from_ms,
		&to_ms))
		return -1;
	return from_ms < core->now_ms ? from_ms : core->now_ms;
}

/*
 * The history says which server it is.  A message is not
 * to be ignored because two clocks differ in speed by a hundredth.
 */
int64_t
clock_latest_ms(const struct core *core, uint32_t shard, const char *history,
    int64_t server_ms)
{
	const struct guard *g;
	int64_t from_ms, to_ms;
	uint32_t i, first = guard_first(core, shard);

	for (i = first; i < guard_end(core, first); i++) {
		g = &core->guards[i];
		if (when(core, g, history, server_ms,
			(core->now_ms - g->clock_ms) / 100, &from_ms, &to_ms))
			return to_ms < core->now_ms ? to_ms : core->now_ms;
	}
	return -1;
}

/* The call ran when it was sent, at the earliest: so the server's clock shows
 * no more than this. */
int64_t
guard_server_ms(const struct core *core, uint32_t shard, int64_t at_ms)
{
	const struct guard *g = &core->guards[shard];

	assert(shard < core->config.shards);
	return g->server_ms == 0 ? 0 : g->server_ms + (at_ms - g->clock_ms);
}

/*
 * A message that was sent before the clock was put back looks younger by as
 * much.  So for one lease the broker trusts no age of a message.
 */
void
clock_note(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report)
{
	int64_t back_ms;

	assert(sent_ms <= core->now_ms);
	if (report->server_ms == 0 || sent_ms < g->clock_ms ||
	    report->history_len != HISTORY_BYTES)
		return;
	back_ms = (sent_ms - g->clock_ms) - (report->server_ms - g->server_ms);
	if (g->server_ms != 0 && back_ms > core->pad_ms / 4)
		g->distrust_ms = core->now_ms + core->config.lease_ms;
	g->clock_ms = sent_ms;
	g->heard_ms = core->now_ms;
	g->server_ms = report->server_ms;
	memcpy(g->history, report->history, HISTORY_BYTES);
}

/*
 * Gains: a server's clock that gains on ours ends leases sooner than we think.
 * Either it was put forward, perhaps twice, by less than its guard notices; or ours
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
begin_ahead(const struct core *core, struct guard *g, int64_t ahead_ms)
{
	g->ahead_since_ms = core->now_ms;
	g->ahead_ms = g->was_ahead_ms = ahead_ms;
}

bool
skew_recent(const struct core *core, const struct skew *skew)
{
	return skew->by_ms > 0 &&
	       core->now_ms - skew->at_ms < core->config.lease_ms;
}

void
skew_add(const struct core *core, struct skew *skew, int64_t by_ms)
{
	assert(by_ms > 0);
	skew->by_ms = by_ms + (skew_recent(core, skew) ? skew->by_ms : 0);
	skew->at_ms = core->now_ms;
}

static void
tell_gained(struct core *core, const struct guard *g, int64_t by_ms)
{
	emit_notice(core, NOTICE_CLOCK_GAINED);
	emit_num(core, FIELD_SHARD, guard_index(core, g));
	emit_fmt(core, FIELD_TEXT,
	    "the clock of the Redis server gained %" PRId64
	    " ms on this broker's; the broker confirms its leases anew",
	    by_ms);
}

bool
skew_note(struct core *core, struct guard *g, int64_t sent_ms,
    const struct guard_report *report)
{
	int64_t by_ms, much_ms, quarter_ms = core->pad_ms / 4;

	if (report->server_ms == 0 || report->history_len != HISTORY_BYTES)
		return false;
	if (g->ahead_since_ms == 0 || report->state != GUARD_BLESSED ||
	    memcmp(g->history, report->history, HISTORY_BYTES) != 0) {
		begin_ahead(core, g, report->server_ms - sent_ms);
		return false;
	}
	note_ahead(core, g, report->server_ms - sent_ms);
	by_ms = report->server_ms - core->now_ms - SLACK_MS -
		min_ms(g->ahead_ms, g->was_ahead_ms);
	/* In two leases, clocks of the right speed may drift by this much. */
	much_ms = quarter_ms + min_ms(core->config.lease_ms / 50, quarter_ms);
	if (by_ms <= much_ms)
		return false;
	g->ahead_ms += by_ms;
	g->was_ahead_ms += by_ms;
	g->distrust_ms = core->now_ms + core->config.lease_ms;
	guard_next_epoch(core, g);
	core->owners->gained_ms += core->electorate->gained(core, g, by_ms);
	tell_gained(core, g, by_ms);
	return true;
}
