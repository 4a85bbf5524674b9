/*
 * What the files of the checker share with each other and with nobody else.
 */
#ifndef LOCKBROKER_SIM_CHECKER_STATE_H
#define LOCKBROKER_SIM_CHECKER_STATE_H

#include "checker.h"

static inline const char *
checker_name(int name)
{
	static const char *const names[] = { "n0", "n1", "n2", "n3" };

	return name < 0 ? NULL : names[name];
}

/* The grant of a session that is there; NULL: none. */
struct grant *checker_grant(struct world *w, uint64_t session, int name);
void checker_drop(struct world *w, struct grant *g);

/* Is anybody else kept away from the name by it, now? */
bool checker_vouched(struct world *w, const struct grant *g);

/* Notes which names are free and wanted, after each change. */
void checker_hunger(struct world *w);

#endif
