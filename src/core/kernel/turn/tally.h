/*
 * Log lines that many names may cause at once: the first names have a line
 * each, then one line says how many more there were.
 */
#ifndef LOCKBROKER_CORE_KERNEL_TURN_TALLY_H
#define LOCKBROKER_CORE_KERNEL_TURN_TALLY_H

#include "core/kernel/turn/turn.h"

/* Each kind of line is counted by itself. */
enum tally_kind {
	TALLY_AT_RISK,
	TALLY_SAFE,
	TALLY_LOST,
	TALLY_BOUND,	/* lost by its own hold= */
	TALLY_GIVEN_UP, /* released while it was at risk */
	TALLY_STOPPED,	/* ended by the stop of the broker */
	TALLY_MAX
};

struct tally {
	int64_t last_ms, told_ms;
	uint32_t named; /* in this spell, by name */
	uint64_t more;	/* not logged yet */
};

struct tallies {
	struct tally v[TALLY_MAX];
	bool more; /* of any of them */
};

/* Counts one.  Returns true if it is to have a line of its own. */
bool tally_names(struct core *core, enum tally_kind kind);

/* At the end of a step: logs now and then how many more there were. */
void tally_tell(struct core *core);

static inline void
tally_run(struct core *core)
{
	if (core->tallies->more)
		tally_tell(core);
}

#endif
