/*
 * What is said of guards: why a server does not grant, in plain words with what
 * to do, to clients and in the log.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/human.h"
#include "core/emit.h"
#include "core/guard.h"
#include "core/quorum.h"

#define NOTE_MS 250 /* of many guards, one line in so long */

/* How many are there, how many grant; and when the last of them does. */
static int64_t
why_no_quorum(const struct core *core, char *why, size_t size)
{
	unsigned ready = quorum_count(core, true), pending = 0;
	int64_t left_ms = 0, most_ms = 0;
	char left[HUMAN_SIZE];
	int n;
	uint32_t i;

	why[0] = '\0';
	if (ready >= quorum_majority(core))
		return 0;
	if (core->voters_why[0] != '\0') {
		snprintf(why, size, "%s", core->voters_why);
		return GUARD_FOR_GOOD;
	}
	for (i = 0; i < core->config.shards; i++) {
		if (core->guards[i].state != GUARD_PENDING)
			continue;
		pending += core->guards[i].up;
		left_ms = guard_bless_ms(core, &core->guards[i]) - core->now_ms;
		most_ms = left_ms > most_ms ? left_ms : most_ms;
	}
	n = snprintf(why, size,
	    "%u of %u Redis servers can be reached and %u may vote; %u must",
	    quorum_count(core, false), core->config.shards, ready,
	    quorum_majority(core));
	if (ready + pending >= quorum_majority(core) && (size_t)n < size)
		(void)snprintf(why + n, size - (size_t)n,
		    "; no new locks for %s at most: some are new, or have lost"
		    " data",
		    human_ms(left, most_ms));
	return most_ms;
}

static const struct {
	const char *word;
	const char *text;
} causes[CAUSE_MAX] = {
#define CAUSE(id, word, text) [CAUSE_##id] = { word, text },
	GUARD_CAUSES(CAUSE)
#undef CAUSE
};

/* One server, also of a quorum. */
static int64_t
why_one(const struct core *core, uint32_t shard, char *why, size_t size)
{
	const struct guard *g = &core->guards[shard];
	char left[HUMAN_SIZE];
	int64_t left_ms;

	if (!g->up) {
		snprintf(why, size, "Redis can't be used%s%s",
		    g->down[0] != '\0' ? ": " : "", g->down);
		return 0;
	}
	switch (g->state) {
	case GUARD_BLESSED:
		why[0] = '\0';
		return 0;
	case GUARD_PENDING:
		left_ms = guard_bless_ms(core, g) - core->now_ms;
		left_ms = left_ms > 0 ? left_ms : 0;
		snprintf(why, size,
		    "no new locks for %s: %s; locks that are held are kept",
		    human_ms(left, left_ms), causes[g->cause].text);
		return left_ms;
	case GUARD_READONLY:
		snprintf(why, size,
		    "that Redis server is a replica; redis.nodes must"
		    " name the master, or its Sentinels");
		return GUARD_FOR_GOOD;
	case GUARD_CONFIG:
		snprintf(why, size,
		    "the brokers on that Redis use other settings (%s) than"
		    " this one (lease=%" PRId64 ",replicas=%u); make them"
		    " equal on all",
		    g->text, core->config.lease_ms, core->config.replicas);
		return GUARD_FOR_GOOD;
	case GUARD_CLOCK:
		snprintf(why, size,
		    "the clock of the Redis server is beyond the year 2255");
		return GUARD_FOR_GOOD;
	default:
		snprintf(why, size, "Redis has not answered yet");
		return 0;
	}
}

int64_t
guard_why(const struct core *core, uint32_t shard, char *why, size_t size)
{
	if (quorum_used(core))
		return why_no_quorum(core, why, size);
	return why_one(core, shard, why, size);
}

/* Lines. */

static const enum notice_id notices[GUARD_MAX] = {
	[GUARD_UNKNOWN] = NOTICE_GUARD_REFUSES,
	[GUARD_BLESSED] = NOTICE_GUARD_READY,
	[GUARD_PENDING] = NOTICE_GUARD_PENDING,
	[GUARD_READONLY] = NOTICE_GUARD_REFUSES,
	[GUARD_CONFIG] = NOTICE_GUARD_REFUSES,
	[GUARD_NODES] = NOTICE_GUARD_REFUSES,
	[GUARD_CLOCK] = NOTICE_GUARD_REFUSES,
};

static void
emit_text(struct core *core, enum field_id id, const char *text)
{
	emit_str(core, id, text, strlen(text));
}

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

void
guard_tell_notes(struct core *core)
{
	struct guard_note *note;
	int i;

	for (i = 0; i < GUARD_MAX; i++) {
		note = &core->notes[i];
		if (note->n == 0 ||
		    (core->config.shards > 1 &&
			core->now_ms - note->since_ms < NOTE_MS))
			continue;
		tell_note(core, note, (enum guard_state)i);
	}
}

/* Of a quorum one server says little about when new locks can be granted. */
static void
describe(
    const struct core *core, const struct guard *g, struct guard_note *note)
{
	uint32_t shard = (uint32_t)(g - core->guards);
	char left[HUMAN_SIZE];

	switch (g->state) {
	case GUARD_BLESSED:
		(void)snprintf(
		    note->text, sizeof(note->text), "new locks are granted");
		return;
	case GUARD_PENDING:
		note->cause = causes[g->cause].word;
		note->wait_ms = guard_bless_ms(core, g) - core->now_ms;
		if (note->wait_ms < 0)
			note->wait_ms = 0;
		if (note->wait_ms == 0)
			(void)snprintf(note->text, sizeof(note->text),
			    "%s; new locks in a moment", causes[g->cause].text);
		else
			(void)snprintf(note->text, sizeof(note->text),
			    "%s for %s: %s; locks that are held are kept",
			    quorum_used(core) ? "no vote for new locks"
					      : "no new locks",
			    human_ms(left, note->wait_ms),
			    causes[g->cause].text);
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
	default:
		note->cause = "unknown";
	}
	why_one(core, shard, note->text, sizeof(note->text));
}

void
guard_note(struct core *core, const struct guard *g)
{
	struct guard_note *note = &core->notes[g->state];

	if (note->n++ == 0) {
		note->shard = (uint32_t)(g - core->guards);
		note->since_ms = core->now_ms;
	}
	note->cause = NULL;
	note->down_ms = core->now_ms - g->unready_ms;
	if (g->unready_ms == 0)
		note->down_ms = 0;
	describe(core, g, note);
	guard_tell_notes(core);
}
