/*
 * What is known of the clocks of servers: of each the time that its latest call
 * has told, and between which two moments of our own clock that was.  Nothing
 * here moves a lease; gain.c does that.
 */
#include "config.h"

#include <string.h>

#include "core/guard/clock.h"
#include "core/guard/quorum.h"

#define SLACK_MS 2 /* clocks are read in whole milliseconds */

/*
 * When was it, by our clock, that the server showed this time?  The latest call
 * cannot have run before it was sent, nor after it was answered, so the time
 * that it told bounds the answer on both sides.  Both clocks are trusted for as
 * long as the guard trusts the server's: one stall.
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
	return true;
}

int64_t
guard_when_ms(const struct core *core, uint32_t shard, const char *history,
    int64_t server_ms)
{
	int64_t from_ms, to_ms;

	if (!when(core, &core->guards[shard], history, server_ms, 0, &from_ms,
		&to_ms))
		return -1;
	return from_ms < core->now_ms ? from_ms : core->now_ms;
}

/*
 * The history says which server of the quorum it is.  A message is not
 * to be ignored because two clocks differ in speed by a hundredth.
 */
int64_t
guard_by_when_ms(const struct core *core, uint32_t shard, const char *history,
    int64_t server_ms)
{
	const struct guard *g;
	int64_t from_ms, to_ms;
	uint32_t i, first = quorum_first(core, shard);

	for (i = first; i < first + core->span; i++) {
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
