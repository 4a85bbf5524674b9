/*
 * Log lines that many names may cause at once: the first ones by name, then how
 * many more there were.
 */
#ifndef LOCKBROKER_CORE_TURN_TALLY_H
#define LOCKBROKER_CORE_TURN_TALLY_H

#include "core/turn/turn.h"

/* Each kind of line is counted by itself. */
enum tally_kind {
	TALLY_AT_RISK,
	TALLY_SAFE,
	TALLY_LOST,
	TALLY_BOUND, /* lost by its own hold= */
	TALLY_MAX
};

void tally_init(struct core *core);
void tally_fini(struct core *core);

/* Is this one to be named, or only counted? */
bool tally_names(struct core *core, enum tally_kind kind);

/* End of a step: tells how many more there were, now and then. */
void tally_run(struct core *core);

#endif
