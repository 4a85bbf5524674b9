/*
 * Log lines about guards.  A cluster has 256 of them, which mostly change
 * together: one line reports all that did so within a moment.
 *
 * There is a note for each state, which collects the guards that have entered
 * it.  With one server no note waits for others, and the line is logged at
 * once.
 */
#include "config.h"

#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "core/kernel/guard/parts.h"
#include "core/kernel/turn/emit.h"

#define NOTE_MS 250 /* many guards: how long a line waits for others */
#define DAY_MS (INT64_C(24) * 60 * 60 * 1000)
#define SPOILT_MS (INT64_C(60) * 1000) /* one line in this, of odd fences */

static const enum notice_id notices[GUARD_MAX] = {
	[GUARD_UNKNOWN] = NOTICE_GUARD_REFUSES,
	[GUARD_BLESSED] = NOTICE_GUARD_READY,
	[GUARD_PENDING] = NOTICE_GUARD_PENDING,
	[GUARD_READONLY] = NOTICE_GUARD_REFUSES,
	[GUARD_CONFIG] = NOTICE_GUARD_REFUSES,
	[GUARD_NODES] = NOTICE_GUARD_REFUSES,
	[GUARD_CLOCK] = NOTICE_GUARD_REFUSES,
	[GUARD_REFUSED] = NOTICE_GUARD_REFUSES,
};

/* A line about one guard says which, so that the driver can write its address;
 * a line about several says how many of all. */
static void
tell_note(struct core *core, struct guard_note *note, enum guard_state state)
{
	emit_notice(core, notices[state]);
	if (note->n == 1) {
		emit_num(core, FIELD_SHARD, note->shard);
	} else {
		emit_num(core, FIELD_COUNT, note->n);
		emit_num(core, FIELD_OF, core->config.shards);
	}
	if (note->cause != NULL)
		emit_text(core, FIELD_CAUSE, note->cause);
	if (state == GUARD_PENDING)
		emit_num(core, FIELD_WAIT, (uint64_t)note->wait_ms);
	if (note->down_ms > 0)
		emit_num(core,
		    state == GUARD_BLESSED ? FIELD_AFTER : FIELD_DOWN,
		    (uint64_t)note->down_ms);
	emit_text(core, FIELD_TEXT, note->text);
	note->n = 0;
}

/* Called when a guard changes, and by the timer of any guard: a note may wait a
 * little longer than NOTE_MS, until the next heartbeat. */
void
journal_tell(struct core *core)
{
	struct guard_note *note;
	int i;

	for (i = 0; i < GUARD_MAX; i++) {
		note = &core->guard_notes->v[i];
		if (note->n == 0 ||
		    (core->config.shards > 1 &&
			core->now_ms - note->since_ms < NOTE_MS))
			continue;
		tell_note(core, note, (enum guard_state)i);
	}
}

/* Writes what the line says of the guard.  One server of a quorum says little
 * about when new locks can be granted, so its line speaks of votes. */
static void
describe(
    const struct core *core, const struct guard *g, struct guard_note *note)
{
	uint32_t shard = guard_index(core, g);
	char left[HUMAN_SIZE];

	switch (g->state) {
	case GUARD_BLESSED:
		snprintf(
		    note->text, sizeof(note->text), "new locks are granted");
		return;
	case GUARD_PENDING:
		note->cause = guard_cause_word(g->cause);
		note->wait_ms = guard_bless_ms(core, g) - core->now_ms;
		if (note->wait_ms < 0)
			note->wait_ms = 0;
		if (note->wait_ms == 0)
			snprintf(note->text, sizeof(note->text),
			    "%s; new locks in a moment",
			    guard_cause_text(g->cause));
		else
			snprintf(note->text, sizeof(note->text),
			    "%s for %s: %s; locks that are held are kept",
			    core->config.quorum ? "no vote for new locks"
						: "no new locks",
			    human_ms(left, note->wait_ms),
			    guard_cause_text(g->cause));
		return;
	case GUARD_CONFIG:
		note->cause = "settings";
		break;
	case GUARD_READONLY:
		note->cause = "replica";
		break;
	case GUARD_CLOCK:
		note->cause = "clock";
		break;
	case GUARD_REFUSED:
		note->cause = "refused";
		break;
	default:
		note->cause = "unknown";
	}
	guard_why_one(core, shard, note->text, sizeof(note->text));
}

/* If several guards share a note, it has the cause and the words of the latest:
 * mostly the same has happened to all of them. */
void
journal_note(struct core *core, const struct guard *g)
{
	struct guard_note *note = &core->guard_notes->v[g->state];

	if (note->n++ == 0) {
		note->shard = guard_index(core, g);
		note->since_ms = core->now_ms;
	}
	note->cause = NULL;
	note->down_ms = core->now_ms - g->unready_ms;
	if (g->unready_ms == 0)
		note->down_ms = 0;
	describe(core, g, note);
	journal_tell(core);
}

static void
tell_fence(struct core *core, const struct guard *g, enum notice_id id)
{
	emit_notice(core, id);
	emit_num(core, FIELD_SHARD, guard_index(core, g));
}

/*
 * Fences are the server's clock in microseconds, or a little more.  One that is
 * far ahead of that is believed, but if the server loses all its data, fences
 * begin again at the clock.
 */
void
journal_fence(
    struct core *core, struct guard *g, const struct guard_report *report)
{
	bool ahead =
	    report->server_ms != 0 &&
	    report->fence / 1000 > (uint64_t)(report->server_ms + DAY_MS);

	if (ahead && !g->fence_ahead) {
		tell_fence(core, g, NOTICE_FENCE_AHEAD);
		emit_num(core, FIELD_FENCE, report->fence);
		emit_text(core, FIELD_TEXT,
		    "fences are more than a day ahead of the clock of Redis; "
		    "they continue from there");
	}
	if (report->server_ms != 0)
		g->fence_ahead = ahead;
	if (report->spoilt_len == 0 ||
	    (g->spoilt_ms != 0 && core->now_ms - g->spoilt_ms < SPOILT_MS))
		return;
	g->spoilt_ms = core->now_ms;
	tell_fence(core, g, NOTICE_FENCE_REFUSED);
	emit_fmt(core, FIELD_TEXT,
	    "a key has a fence that no broker can have issued: %.*s",
	    (int)report->spoilt_len, report->spoilt);
}
