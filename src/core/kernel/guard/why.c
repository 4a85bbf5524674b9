/*
 * Why a server does not grant, in plain words with what to do: for clients, and
 * for the log.
 *
 * The times that the functions return decide whether a request that does not
 * wait is worth a try (lock/queue.c): GUARD_FOR_GOOD means that only an
 * operator can change anything, and 0 that the time is unknown.
 */
#include "config.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/human.h"
#include "base/parse.h"
#include "core/kernel/guard/electorate.h"
#include "core/kernel/guard/parts.h"

/* Room for the settings that all brokers must share, in words. */
#define SETTINGS_SIZE 96

static const struct {
	const char *word;
	const char *text;
} causes[CAUSE_MAX] = {
#define CAUSE(id, word, text) [CAUSE_##id] = { word, text },
	GUARD_CAUSES(CAUSE)
#undef CAUSE
};

const char *
guard_cause_word(enum guard_cause cause)
{
	return causes[cause].word;
}

const char *
guard_cause_text(enum guard_cause cause)
{
	return causes[cause].text;
}

/* What the guard compares, in words. */
static void
write_settings(char text[SETTINGS_SIZE], int64_t lease_ms, unsigned replicas)
{
	char lease[DURATION_SIZE];

	parse_duration_text(lease, lease_ms);
	snprintf(text, SETTINGS_SIZE, "locks.lease %s, redis.replicas %u",
	    lease, replicas);
}

/* Returns the settings of others in words; later brokers may know more. */
static const char *
settings_text(char text[SETTINGS_SIZE], const char *theirs)
{
	unsigned replicas;
	int64_t lease_ms;
	int end = 0;

	if (sscanf(theirs, "v1,lease=%" SCNd64 ",replicas=%u%n", &lease_ms,
		&replicas, &end) != 2 ||
	    theirs[end] != '\0')
		return theirs;
	write_settings(text, lease_ms, replicas);
	return text;
}

/* A server that cannot be reached may be back at any moment: 0. */
int64_t
guard_why_one(const struct core *core, uint32_t shard, char *why, size_t size)
{
	const struct guard *g = &core->guards[shard];
	char left[HUMAN_SIZE], ours[SETTINGS_SIZE], theirs[SETTINGS_SIZE];
	int64_t left_ms;

	if (!g->up) {
		snprintf(why, size, "Redis cannot be used%s%s",
		    g->down[0] != '\0' ? ": " : "", g->down);
		return 0;
	}
	if (guard_said(g)) {
		why[0] = '\0';
		return 0;
	}
	if (refused_counts(g)) {
		snprintf(why, size, "%s", g->refusal);
		return GUARD_FOR_GOOD;
	}
	switch (g->state) {
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
		write_settings(
		    ours, core->config.lease_ms, core->config.replicas);
		snprintf(why, size,
		    "the brokers on that Redis use other settings (%s) than"
		    " this one (%s); make them equal on all",
		    settings_text(theirs, g->text), ours);
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
	return core->electorate->why(core, shard, why, size);
}

const char *
guard_excuse(const struct core *core, uint32_t shard, const struct outcome *o,
    char why[GUARD_WHY_SIZE])
{
	if (o != NULL && o->alone && o->status != OUTCOME_REFUSED &&
	    o->status != OUTCOME_PENDING)
		return "too few replicas of Redis confirmed it; try again, or "
		       "check STATUS";
	if (o != NULL && o->text_len > 0) {
		snprintf(
		    why, GUARD_WHY_SIZE, "%.*s", (int)o->text_len, o->text);
		return why;
	}
	guard_why(core, shard, why, GUARD_WHY_SIZE);
	return why[0] != '\0' ? why : "Redis did not answer in time; try again";
}
